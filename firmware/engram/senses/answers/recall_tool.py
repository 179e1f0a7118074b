"""The tool sense_recall: readings and events of a sense in a span."""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError
from engram.senses.answers import spans
from engram.senses.events.wording import describe, summary
from engram.senses.values import DAY, DAY_LEVEL, HOUR_LEVEL, LEVELS, add_to, aggregate_of, value_text
from engram.text.times import date_of, minute_of_day

_MOST_ROWS = const(24)
_MOST_EVENTS = const(4)
_EVENT_CHARS = const(120)
_STEPS = (1, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440)
"""Minutes of a row that divide an hour or a day."""

_NO_MOMENT = const('must be a day such as 2026-01-31, today, or 24h, or a day and a time such as "2026-01-31 14:05".')


class RecallTool:
    """The tool as a Toolbox has its tools, see tools/own_tool.py: offered to those who may see a sense."""

    name = "sense_recall"
    description = (
        "Readings of one of the board's sensors: the latest, and of a span the lowest and highest with their times, "
        "rows of means, and events."
    )
    schema = (
        '{"type":"object","properties":{"name":{"type":"string","maxLength":32},"level":{"type":"string","enum":["minute",'
        '"hour","day"]},"since":{"type":"string","maxLength":16,"description":"2026-01-31, 2026-01-31 14:05, today, yesterday, '
        '24h or 7d; 24h if left out"},"until":{"type":"string","maxLength":16,"description":"likewise; a day is meant to its '
        'end"}},"required":["name"],"additionalProperties":false}'
    )
    who = "all"
    groups = True
    confirm = False
    timeout_ms = 10_000
    wants_caller = True

    def __init__(self, view):
        self._view = view
        self.task = None

    def for_caller(self, caller):
        """Return the tool as the model is offered it for a caller; None if they may see no sense."""
        return self if self._view.visible(caller) else None

    def run(self, caller, **arguments) -> dict:
        """Return the result of a call; ArgumentError or NotFound say what would be right."""
        view = self._view
        senses, clock = view.senses, view.clock
        sense = view.find(arguments["name"], caller)
        result = {"name": sense.name, "unit": sense.unit, "latest": _latest(view, sense)}
        if not clock.known:
            result["reason"] = "the clock is not set: only the latest reading is known."
            return result
        first, until = _span(clock, arguments)
        level = arguments.get("level")
        at = LEVELS.index(level) if level else spans.finest_level(senses, clock, first, until)
        result.update({"since": clock.minute(first), "until": clock.minute(until), "level": LEVELS[at]})
        found = spans.summarize(senses, clock, sense, first, until, at)
        if found:
            result.update({"readings": found.count, "mean": value_text(found.mean, sense.decimals)})
            for name, value, moment in (("lowest", found.low, found.low_at), ("highest", found.high, found.high_at)):
                result[name] = {"value": value_text(value, sense.decimals), "at": clock.minute(moment)}
            _add_rows(result, view, sense, first, until, at)
        else:
            result["reason"] = spans.nothing_kept(senses, clock, sense)
        events = _events(view, sense, caller, first, until)
        if events:
            result["events"] = events
        return result

    def notice(self, _arguments: dict, _value) -> str:
        """A line for the person after a call: none, since nothing changes."""
        return ""


def _latest(view, sense):
    found = spans.latest(view.senses, view.clock, sense)
    if found is None:
        return None
    result: dict = {"value": value_text(found[1], sense.decimals)}
    if view.clock.known:
        result.update({"at": view.clock.minute(found[0]), "age_minutes": max(0, view.clock.now() - found[0]) // 60})
    return result


def _span(clock, arguments: dict) -> tuple:
    now = clock.now()
    until = min(_moment(clock, "until", arguments.get("until"), 1) or now + 1, now + 1)
    first = _moment(clock, "since", arguments.get("since"), 0) or until - DAY
    if first >= until:
        raise ArgumentError("since", "must be before until, and not be to come; it is %s now." % clock.minute(now))
    return first, until


def _moment(clock, argument: str, said, end: int) -> int:
    """The moment where a day begins or ends, or of a day and a time; 0 if nothing is said."""
    if not said:
        return 0
    day, _, time = said.strip().partition(" ")
    found = None if time else spans.find_span(day, clock)
    if found:
        return found[end]
    date, minute = date_of(text.encode(day)), minute_of_day(text.encode(time))
    if date < 0 or minute < 0:
        raise ArgumentError(argument, _NO_MOMENT)
    return clock.moment(date, minute)


def _add_rows(result: dict, view, sense, first: int, until: int, level: int) -> None:
    """Add at most _MOST_ROWS rows of equal parts of the span."""
    clock, found = view.clock, {}
    step = _step((until - first + _MOST_ROWS - 1) // _MOST_ROWS, level)
    for at, aggregate in spans.rows(view.senses, clock, sense, first, until, level):
        add_to(found, (max(at, first) - first) // step, aggregate)
    result.update({"columns": ["from", "mean", "lowest", "highest"], "minutes_each": step // 60, "rows": []})
    for place in sorted(found)[:_MOST_ROWS]:
        _, low, high, mean, _ = aggregate_of(found[place])
        values = [value_text(value, sense.decimals) for value in (mean, low, high)]
        result["rows"].append([clock.minute(first + place * step)] + values)


def _step(seconds: int, level: int) -> int:
    """Round the seconds of a row up to whole slots."""
    if level != DAY_LEVEL:
        for minutes in _STEPS:
            if minutes * 60 >= seconds and (level != HOUR_LEVEL or minutes >= 60):
                return minutes * 60
    return DAY * max(1, (seconds + DAY - 1) // DAY)


def _events(view, sense, caller, first: int, until: int) -> list:
    found = []
    for fields, other in view.events(caller, first):
        if other is sense and fields["start"] < until and len(found) < _MOST_EVENTS:
            said = summary(fields, sense, view.clock) if "end" in fields else describe(fields, sense)
            found.append({"id": fields["id"], "kind": fields["kind"], "text": said[:_EVENT_CHARS]})
            if "end" not in fields:
                found[-1]["since"] = view.clock.minute(fields["start"])
    return found
