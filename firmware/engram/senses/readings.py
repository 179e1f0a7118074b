"""Readings of a sense between two moments, from the finest level that is kept so far back."""

from collections import namedtuple

from engram.compat import const, first_of
from engram.errors import ArgumentError
from engram.senses.values import DAY, DAY_LEVEL, HOUR, HOUR_LEVEL, MINUTE, MINUTE_LEVEL, add_to, aggregate_of
from engram.text.days import find_days

_MINUTES_SPAN = const(93600)  # seconds of the longest span that is read by minutes: 26 hours
_HOURS_SPAN = const(5356800)  # likewise by hours: two months
_LATEST_HOURS = (2, 26, 744)  # in which the latest reading is looked for, the shorter time first
_NO_DAYS = const("must name days such as 2026-01-31, yesterday, last week or May.")

Summary = namedtuple("Summary", "count low low_at high high_at mean level")
"""The aggregate of a span, with when the slots of its lowest and highest reading begin."""


def read_span(said: str, clock) -> tuple:
    """Return (first, until) of the days that a text names, the last 24 hours without a text."""
    if not clock.known:
        raise ArgumentError("days", "cannot be told: the clock is not set.")
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


def finest_level(senses, clock, first: int, until: int) -> int:
    """Return the finest level that is kept of a whole span, and not too fine for it."""
    span = until - first
    level = MINUTE_LEVEL if span <= _MINUTES_SPAN else HOUR_LEVEL if span <= _HOURS_SPAN else DAY_LEVEL
    while level < DAY_LEVEL and not senses.history.reaches(level, _slot(clock, first, level)):
        level += 1
    return level


def _slot(clock, at: int, level: int) -> int:
    return clock.day_number(at) if level == DAY_LEVEL else at // (HOUR if level == HOUR_LEVEL else MINUTE)


def rows(senses, clock, sense, first: int, until: int, level: int):
    """Yield (when a slot begins, aggregate) of all slots of a level that overlap a span."""
    if until <= first:
        return
    size = (MINUTE, HOUR, 0)[level]
    low, high = _slot(clock, first, level), _slot(clock, until - 1, level)
    found = senses.range(sense.number, low, high, level)
    try:
        for slot, aggregate in found:
            yield slot * size if size else clock.moment(slot), aggregate
    finally:
        found.close()  # also when whoever reads stops half-way
    for slot, total in sense.minute.items():  # the one that is not over
        if level == MINUTE_LEVEL and low <= slot <= high:
            yield slot * MINUTE, aggregate_of(total)


def summarize(senses, clock, sense, first: int, until: int):
    """Return the Summary of a sense in a span, None if nothing is kept of it."""
    level = finest_level(senses, clock, first, until)
    found, low_at, high_at = {}, 0, 0
    for at, aggregate in rows(senses, clock, sense, first, until, level):
        if not found or aggregate[1] < found[0][1]:
            low_at = at
        if not found or aggregate[2] > found[0][2]:
            high_at = at
        add_to(found, 0, aggregate)
    if not found:
        return None
    count, low, high, mean, _ = aggregate_of(found[0])
    return Summary(count, low, low_at, high, high_at, mean, level)


def latest(senses, clock, sense):
    """Return (when, value) of the newest reading, also one before the start; None if there is none.

    When is 0 if the clock was not set.
    """
    if sense.last is not None or not clock.known:
        return None if sense.last is None else (sense.at, sense.last)
    now = clock.now()
    for hours in _LATEST_HOURS:
        found = None
        for at, aggregate in rows(senses, clock, sense, now - hours * HOUR, now + 1, MINUTE_LEVEL):
            found = at, aggregate[4]
        if found:
            return found
    return None


def nothing_kept(senses, clock, sense) -> str:
    """Return the reason for an empty span."""
    found = first_of(senses.range(sense.number, 0, 1 << 17, DAY_LEVEL))
    said = "no readings are kept of that time"
    return said + ("; the first are of %s." % clock.day(clock.moment(found[0])) if found else ".")
