"""The command /senses: what the board perceives, one sense by day, limits, and a sense that is to be forgotten."""

from engram.clock import day_number
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory import access
from engram.senses import history  # noqa: F401 first: an import within an import takes more of the stack
from engram.senses.answers.sentences import Sentences
from engram.senses.answers.summary import first_day, latest, summarize
from engram.senses.answers.times import day_span
from engram.senses.events.wording import describe, summary

_MOST_EVENTS = const(5)
_USAGE = const("takes a name and a day, limit NAME below|above VALUE, unlimit ID, or forget NAME.")


def run(view, caller, rest: str):
    """Yield the lines of the answer, and for programs a report of each sense."""
    first, _, then = rest.partition(" ")
    then = then.strip()
    if first in ("forget", "limit", "unlimit") and not then:
        raise ArgumentError("/senses", _USAGE)
    if first == "forget":
        yield from _forget(view, caller, then)
    elif first == "limit":
        yield from _limit(view, caller, then)
    elif first == "unlimit":
        gone = view.watch.limits.remove(caller, then)
        yield "%s is removed" % gone["id"]
    elif rest:
        yield from _one(view, caller, rest)
    else:
        yield from _list(view, caller)


def _list(view, caller):
    visible = view.visible(caller)
    if not visible:
        yield "there are no senses for you here: docs/guides/senses.md says how a board gets some"
        return
    clock = view.clock
    say = Sentences(clock, False)
    events = view.open_events(caller)
    for sense in visible:
        found = _newest(view, sense)
        states = [fields["kind"] + " (" + fields["id"] + ")" for fields, other in events if other is sense]
        if sense.config_name in view.failing():
            states.append("failing")
        report = {"sense": sense.name, "unit": sense.unit, "decimals": sense.decimals, "states": states}
        shown = "no reading yet"
        if found:
            report["value"], report["at"] = found[1], found[0]
            age = say.ago(found[0]) if clock.known else "the clock is not set"
            shown = "%s, %s" % (sense.text(found[1]), age)
        yield report
        yield "%s: %s%s" % (sense.name, shown, "; " + ", ".join(states) if states else "")


def _newest(view, sense):
    if sense.at or not view.clock.known:
        return (sense.at, sense.last) if sense.at else None
    return latest(view.senses, view.clock, sense)


def _one(view, caller, rest: str):
    """One sense on a day, today if none is named."""
    clock = view.clock
    name, _, last = rest.rpartition(" ")
    day = _day(clock, last) if name else -1
    sense = _find(view, name if day >= 0 else rest, caller)
    if not clock.known:
        raise ArgumentError("/senses", "cannot tell days: the clock is not set.")
    span = day_span(day if day >= 0 else clock.day_number(clock.now()), clock)
    say = Sentences(clock, False)
    found = summarize(view.senses, clock, sense, span.first, span.until) if span.first <= clock.now() else None
    if found:
        report = {"sense": sense.name, "unit": sense.unit, "decimals": sense.decimals, "since": span.first}
        report.update(
            {"until": span.until, "count": found.count, "min": found.low, "max": found.high, "mean": found.mean}
        )
        yield report
        yield say.range(sense, span, found)
        yield "readings: %d" % found.count
    else:
        yield say.none(sense, span, first_day(view.senses, sense))
    yield from _usual(view, sense)
    yield from _limits(view, sense, caller)
    shown = 0
    for fields, other in view.events(caller, span.first):
        if other is sense and fields["start"] < span.until and shown < _MOST_EVENTS:
            shown += 1
            yield "event: " + (summary(fields, sense, clock) if "end" in fields else _open(fields, sense, clock))


def _open(fields: dict, sense, clock) -> str:
    return "%s, since %s (%s)" % (describe(fields, sense), clock.minute(fields["start"]), fields["id"])


def _day(clock, word: str) -> int:
    """The day that a word names, counted from 1970, -1 if it names none."""
    if word in ("today", "yesterday"):
        return clock.day_number(clock.now()) - (word == "yesterday")
    try:
        return day_number(word)
    except ValueError:
        return -1


def _usual(view, sense):
    baseline = view.watch.baseline(sense.number)
    if baseline is not None:
        state = "what is unusual is known" if baseline.is_learned else "what is usual is being learned"
        yield "known for %d day%s: %s" % (baseline.days, "" if baseline.days == 1 else "s", state)


def _limits(view, sense, caller):
    for fields in view.watch.limits.of_sense(sense):
        is_own = fields["id"] and fields in view.watch.limits.of_caller(caller)
        if is_own or not fields["id"]:
            side = "low" if "low" in fields else "high"
            named = "%s %s" % ("below" if side == "low" else "above", sense.text(fields[side]))
            yield "limit: %s (%s)" % (named, fields["id"] or "config.json")


def _limit(view, caller, rest: str):
    for word, side in ((" below ", "low"), (" above ", "high")):
        name, found, value = rest.partition(word)
        if found:
            sense, value = _find(view, name.strip(), caller), value.strip()
            if sense.unit and value.endswith(sense.unit):
                value = value[: -len(sense.unit)].strip()
            yield view.limit_tool.describe(view.limit_tool.set(caller, sense, **{side: _number(value)}))
            return
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


def _forget(view, caller, name: str):
    sense = view.find(name, caller)
    if not access.is_owner(caller):
        raise ArgumentError("/senses", "forget is for the owner, in private.")
    view.senses.forget(sense.name)
    yield "%s is forgotten; readings on flash leave as the files go round" % sense.name
