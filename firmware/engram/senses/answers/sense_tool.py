"""The tool sense_recall: what a model can ask of the senses."""

from engram.clock import day_number
from engram.compat import const
from engram.errors import ArgumentError
from engram.senses.answers.summary import (
    finest_level,
    first_day,
    latest,
    phases,
    rows,
    summarize,
)
from engram.senses.events.wording import describe, summary
from engram.senses.history import DAY_LEVEL, HOUR_LEVEL, LEVELS
from engram.senses.values import add_to, aggregate_of, value_text

_DAY = const(86400)
_MOST_ROWS = const(24)
_MOST_EVENTS = const(6)
_MOST_TIMES = const(20)
_EVENT_CHARS = const(200)
_NO_MOMENT = const('must be a day such as 2026-01-31, or a day and a time such as "2026-01-31 14:05".')


def run(view, caller, arguments: dict) -> dict:
    """The result of a call; ArgumentError or NotFound say what would be right."""
    sense = view.find(arguments["name"], caller)
    what = arguments.get("what", "range")
    if what == "latest":
        return _latest(view, sense)
    if not view.clock.known:
        raise ArgumentError("what", "can only be latest: the clock is not set.")
    first, until = _span(view.clock, arguments)
    result = {"name": sense.name, "unit": sense.unit}
    result.update({"since": view.clock.minute(first), "until": view.clock.minute(until)})
    if what == "events":
        result["events"] = _events(view, sense, caller, first, until)
    elif what == "times":
        _add_times(result, view, sense, first, until)
    elif what == "extremes":
        _add_extremes(result, view, sense, first, until)
    else:
        _add_rows(result, view, sense, first, until)
    return result


def _latest(view, sense) -> dict:
    found = (sense.at, sense.last) if sense.at else latest(view.senses, view.clock, sense) if view.clock.known else None
    if found is None:
        return {"name": sense.name, "reason": "there is no reading since the start."}
    result = {"name": sense.name, "value": value_text(found[1], sense.decimals), "unit": sense.unit}
    if view.clock.known:
        result.update({"at": view.clock.minute(found[0]), "age_minutes": max(0, view.clock.now() - found[0]) // 60})
    return result


def _span(clock, arguments: dict) -> tuple:
    """The moments that since and until name; without since the last day."""
    now = clock.now()
    until = _moment(clock, "until", arguments["until"], True) if arguments.get("until") else now + 1
    until = min(until, now + 1)
    first = _moment(clock, "since", arguments["since"], False) if arguments.get("since") else until - _DAY
    if first >= until:
        raise ArgumentError("since", "must be before until, and not be to come; it is %s now." % clock.minute(now))
    return first, until


def _moment(clock, argument: str, said: str, is_end: bool) -> int:
    day, _, time = said.strip().partition(" ")
    try:
        number = day_number(day)
        if not time:
            return clock.moment(number + is_end)
        hour, colon, minute = time.partition(":")
        if not colon or len(hour) > 2 or len(minute) != 2 or not (hour + minute).encode().isdigit():
            raise ValueError(time)
        if int(hour) > 23 or int(minute) > 59:
            raise ValueError(time)
        return clock.moment(number, 60 * int(hour) + int(minute))
    except ValueError:
        raise ArgumentError(argument, _NO_MOMENT) from None


def _add_nothing(result: dict, view, sense) -> None:
    first = first_day(view.senses, sense)
    result["reason"] = "nothing is kept of that time%s." % (
        "; the first readings are of " + view.clock.day(view.clock.moment(first)) if first >= 0 else ""
    )


def _add_extremes(result: dict, view, sense, first: int, until: int) -> None:
    found = summarize(view.senses, view.clock, sense, first, until)
    if found is None:
        _add_nothing(result, view, sense)
        return

    def at(value: int, moment: int) -> dict:
        return {"value": value_text(value, sense.decimals), "at": view.clock.minute(moment)}

    result.update({"by": LEVELS[found.level], "readings": found.count, "mean": value_text(found.mean, sense.decimals)})
    result.update({"lowest": at(found.low, found.low_at), "highest": at(found.high, found.high_at)})


def _add_rows(result: dict, view, sense, first: int, until: int) -> None:
    """Add at most _MOST_ROWS rows of equal parts of the span."""
    level = finest_level(view.senses, view.clock, sense, first, until)
    step = max(1, (until - first + _MOST_ROWS - 1) // _MOST_ROWS)
    step = _DAY * ((step + _DAY - 1) // _DAY) if level == DAY_LEVEL or step > _DAY else _rounded(step, level)
    found = {}
    for at, aggregate in rows(view.senses, view.clock, sense, first, until, level):
        add_to(found, (max(at, first) - first) // step, aggregate)
    if not found:
        _add_nothing(result, view, sense)
        return
    result["columns"] = ["from", "mean", "lowest", "highest"]
    result["minutes_each"] = step // 60
    shown = []
    for place in sorted(found)[:_MOST_ROWS]:
        _, low, high, mean, _ = aggregate_of(found[place])
        values = [value_text(value, sense.decimals) for value in (mean, low, high)]
        shown.append([view.clock.minute(first + place * step)] + values)
    result["rows"] = shown


def _rounded(step: int, level: int) -> int:
    """A step of whole minutes or hours that divides an hour or a day where it can."""
    for minutes in (1, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440):
        if minutes * 60 >= step and (level != HOUR_LEVEL or minutes >= 60):
            return minutes * 60
    return _DAY


def _add_times(result: dict, view, sense, first: int, until: int) -> None:
    """Add when a switch was on."""
    if not view.is_switch(sense):
        raise ArgumentError(
            "what", "times is for senses that are open or closed, on or off: ask for extremes or range."
        )
    found = phases(view.senses, view.clock, sense, first, until, 1)
    if found is None:
        _add_nothing(result, view, sense)
        return
    result["by"] = LEVELS[found.level]
    result["count"] = max(found.starts, len(found.spans))
    minute = view.clock.minute
    shown = found.spans[-_MOST_TIMES:]
    result["on"] = [[minute(begin), minute(end) if end else "still"] for begin, end in shown]
    if len(shown) < len(found.spans):
        result["left_out"] = len(found.spans) - len(shown)


def _events(view, sense, caller, first: int, until: int) -> list:
    found = []
    for fields, other in view.events(caller, first):
        if other is sense and fields["start"] < until and len(found) < _MOST_EVENTS:
            said = summary(fields, sense, view.clock) if "end" in fields else describe(fields, sense)
            found.append({"id": fields["id"], "kind": fields["kind"], "text": said[:_EVENT_CHARS]})
            if "end" not in fields:
                found[-1]["since"] = view.clock.minute(fields["start"])
    return found
