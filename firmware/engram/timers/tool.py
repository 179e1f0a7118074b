"""Timers as the model sets them, by the tool `timer`, and as people do with /timers add."""

from collections import namedtuple

from engram import text
from engram.errors import ArgumentError
from engram.text.times import read_time, split_time
from engram.timers import schedule

_NAME = "timer"
_IN_A_TURN = "a timer's own turn sets no timers: tell the person, who can."
_DOES = {"say": "I remind you: ", "ask": "I answer: ", "tool": "I call "}

TimerSpec = namedtuple("TimerSpec", "kind what tool arguments yes time")
"""kind "say", "ask" or "tool"; the text; the tool's name, its arguments as JSON and whether the
person said yes to it; a Span, Moment or Repeat of engram.text.times."""


def run(find_timers, toolbox, caller, arguments: dict) -> dict:
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
    return _shown(timers.add(caller, _spec(arguments, timers.clock, caller, toolbox)), timers.clock)


def _spec(arguments: dict, clock, caller, toolbox) -> TimerSpec:
    kind, what = arguments.get("kind", "say"), arguments.get("text", "")
    if "time" not in arguments:
        raise ArgumentError("time", "is missing; it must be a text such as 07:30 daily.")
    tool, values = arguments.get("tool", ""), arguments.get("arguments", "{}")
    if (kind == "tool") != bool(tool):
        raise ArgumentError("tool", "goes with kind tool, and kind tool needs it.")
    if tool:
        check_call(toolbox, tool, values, caller, False)
        what = "%s %s" % (tool, values)
    return TimerSpec(kind, what, tool, values, False, read_time(arguments["time"], clock))


def _shown(fields: dict, clock) -> dict:
    shown = {name: fields[name] for name in ("id", "kind")}
    shown.update({"text": fields["what"], "when": schedule.describe(fields, clock)})
    return shown


def check_call(toolbox, name: str, arguments: str, caller, is_confirmed: bool) -> None:
    """ArgumentError if a timer of this caller may not call a tool with these arguments."""
    if name == _NAME:
        raise ArgumentError("tool", "a timer sets no timers.")
    try:
        values = text.loads(arguments)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise ArgumentError("arguments", 'must be a JSON object such as {"value": 1}.')
    toolbox.check(name, values, caller, is_confirmed)


# --- /timers add


def add(timers, toolbox, caller, typed: str) -> str:
    """Keep the timer that was typed behind /timers add: a time, and what is to be done then; a sentence on it."""
    time, what = split_time(typed, timers.clock)
    kind, _, rest = what.partition(" ")
    rest = rest.strip()
    if not rest or kind not in ("ask", "pin", "tool"):
        kind, rest = "say", what
    spec = TimerSpec(kind, rest, "", "", False, time)
    if kind in ("pin", "tool"):
        tool, arguments = _call(kind, rest)
        check_call(toolbox, tool, arguments, caller, True)
        spec = TimerSpec("tool", "%s %s" % (tool, arguments), tool, arguments, True, time)
    fields = timers.add(caller, spec)
    return describe(fields["id"], fields["kind"], schedule.describe(fields, timers.clock), fields["what"])


def _call(kind: str, rest: str) -> tuple:
    """(name, arguments as JSON) of the tool in 'tool NAME {"a":1}' or "pin lamp off"."""
    name, _, value = rest.partition(" ")
    value = value.strip()
    if kind == "tool":
        return name, value or "{}"
    number = int(value) if text.encode(value).isdigit() and len(value) < 6 else value
    return "pin_set", text.dumps({"pin": name, "value": number})


def describe(ref: str, kind: str, time: str, what: str) -> str:
    """The sentence about a timer, with its day and time in full."""
    return "%s: %s %s%s" % (ref, time, _DOES[kind], what)
