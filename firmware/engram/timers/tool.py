"""Timers as the model sets them, by the tool `timer`, and as a person plainly asks for them."""

from engram import text
from engram.clock import day_number
from engram.compat import const
from engram.errors import ArgumentError, EngramError
from engram.timers import rules, schedule, when
from engram.timers.wanted import Wanted, wanted

_NAMES = const(" monday tuesday wednesday thursday friday saturday sunday ")
_IN_A_TURN = const("a timer's own turn sets no timers: tell the person, who can.")


def run(find_timers, check_tool, caller, arguments: dict) -> dict:
    """The result of a call of the tool."""
    timers = find_timers()
    action = arguments["action"]
    if action == "list":
        return {"timers": [_shown(fields, timers.clock) for fields in timers.owned_by(caller)]}
    if timers.is_in_turn:
        raise ArgumentError("action", _IN_A_TURN)
    if action == "remove":
        if "id" not in arguments:
            raise ArgumentError("id", "is missing; action list shows the ids.")
        gone = timers.remove(caller, arguments["id"])
        return {"removed": gone["id"], "text": gone["what"]}
    return _shown(timers.add(caller, _wanted(arguments, timers.clock, caller, check_tool)), timers.clock)


def _wanted(arguments: dict, clock, caller, check_tool) -> Wanted:
    kind, what = arguments.get("kind", "say"), arguments.get("text", "")
    given = [name for name in ("at", "time", "in_minutes", "every_minutes") if name in arguments]
    if len(given) != 1:
        raise ArgumentError("at", "give one of at, time, in_minutes and every_minutes.")
    tool, values = arguments.get("tool", ""), arguments.get("arguments", "{}")
    if (kind == "tool") != bool(tool):
        raise ArgumentError("tool", "goes with kind tool, and kind tool needs it.")
    if tool:
        check_tool(tool, values, caller, False)
        what = "%s %s" % (tool, values)
    found = _timed(arguments, given[0], kind, what, clock)
    return Wanted(kind, what, tool, values, False, *found[5:]) if tool else found


def _timed(arguments: dict, name: str, kind: str, what: str, clock) -> Wanted:
    value = arguments[name]
    if name == "in_minutes":
        return wanted(kind, what, after=60 * value)
    if name == "every_minutes":
        return wanted(kind, what, every=value)
    if name == "time":
        return wanted(kind, what, minute=_minute(name, value), days=_days(arguments.get("days", "daily")))
    day, _, minute = value.strip().replace("T", " ").partition(" ")
    try:
        number = day_number(day)
    except ValueError:
        raise ArgumentError("at", "must be a local day and time such as 2026-01-31 08:00.") from None
    return wanted(kind, what, at=clock.moment(number, _minute("at", minute)))


def _minute(name: str, value: str) -> int:
    hour, _, minutes = value.strip().partition(":")
    digits = text.encode(hour + minutes)
    if digits.isdigit() and len(digits) in (3, 4) and len(minutes) == 2 and int(hour) < 24 and int(minutes) < 60:
        return 60 * int(hour) + int(minutes)
    raise ArgumentError(name, "must have a time of the day such as 07:30.")


def _days(said: str) -> int:
    known = {"daily": schedule.EVERY_DAY, "weekdays": schedule.WEEKDAYS, "weekends": schedule.WEEKEND}
    said = said.strip().lower()
    if said in known:
        return known[said]
    days = 0
    for name in said.replace(",", " ").split():
        at = _NAMES.find(" " + name[:3])
        if len(name) < 3 or at < 0 or not _NAMES[at + 1 :].startswith(name):
            raise ArgumentError("days", "must be daily, weekdays, weekends, or names of days.")
        days |= 1 << _NAMES[:at].count(" ")
    if not days:
        raise ArgumentError("days", "must name a day.")
    return days


def _shown(fields: dict, clock) -> dict:
    shown = {name: fields[name] for name in ("id", "kind")}
    shown.update({"text": fields["what"], "when": schedule.describe(fields, clock)})
    return shown


# --- what a person plainly asks for


def add_by_rule(find_timers, said: str, caller) -> str:
    """Keep the timer that a message plainly asks for; a sentence on it, "" if it asks for none."""
    asked = rules.find(said)
    return keep(find_timers(), asked, caller) if asked else ""


def keep(timers, asked, caller) -> str:
    """Keep what a TimerRequest asks for; a sentence on it. EngramError if its time is not understood, has passed or is none."""
    if not asked.time:
        raise EngramError("I did not understand that time. Write 07:50, or: in 20 min.")
    fields = timers.add(caller, when.resolve(asked.kind, asked.what, asked.time, timers.clock))
    return describe(fields, timers.clock)


def describe(fields: dict, clock) -> str:
    """The sentence about a timer, with its day and time in full."""
    return described(fields["id"], fields["kind"], schedule.describe(fields, clock), fields["what"])


def described(ref: str, kind: str, time: str, what: str) -> str:
    """As describe(), of its parts."""
    does = {"say": "I remind you: ", "ask": "I answer: ", "tool": "I call "}[kind]
    return "%s: %s %s%s" % (ref, time, does, what)
