"""The command /senses: what the board perceives, one sense over some days, limits, and a sense that is to be forgotten."""

from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import access
from engram.senses import readings
from engram.senses.events import describe
from engram.senses.limits import side_of
from engram.senses.values import DAY, value_text

_USAGE = const("takes a name and days, limit NAME below|above VALUE, unlimit ID, or forget NAME.")


def run(view, caller, rest: str):
    """Yield the lines of the answer, and for programs a report of each sense."""
    first, _, then = rest.partition(" ")
    then = then.strip()
    if first in ("forget", "limit", "unlimit") and not then:
        raise ArgumentError("/senses", _USAGE)
    if first == "forget":
        if not access.is_owner(caller):
            raise ArgumentError("/senses", "forget is for the owner, in private.")
        yield "%s is forgotten; readings on flash leave as the files go round" % view.forget(caller, then).name
    elif first == "limit":
        yield describe_limit(view, _limit(view, caller, then))
    elif first == "unlimit":
        yield "%s is removed" % view.limits.remove(caller, then)["id"]
    elif rest:
        yield from _one(view, caller, rest)
    else:
        yield from _list(view, caller)


def _list(view, caller):
    visible = view.visible(caller)
    if not visible:
        yield "there are no senses for you here: docs/guides/senses.md says how a board gets some"
        return
    events = view.lasting_events(caller)
    for sense in visible:
        found = readings.latest(view.senses, view.clock, sense)
        states = [row["kind"] + " (" + row["id"] + ")" for row, other in events if other is sense]
        if sense.name in view.failing():
            states.append("failing")
        report = {"sense": sense.name, "unit": sense.unit, "decimals": sense.decimals, "states": states}
        shown = "no reading yet"
        if found:
            report["value"], report["at"] = found[1], found[0]
            shown = "%s, %s" % (sense.text(found[1]), _age(view.clock, found[0]))
        yield report
        yield "%s: %s%s" % (sense.name, shown, "; " + ", ".join(states) if states else "")


def _age(clock, at: int) -> str:
    if not (clock.known and at):
        return "the clock is not set"
    minutes = (clock.now() - at) // 60
    if minutes < 1:
        return "just now"
    if minutes < 120:
        return "%d min ago" % minutes
    return "%d h ago" % (minutes // 60) if minutes < 2880 else "%d days ago" % (minutes // 1440)


def _one(view, caller, rest: str):
    """Yield the lines of one sense over some days."""
    sense, days = _split(view, caller, rest)
    clock = view.clock
    first, until = readings.read_span(days, clock)
    found = readings.summarize(view.senses, clock, sense, first, until)
    shown = _span_text(clock, first, until)
    if found:
        yield "%s, %s: %s" % (sense.name, shown, _range_text(clock, sense, found, until - first))
        yield "readings: %d" % found.count
    else:
        yield "%s, %s: %s" % (sense.name, shown, readings.nothing_kept(view.senses, clock, sense))
    for limit in view.limits.of_sense(sense):
        if not limit["id"] or limit in view.limits.of_caller(caller):
            yield "limit: %s (%s)" % (_bound(limit, sense), limit["id"] or "config.json")
    for row, other in view.lasting_events(caller):
        if other is sense:
            yield "event: %s, since %s (%s)" % (describe(row, sense), clock.minute(row["start"]), row["id"])


def _span_text(clock, first: int, until: int) -> str:
    day = clock.day_number(first)
    if first == clock.moment(day) and until <= clock.moment(day + 1):
        return clock.day(first)
    return "%s to %s" % (clock.minute(first), clock.minute(until - 1))


def _split(view, caller, rest: str) -> tuple:
    """Return the sense with whose name a text begins, and the rest of it."""
    words = rest.split()
    for count in range(len(words), 1, -1):
        try:
            return view.find(" ".join(words[:count]), caller), " ".join(words[count:])
        except NotFound:
            pass
    return view.find(words[0] if len(words) > 1 else rest, caller), " ".join(words[1:])


def _range_text(clock, sense, found, seconds: int) -> str:
    if found.low == found.high:
        return sense.text(found.low) + " all the time"
    low, mean = value_text(found.low, sense.decimals), value_text(found.mean, sense.decimals)
    shown = [clock.minute(at)[11 if seconds <= DAY else 0 :] for at in (found.low_at, found.high_at)]
    said = "%s to %s, mean %s; lowest at %s, highest at %s"
    return said % (low, sense.text(found.high), mean, shown[0], shown[1])


def _limit(view, caller, rest: str) -> dict:
    for word, side in ((" below ", "low"), (" above ", "high")):
        name, found, value = rest.partition(word)
        if found:
            sense, value = view.find(name.strip(), caller), value.strip()
            if sense.unit and value.endswith(sense.unit):
                value = value[: -len(sense.unit)].strip()
            try:
                return view.set_limit(caller, sense.name, **{side: float(value)})
            except ValueError:
                raise ArgumentError("/senses", "limit needs a number such as 5 or 21.5.") from None
    raise ArgumentError("/senses", _USAGE)


def describe_limit(view, limit: dict) -> str:
    """Return the notice to the person about a new limit."""
    sense = view.senses.get(limit["sense"])
    lasting = " for %d min" % limit["minutes"] if limit["minutes"] else ""
    return "will tell you here when %s is %s%s (%s)" % (sense.name, _bound(limit, sense), lasting, limit["id"])


def _bound(limit: dict, sense) -> str:
    side = side_of(limit)
    return "%s %s" % ("below" if side == "low" else "above", sense.text(limit[side]))
