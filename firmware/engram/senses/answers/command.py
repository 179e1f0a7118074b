"""The command /senses: what the board perceives, one sense in a span, limits, and a sense that is to be forgotten."""

from engram.compat import const
from engram.errors import ArgumentError
from engram.memory import access
from engram.senses.answers import spans
from engram.senses.events.wording import describe, duration, summary
from engram.senses.values import DAY, DAY_LEVEL, value_text

_MOST_EVENTS = const(5)
_USAGE = const("takes a name and a day, limit NAME below|above VALUE, unlimit ID, or forget NAME.")


def run(view, caller, rest: str):
    """Yield the lines of the answer, and for programs a report of each sense."""
    first, _, then = rest.partition(" ")
    then = then.strip()
    if first in ("forget", "limit", "unlimit") and not then:
        raise ArgumentError("/senses", _USAGE)
    if first == "forget":
        yield _forget(view, caller, then)
    elif first == "limit":
        yield _limit(view, caller, then)
    elif first == "unlimit":
        yield "%s is removed" % view.watch.limits.remove(caller, then)["id"]
    elif rest:
        yield from _one(view, caller, rest)
    else:
        yield from _list(view, caller)


def _list(view, caller):
    visible = view.visible(caller)
    if not visible:
        yield "there are no senses for you here: docs/guides/senses.md says how a board gets some"
        return
    events = view.open_events(caller)
    for sense in visible:
        found = spans.latest(view.senses, view.clock, sense)
        states = [fields["kind"] + " (" + fields["id"] + ")" for fields, other in events if other is sense]
        if sense.config_name in view.failing():
            states.append("failing")
        report = {"sense": sense.name, "unit": sense.unit, "decimals": sense.decimals, "states": states}
        shown = "no reading yet"
        if found:
            report["value"], report["at"] = found[1], found[0]
            shown = "%s, %s" % (sense.text(found[1]), _age(view.clock, found[0]))
        yield report
        yield "%s: %s%s" % (sense.name, shown, "; " + ", ".join(states) if states else "")


def _age(clock, at: int) -> str:
    if not clock.known:
        return "the clock is not set"
    seconds = clock.now() - at
    return duration(seconds) + " ago" if seconds >= 60 else "just now"


def _one(view, caller, rest: str):
    """Yield the lines of one sense in a span, today if none is named."""
    senses, clock = view.senses, view.clock
    name, _, last = rest.rpartition(" ")
    span = spans.find_span(last, clock) if name else None
    sense = _find(view, name.strip() if span else rest, caller)
    if not clock.known:
        raise ArgumentError("/senses", "cannot tell days: the clock is not set.")
    first, until = span or spans.find_span("today", clock)  # pyright: ignore[reportGeneralTypeIssues]
    level = spans.finest_level(senses, clock, first, until)
    found = spans.summarize(senses, clock, sense, first, until, level)
    shown = _span_text(clock, first, until)
    if found:
        yield {
            "sense": sense.name, "unit": sense.unit, "decimals": sense.decimals, "since": first, "until": until,
            "count": found.count, "min": found.low, "max": found.high, "mean": found.mean,
        }  # fmt: skip
        yield "%s, %s: %s" % (sense.name, shown, _range_text(clock, sense, found, until - first))
        yield "readings: %d" % found.count
    else:
        yield "%s, %s: %s" % (sense.name, shown, spans.nothing_kept(senses, clock, sense))
    yield from _limits(view, sense, caller)
    count = 0
    for fields, other in view.events(caller, first):
        if other is sense and fields["start"] < until and count < _MOST_EVENTS:
            count += 1
            yield "event: " + (summary(fields, sense, clock) if "end" in fields else _open(fields, sense, clock))


def _span_text(clock, first: int, until: int) -> str:
    day = clock.day_number(first)
    if first == clock.moment(day) and until <= clock.moment(day + 1):
        return clock.day(first)
    return "%s to %s" % (clock.minute(first), clock.minute(until - 1))


def _range_text(clock, sense, found, seconds: int) -> str:
    if found.low == found.high:
        return sense.text(found.low) + " all the time"
    low, mean = value_text(found.low, sense.decimals), value_text(found.mean, sense.decimals)
    said = "%s to %s, mean %s; " % (low, sense.text(found.high), mean)
    shown = [clock.minute(at) for at in (found.low_at, found.high_at)]
    if found.level == DAY_LEVEL:
        shown = [each[:10] for each in shown]
    elif seconds <= DAY:
        shown = [each[11:] for each in shown]
    return said + "lowest at %s, highest at %s" % tuple(shown)


def _open(fields: dict, sense, clock) -> str:
    return "%s, since %s (%s)" % (describe(fields, sense), clock.minute(fields["start"]), fields["id"])


def _limits(view, sense, caller):
    limits = view.watch.limits
    for fields in limits.of_sense(sense):
        if not fields["id"] or fields in limits.of_caller(caller):
            side = "low" if "low" in fields else "high"
            named = "%s %s" % ("below" if side == "low" else "above", sense.text(fields[side]))
            yield "limit: %s (%s)" % (named, fields["id"] or "config.json")


def _limit(view, caller, rest: str) -> str:
    for word, side in ((" below ", "low"), (" above ", "high")):
        name, found, value = rest.partition(word)
        if found:
            sense, value = _find(view, name.strip(), caller), value.strip()
            if sense.unit and value.endswith(sense.unit):
                value = value[: -len(sense.unit)].strip()
            return view.limit_tool.describe(view.limit_tool.set(caller, sense, **{side: _number(value)}))
    raise ArgumentError("/senses", _USAGE)


def _find(view, name: str, caller):
    """The sense that a name means: a part of one will do."""
    return view.limit_tool.find(name, caller) or view.find(name, caller)


def _number(said: str):
    """A number as a person writes it: 5, -3 or 21.5."""
    whole, point, part = said.partition(".")
    digits = (whole[1:] if whole[:1] == "-" else whole) + part
    if not digits.encode().isdigit() or len(digits) > 9 or (point and not part):
        raise ArgumentError("/senses", "limit needs a number such as 5 or 21.5.")
    return float(said) if point else int(said)


def _forget(view, caller, name: str) -> str:
    sense = view.find(name, caller)
    if not access.is_owner(caller):
        raise ArgumentError("/senses", "forget is for the owner, in private.")
    view.senses.forget(sense.name)
    return "%s is forgotten; readings on flash leave as the files go round" % sense.name
