"""What the readings of a sense were like between two moments, from the finest level that is kept so far back."""

from collections import namedtuple

from engram.compat import const, first_of
from engram.senses.history import DAY_LEVEL, HOUR_LEVEL, MINUTE_LEVEL
from engram.senses.values import HOUR, MINUTE, add_to, aggregate_of

_MINUTES_SPAN = const(93600)  # seconds of the longest span whose minutes are looked at: 26 hours
_HOURS_SPAN = const(5356800)  # likewise hours: two months
_LOOK_BACK = (
    7200,
    172800,
)  # seconds in which the state of a switch before a moment is looked for, first in the shorter time
_LATEST_HOURS = (2, 26, 744)  # in which the latest reading before a start is looked for, first in the shorter time
_NEAR = const(900)  # seconds around a moment in which its reading is looked for

Summary = namedtuple("Summary", "count low low_at high high_at mean last last_at first_at level")
"""The aggregate of all readings, when the lowest and the highest slot begin, the first and the last one, and the level that all
of them are of."""

Phases = namedtuple("Phases", "spans starts level")
"""[(from, until)] in which a switch was as asked, until 0 if it still is so at the end; how often that began; and the level."""


def summarize(senses, clock, sense, first: int, until: int):
    """The Summary of a sense from a moment up to another, None if nothing is kept of that time."""
    level = finest_level(senses, clock, sense, first, until)
    found, low_at, high_at, first_at, last_at, low, high = {}, 0, 0, 0, 0, 0, 0
    for at, aggregate in rows(senses, clock, sense, first, until, level):
        if not found or aggregate[1] < low:
            low, low_at = aggregate[1], at
        if not found or aggregate[2] > high:
            high, high_at = aggregate[2], at
        first_at, last_at = first_at or at, at
        add_to(found, 0, aggregate)
    if not found:
        return None
    count, low, high, mean, last = aggregate_of(found[0])
    return Summary(count, low, low_at, high, high_at, mean, last, last_at, first_at, level)


def finest_level(senses, clock, sense, first: int, until: int) -> int:
    """The finest level that has most of what is kept of a span."""
    span = until - first
    start = MINUTE_LEVEL if span <= _MINUTES_SPAN else HOUR_LEVEL if span <= _HOURS_SPAN else DAY_LEVEL
    for level in range(start, DAY_LEVEL):
        if _reaches_back(senses, clock, sense, first, level):
            return level
        count = _count(senses, clock, sense, first, until, level)
        if count and 2 * count >= _inner_count(senses, clock, sense, first, until, level + 1):
            return level
        if not count and not _has_other_readings(senses, clock, sense, first, until, level):
            return level
    return DAY_LEVEL if _count(senses, clock, sense, first, until, DAY_LEVEL) else start


def _reaches_back(senses, clock, sense, first: int, level: int) -> bool:
    """Whether what is kept of a level begins before a moment."""
    return first_of(rows(senses, clock, sense, 0, first, level)) is not None


def _has_other_readings(senses, clock, sense, first: int, until: int, level: int) -> bool:
    """Whether the next level has readings in a span that this one has not: else those of its slots are from beside the span."""
    found = rows(senses, clock, sense, first, until, level + 1)
    try:
        for at, aggregate in found:
            if aggregate[0] > _count(senses, clock, sense, at, end_of(clock, at, level + 1), level):
                return True
        return False
    finally:
        found.close()


def _count(senses, clock, sense, first: int, until: int, level: int) -> int:
    return sum([aggregate[0] for _, aggregate in rows(senses, clock, sense, first, until, level)])


def _inner_count(senses, clock, sense, first: int, until: int, level: int) -> int:
    """The readings of the slots that lie wholly within a span."""
    count = 0
    for at, aggregate in rows(senses, clock, sense, first, until, level):
        if first <= at and end_of(clock, at, level) <= until:
            count += aggregate[0]
    return count


def rows(senses, clock, sense, first: int, until: int, level: int):
    """Yield (when a slot begins, aggregate) of all slots of a level that have a part of a span."""
    if until <= first:
        return
    if level == DAY_LEVEL:
        size, bounds = 0, (clock.day_number(first), clock.day_number(until - 1))
    else:
        size = HOUR if level == HOUR_LEVEL else MINUTE
        bounds = first // size, (until - 1) // size
    found = senses.range(sense.number, bounds[0], bounds[1], level)
    try:
        for slot, aggregate in found:
            yield slot * size if size else clock.moment(slot), aggregate
    finally:
        found.close()  # what it has loaded goes, also when whoever reads stops half-way
    minute = sense.minute  # the one that is not over
    if level == MINUTE_LEVEL and minute and first // MINUTE <= minute[0] <= (until - 1) // MINUTE:
        yield minute[0] * MINUTE, aggregate_of(minute[1:])


