"""The model's tools over senses: sense_recall reads one, sense_limit sets, lists and removes limits."""

from engram.compat import const
from engram.errors import ArgumentError
from engram.senses import readings
from engram.senses.events import describe
from engram.senses.limits import side_of
from engram.senses.values import DAY, HOUR, add_to, aggregate_of, value_text

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
"""A tool's name, its purpose, and its arguments as JSON Schema."""

_MOST_ROWS = const(31)


def recall(view, caller, name: str, days: str = "") -> dict:
    """Return what sense_recall answers; ArgumentError or NotFound say what would be right."""
    senses, clock = view.senses, view.clock
    sense = view.find(name, caller)
    result: dict = {"name": sense.name, "unit": sense.unit, "latest": _latest(view, sense)}
    if not clock.known:
        result["reason"] = "the clock is not set: only the latest reading is known."
        return result
    first, until = readings.read_span(days, clock)
    result.update({"since": clock.minute(first), "until": clock.minute(until)})
    found = readings.summarize(senses, clock, sense, first, until)
    if found:
        result.update({"readings": found.count, "mean": value_text(found.mean, sense.decimals)})
        for side, value, moment in (("lowest", found.low, found.low_at), ("highest", found.high, found.high_at)):
            result[side] = {"value": value_text(value, sense.decimals), "at": clock.minute(moment)}
        _add_rows(result, view, sense, first, until, found.level)
    else:
        result["reason"] = readings.nothing_kept(senses, clock, sense)
    events = [describe(row, sense) for row, other in view.lasting_events(caller) if other is sense]
    if events:
        result["unusual now"] = events
    return result


def _latest(view, sense):
    found = readings.latest(view.senses, view.clock, sense)
    if found is None:
        return None
    result = {"value": value_text(found[1], sense.decimals)}
    if found[0] and view.clock.known:
        result["at"] = view.clock.minute(found[0])
    return result


def _add_rows(result: dict, view, sense, first: int, until: int, level: int) -> None:
    """Add rows of hours, for up to a day, or of equal numbers of days."""
    clock, found = view.clock, {}
    step = HOUR
    if until - first > DAY + HOUR:  # a day in which the clocks change
        step = DAY * ((until - first) // (DAY * _MOST_ROWS) + 1)
    for at, aggregate in readings.rows(view.senses, clock, sense, first, until, level):
        add_to(found, (max(at, first) - first) // step, aggregate)
    rows = []
    for place in sorted(found):
        _, low, high, mean, _ = aggregate_of(found[place])
        values = [value_text(value, sense.decimals) for value in (mean, low, high)]
        rows.append([clock.minute(first + place * step)] + values)
    result.update({"columns": ["from", "mean", "lowest", "highest"], "hours_each": step // HOUR, "rows": rows})


def limit(view, caller, action: str, sense: str = "", low=None, high=None, minutes: int = 0, id: str = "") -> dict:
    """Return what sense_limit answers; ArgumentError or NotFound say what would be right."""
    if action == "list":
        visible = [each.number for each in view.visible(caller)]
        return {"limits": [_shown(view, row) for row in view.limits.of_caller(caller) if row["sense"] in visible]}
    if action == "remove":
        if not id:
            raise ArgumentError("id", "is missing; action list shows the ids.")
        return {"removed": _shown(view, view.limits.remove(caller, id))}
    if not sense:
        raise ArgumentError("sense", "is missing; it must be the name of a sense.")
    return _shown(view, view.set_limit(caller, sense, low, high, minutes))


def notice(result: dict) -> str:
    """Return a line for the person after a call of sense_limit."""
    if "removed" in result:
        return "removed limit " + result["removed"]["id"]
    return "set limit " + result["id"] if "id" in result else ""


def _shown(view, row: dict) -> dict:
    sense, side = view.senses.get(row["sense"]), side_of(row)
    shown = {"id": row["id"], "sense": sense.name, side: sense.text(row[side])}
    if row["minutes"]:
        shown["minutes"] = row["minutes"]
    return shown
