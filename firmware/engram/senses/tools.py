"""The model's tools over senses: sense_recall reads one, sense_limit sets, lists and removes limits."""

from engram.compat import const
from engram.errors import ArgumentError
from engram.senses.history import HOUR_LEVEL, MINUTE_LEVEL
from engram.senses.limits import bound_text
from engram.senses.values import DAY, HOUR, MINUTE, add_to, aggregate_of, value_text
from engram.text.times import find_days

RECALL = (
    "sense_recall",
    "Readings of one of the board's sensors: the latest, and of some days the lowest and highest with their times, "
    "rows of means, and what is unusual.",
    '{"type":"object","properties":{"name":{"type":"string","maxLength":32},"days":{"type":"string","maxLength":40,'
    '"description":"such as 2026-01-31, yesterday or last week; the last 24 hours if left out"}},'
    '"required":["name"],"additionalProperties":false}',
)
LIMIT = (
    "sense_limit",
    "Tell the person in this chat when a sense is below (low) or above (high) a limit for some minutes. "
    "Set, list or remove such limits.",
    '{"type":"object","properties":{"action":{"type":"string","enum":["set","list","remove"]},'
    '"sense":{"type":"string"},"low":{"type":"number"},"high":{"type":"number"},'
    '"minutes":{"type":"integer","minimum":0,"maximum":1440},"id":{"type":"string"}},'
    '"required":["action"],"additionalProperties":false}',
)
"""A tool's name, purpose and arguments as JSON Schema."""

_MOST_ROWS = const(31)
_MINUTES_SPAN = const(93600)  # seconds of the longest span that is read by minutes: 26 hours
_NO_DAYS = const("must name days such as 2026-01-31, yesterday, last week or May.")


def recall(view, caller, name: str, days: str = "") -> dict:
    clock, sense = view.clock, view.find(name, caller)
    result: dict = {"name": sense.name, "unit": sense.unit}
    if sense.last is not None:
        result["latest"] = {"value": value_text(sense.last, sense.decimals)}
    if not clock.known:
        result["reason"] = "the clock is not set: only the latest reading is known."
        return result
    if sense.at:
        result["latest"]["at"] = clock.minute(sense.at)
    first, until = _span(days, clock)
    result.update({"since": clock.minute(first), "until": clock.minute(until)})
    rows = _rows(view.senses, sense, first, until)
    if rows:
        _add_summary(result, clock, sense, rows)
        _add_rows(result, clock, sense, rows, first, until)
    else:
        result["reason"] = "no readings are kept of that time."
    events = [event for other, event in view.lasting_events(caller) if other is sense]
    if events:
        result["unusual now"] = events
    return result


def _span(said: str, clock) -> tuple:
    now = clock.now()
    if not said:
        return now + 1 - DAY, now + 1
    days = find_days(said, clock.day_number(now))
    if days is None:
        raise ArgumentError("days", _NO_DAYS)
    first = clock.moment(days.first)
    if first > now:
        raise ArgumentError("days", "are to come; it is %s now." % clock.minute(now))
    return first, min(clock.moment(days.last + 1), now + 1)


def _rows(senses, sense, first: int, until: int) -> list:
    """Return (slot's start, aggregate) of overlapping slots at the finest available level."""
    level, size = HOUR_LEVEL, HOUR
    if until - first <= _MINUTES_SPAN and senses.history.has_minute(first // MINUTE):
        level, size = MINUTE_LEVEL, MINUTE
    found = senses.range(sense, first // size, (until - 1) // size, level)
    return [(slot * size, aggregate) for slot, aggregate in found]


def _add_summary(result: dict, clock, sense, rows: list) -> None:
    total = {}
    for _, aggregate in rows:
        add_to(total, 0, aggregate)
    count, low, high, mean, _ = aggregate_of(total[0])
    result.update({"readings": count, "mean": value_text(mean, sense.decimals)})
    for name, place, value in (("lowest", 1, low), ("highest", 2, high)):
        at = next(at for at, aggregate in rows if aggregate[place] == value)
        result[name] = {"value": value_text(value, sense.decimals), "at": clock.minute(at)}


def _add_rows(result: dict, clock, sense, rows: list, first: int, until: int) -> None:
    step, found = HOUR * ((until - first) // (HOUR * _MOST_ROWS) + 1), {}
    for at, aggregate in rows:
        add_to(found, (max(at, first) - first) // step, aggregate)
    shown = []
    for place in sorted(found):
        _, low, high, mean, _ = aggregate_of(found[place])
        values = [value_text(value, sense.decimals) for value in (mean, low, high)]
        shown.append([clock.minute(first + place * step)] + values)
    result.update({"columns": ["from", "mean", "lowest", "highest"], "hours_each": step // HOUR, "rows": shown})


def limit(view, caller, action: str, sense: str = "", low=None, high=None, minutes: int = 0, id: str = "") -> tuple:
    if action == "list":
        rows = view.limits.of_caller(caller) if view.is_for(caller) else []
        return {"limits": [_shown(view, row) for row in rows]}, ""
    if action == "remove":
        if not id:
            raise ArgumentError("id", "is missing; action list shows the ids.")
        row = view.limits.remove(caller, id)
        return {"removed": _shown(view, row)}, "removed limit " + row["id"]
    if not sense:
        raise ArgumentError("sense", "is missing; it must be the name of a sense.")
    row = view.set_limit(caller, sense, low, high, minutes)
    bound = bound_text(row, view.senses.find(row["sense"]))
    return _shown(view, row), "will tell you here when %s is %s (%s)" % (row["sense"], bound, row["id"])


def _shown(view, row: dict) -> dict:
    sense = view.senses.find(row["sense"])
    return {"id": row["id"], "sense": sense.name, row["kind"]: sense.text(row["bound"]), "minutes": row["minutes"]}