def end_of(clock, at: int, level: int) -> int:
    """When a slot ends that begins at a moment."""
    if level == DAY_LEVEL:
        return clock.moment(clock.day_number(at) + 1)
    return at + (HOUR if level == HOUR_LEVEL else MINUTE)


def reading_at(senses, clock, sense, moment: int):
    """(when, aggregate, level) of the minute that is nearest to a moment, or of the hour or the day that it is in; None."""
    nearest = None
    for at, aggregate in rows(senses, clock, sense, moment - _NEAR, moment + _NEAR, MINUTE_LEVEL):
        if nearest is None or abs(at - moment) < abs(nearest[0] - moment):
            nearest = at, aggregate, MINUTE_LEVEL
    return nearest or hour_at(senses, clock, sense, moment)


def hour_at(senses, clock, sense, moment: int):
    """(when, aggregate, level) of the hour that a moment is in, or of its day; None if neither is kept."""
    for level in (HOUR_LEVEL, DAY_LEVEL):
        if level == DAY_LEVEL and not _has_other_readings(senses, clock, sense, moment, moment + 1, HOUR_LEVEL):
            break
        found = first_of(rows(senses, clock, sense, moment, moment + 1, level))
        if found:
            return found[0], found[1], level
    return None


def latest(senses, clock, sense):
    """(when, value) of the newest reading; if there is none since the start, the minute's last one that is kept. None."""
    if sense.at:
        return sense.at, sense.last
    found, now = None, clock.now()
    for hours in _LATEST_HOURS:
        for at, aggregate in rows(senses, clock, sense, now - hours * HOUR, now + 1, MINUTE_LEVEL):
            found = at, aggregate[4]
        if found:
            return found
    return None


def first_day(senses, sense) -> int:
    """The first day that has something kept, -1 if there is none."""
    found = first_of(senses.range(sense.number, 0, 1 << 17, DAY_LEVEL))
    return found[0] if found else -1


# --- what is open or closed


def phases(senses, clock, sense, first: int, until: int, state: int) -> "Phases | None":
    """When a switch was on (`state` 1) or off (0) in a span; None if nothing is kept of that time."""
    level = finest_level(senses, clock, sense, first, until)
    if level != MINUTE_LEVEL:
        return _coarse_phases(senses, clock, sense, first, until, state, level)
    before = last_before(senses, clock, sense, first)
    was = before is not None and (before > 0) == bool(state)
    spans, begun, starts, has_some = [], first if was else 0, 0, before is not None
    for at, (_, low, high, _, last) in rows(senses, clock, sense, first, until, MINUTE_LEVEL):
        has_some = True
        is_some = high > 0 if state else low <= 0
        is_all = low > 0 if state else high <= 0
        is_last = (last > 0) == bool(state)
        if is_some and not begun:
            begun, starts = at, starts + 1
        elif is_some and not is_all and is_last:
            starts += 1  # it changed twice within a minute
        if begun and not is_last:
            spans.append((begun, at + (MINUTE if is_some else 0)))
            begun = 0
    if begun:
        spans.append((begun, 0 if until > clock.now() else until))
    return Phases(spans, max(starts, len(spans)), level) if has_some else None


def last_before(senses, clock, sense, moment: int):
    """The last reading before the minute of a moment: a switch stays as it was read last. None if there is none."""
    found = None
    for seconds in _LOOK_BACK:
        for _, aggregate in rows(senses, clock, sense, moment - seconds, moment - moment % MINUTE, MINUTE_LEVEL):
            found = aggregate[4]
        if found is not None:
            break
    return found


def _coarse_phases(senses, clock, sense, first: int, until: int, state: int, level: int):
    """As phases(), by whole hours or days in which it was so at some time."""
    spans, has_some, before = [], False, 0
    for at, (_, low, high, _, _) in rows(senses, clock, sense, first, until, level):
        has_some = True
        if high > 0 if state else low <= 0:
            end = end_of(clock, at, level)
            if spans and before == at:
                spans[-1] = spans[-1][0], end
            else:
                spans.append((at, end))
            before = end
    return Phases(spans, 0, level) if has_some else None
