"""Readings of a sense between two moments, from the finest level that is kept so far back."""

from collections import namedtuple

from engram.clock import day_number
from engram.compat import const, first_of
from engram.senses.values import DAY, DAY_LEVEL, HOUR, HOUR_LEVEL, MINUTE, MINUTE_LEVEL, add_to, aggregate_of

_MINUTES_SPAN = const(93600)  # seconds of the longest span that is read by minutes: 26 hours
_HOURS_SPAN = const(5356800)  # likewise by hours: two months
_LATEST_HOURS = (2, 26, 744)  # in which the latest reading is looked for, the shorter time first
_UNITS = {"h": HOUR, "d": DAY}

Summary = namedtuple("Summary", "count low low_at high high_at mean level")
"""The aggregate of a span, with when the slots of its lowest and highest reading begin."""


def find_span(said: str, clock):
    """(first, until) of today, yesterday, 2026-01-31, 24h or 7d, up to now; None for all else."""
    now = clock.now()
    if said[-1:] in _UNITS and said[:-1].encode().isdigit() and len(said) <= 5:
        return now - int(said[:-1]) * _UNITS[said[-1:]], now + 1
    if said in ("today", "yesterday"):
        day = clock.day_number(now) - (said == "yesterday")
    else:
        try:
            day = day_number(said)
        except ValueError:
            return None
    return clock.moment(day), min(clock.moment(day + 1), now + 1)


def finest_level(senses, clock, first: int, until: int) -> int:
    """The finest level that is kept of a whole span, and not too fine for it."""
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
    minute = sense.minute  # the one that is not over
    if level == MINUTE_LEVEL and minute and low <= minute[0] <= high:
        yield minute[0] * MINUTE, aggregate_of(minute[1:])


def summarize(senses, clock, sense, first: int, until: int, level: int):
    """The Summary of a sense in a span, None if nothing is kept of it."""
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
    """(when, value) of the newest reading, also one before the start; None if there is none."""
    if sense.at or not clock.known:
        return (sense.at, sense.last) if sense.at else None
    now = clock.now()
    for hours in _LATEST_HOURS:
        found = None
        for at, aggregate in rows(senses, clock, sense, now - hours * HOUR, now + 1, MINUTE_LEVEL):
            found = at, aggregate[4]
        if found:
            return found
    return None


def nothing_kept(senses, clock, sense) -> str:
    """The reason for an empty span."""
    found = first_of(senses.range(sense.number, 0, 1 << 17, DAY_LEVEL))
    said = "no readings are kept of that time"
    return said + ("; the first are of %s." % clock.day(clock.moment(found[0])) if found else ".")
