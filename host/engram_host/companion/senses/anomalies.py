"""Finds anomalies of a sense: unusual hours, drifts over days, and readings that are stuck or missing.

The mean of the last hour is compared with the location of that hour of the day plus the level of the last half day, in
spreads of that hour. Each score has its own limit, learned from the largest score of each day. docs/design/senses.md
compares this with other methods.
"""

from collections import deque
from collections.abc import Callable
from statistics import median

from engram_host.companion.store.senses.types import Anomaly, Row

HOUR, HOURS, DAY = range(3)

_LOWEST = (3.125, 1.875, 2.5)
_ABOVE = (1.5, 1.25, 1.25)
"""Lowest limits in spreads, and factors of limits above the learned scores, by span."""

_LEAST_SEEN = _LEAST_LEARNED = _STAYS_DAYS = 7
_QUICK = 28

_LOCATION_DAYS, _SPREAD_UP, _SPREAD_DOWN = 24, 16, 96
_LEVEL_QUARTERS, _HOURS_QUARTERS, _GAP = 48, 12, 96
_STAYS = 96
"""Quarters of an hour until an anomaly becomes the new level."""

_CLIP = 3
_LEAST_SPREAD = 1 / 64
_STILL = 5 / 8

_LEAST_HOURS = 18
_TIMES, _STUCK_LEAST, _SILENT_LEAST, _NEVER = 3, 120, 15, 2880
"""Factor of the usual interval, least minutes stuck and silent, and most minutes to wait."""


class _Usual:
    """Learns the usual readings of a sense from quarters of an hour, numbered in local time."""

    def __init__(self) -> None:
        self.location, self.spread, self.seen = [0.0] * 24, [0.0] * 24, [0] * 24
        self.limits = [lowest / above for lowest, above in zip(_LOWEST, _ABOVE, strict=True)]
        self.level = self.day_spread = self.score = self.staying = 0.0
        self.learned = self.day_learned = self.off_days = self.over = self.quiet = 0
        self.largest = [0.0, 0.0]
        self.days: deque[float] = deque(maxlen=_QUICK)
        self.hours: list[float] = []
        self.window: deque[float | None] = deque([None] * 4, maxlen=4)
        self.last = -1
        self.quarters = -1
        """Quarters since an anomaly began, -1 if there is none."""
        self.what = HOUR
        self.is_lost = True
        self.fullest = (0, 0)
        self.range = (0, 0)
        self.mean = 0.0

    def limit(self, what: int) -> float:
        return max(_LOWEST[what], self.limits[what] * _ABOVE[what])

    def add(self, quarter: int, mean: float) -> bool | None:
        passed = quarter - self.last if self.last >= 0 else 1
        if -_GAP < passed <= 0:
            return None
        self.is_lost = self.is_lost or passed >= _GAP or passed < 0
        self.last = quarter
        self.window.extend([None] * (min(passed - 1, 4) if passed > 0 else 4) + [mean])
        filled = [value for value in self.window if value is not None]
        self.fullest = max(len(filled), self.fullest[0]), self.fullest[1]
        if len(filled) < max(self.fullest):
            return None
        was_unusual, self.mean = self.quarters >= 0, sum(filled) / len(filled)
        if self.is_lost:
            self.is_lost, self.level = False, self.mean - self._expected(quarter, self.location)
            self.over, self.score, self.quarters = 0, 0.0, -1
        found = self._judge(quarter)
        if quarter % 4 == 3:
            self._end_hour(quarter // 4 % 24)
        return False if was_unusual and self.quarters < 0 else found

    def _expected(self, quarter: int, values: list[float]) -> float:
        hour, part = quarter // 4 % 24, quarter % 4
        return (values[hour - 1] * (3 - part) + values[hour] * (part + 1)) / 4

    def _judge(self, quarter: int) -> bool | None:
        off = self.mean - self._expected(quarter, self.location) - self.level
        hour = quarter // 4 % 24
        is_known = min(self.seen[hour], self.seen[hour - 1]) >= _LEAST_SEEN
        found = self._compare(quarter, off) if is_known else None
        if self.quarters < 0 and not self.over:
            self.level += off / (_LEVEL_QUARTERS if is_known else 16)
        return found

    def _compare(self, quarter: int, off: float) -> bool | None:
        spread = max(_LEAST_SPREAD, self._expected(quarter, self.spread), sum(self.spread) / 48)
        limit, hours_limit = self.limit(HOUR), self.limit(HOURS)
        score = off / spread
        self.score += (max(-limit, min(limit, score)) - self.score) / _HOURS_QUARTERS
        hours, score = abs(self.score), abs(score)
        self.largest = [max(self.largest[0], score), max(self.largest[1], hours)]
        if self.learned < _LEAST_LEARNED:
            return None
        if self.quarters >= 0:
            by_hours = self.what == HOURS
            return self._go_on(off, min(score, hours) < hours_limit * _STILL if by_hours else score < limit * _STILL)
        self.over = self.over + 1 if score >= limit else 0
        if hours < hours_limit and self.over < 2 and score < 2 * limit:
            return None
        self.what = HOURS if hours >= hours_limit and self.over < 2 else HOUR
        self.quarters, self.quiet, self.staying = 0, 0, off
        middle = self._expected(quarter, self.location) + self.level
        self._note_range(middle, spread * self.limit(self.what))
        return True

    def _note_range(self, middle: float, reach: float) -> None:
        self.range = int(middle - reach), int(middle + reach) + 1

    def _go_on(self, off: float, is_usual: bool) -> bool | None:
        self.quarters += 1
        self.staying += (off - self.staying) / 16
        self.quiet = self.quiet + 1 if is_usual else 0
        if self.quiet < 4 and self.quarters < _STAYS:
            return None
        if self.quiet < 4:
            self.level += self.staying
            self._move_days(self.staying)
        self.quarters, self.over, self.score = -1, 0, 0.0
        return False

    def _end_hour(self, hour: int) -> None:
        self.hours.append(self.mean)
        if self.quarters >= 0:
            return
        seen = self.seen[hour] = self.seen[hour] + 1
        off, spread = self.mean - self.level - self.location[hour], self.spread[hour]
        if seen > _LEAST_SEEN:
            most = _CLIP * spread + _LEAST_SPREAD
            off = max(-most, min(most, off))
        self.location[hour] += off / min(seen, _LOCATION_DAYS)
        more = abs(off) * 1.25 - spread
        self.spread[hour] += more / min(seen, _SPREAD_UP if more > 0 else _SPREAD_DOWN)

    def end_day(self) -> bool | None:
        if any(self.largest):
            for what, largest in enumerate(self.largest):
                self._learn_limit(what, largest, self.learned)
            self.learned += 1
        self.largest, self.fullest = [0.0, 0.0], (0, self.fullest[0])
        hours, self.hours = self.hours, []
        return self._judge_day(sum(hours) / len(hours)) if len(hours) >= _LEAST_HOURS else None

    def _learn_limit(self, what: int, largest: float, days: int) -> None:
        limit, times = self.limits[what], 3 if days < _QUICK else 1
        if largest > limit:
            self.limits[what] += times * limit * 5 / 64
        elif limit * _ABOVE[what] > _LOWEST[what] / 2:
            self.limits[what] -= times * limit / 100

    def _judge_day(self, mean: float) -> bool | None:
        found = None
        if len(self.days) * 2 >= _QUICK:
            middle = sorted(self.days)[len(self.days) // 2]
            spread = median(abs(value - middle) for value in self.days) * 1.5
            more = spread - self.day_spread
            self.day_spread += more / (1 if not self.day_spread else _SPREAD_UP if more > 0 else _SPREAD_DOWN)
            found = self._judge_drift(mean - middle, middle, max(spread, self.day_spread, 2 * _LEAST_SPREAD))
        if self.off_days < 2:
            self.days.append(mean)
        return found

    def _judge_drift(self, off: float, middle: float, spread: float) -> bool | None:
        score, limit, days = abs(off) / spread, self.limit(DAY), self.day_learned
        self._learn_limit(DAY, score, days)
        self.day_learned += 1
        if self.off_days >= 2:
            self.off_days += 1
            if score >= limit * _STILL and self.off_days < _STAYS_DAYS:
                return None
            if score >= limit * _STILL:
                self._move_days(off)
            self.off_days = 0
            return False
        self.off_days = self.off_days + 1 if score >= limit and days >= _LEAST_LEARNED else 0
        if self.off_days < 2:
            return None
        self._note_range(middle, spread * limit)
        return True

    def _move_days(self, off: float) -> None:
        self.days = deque((value + off for value in self.days), maxlen=_QUICK)


class AnomalyFinder:
    """Processes the minutes of one sense in order, in local time `offset` minutes ahead of UTC."""

    def __init__(self, offset: int = 0, seen: int = 0, on_begin: "Callable[[Anomaly], object]" = id):
        self.found: list[Anomaly] = []
        self.seen = seen
        self._offset, self._on_begin = offset, on_begin
        self._usual, self._open = _Usual(), dict[str, Anomaly]()
        self._rest = self._gap = self._days = self._total = self._count = self._value_since = 0
        self._quarter = -1
        self._value: int | None = None

    def add(self, row: Row) -> None:
        slot = row.slot
        if slot <= self.seen:
            return
        self._end("silent", slot)
        if self.seen:
            passed = slot - self.seen
            self._gap = max(self._gap, min(passed, 2 * self._gap + 10))
            if passed > max(_SILENT_LEAST, self._gap):
                self._value = None
        self._check_stuck(row)
        self.seen = slot
        self._close_quarter((slot + self._offset) // 15)
        self._total, self._count = self._total + row.mean, self._count + 1

    def advance(self, slot: int) -> None:
        self._close_quarter((slot - 1 + self._offset) // 15)
        if self._days and self.seen and slot - self.seen >= _longest(self._gap, _SILENT_LEAST):
            self._begin("silent", self.seen, self._value or 0, (0, max(1, self._gap)))

    def _check_stuck(self, row: Row) -> None:
        if row.low == row.high == self._value:
            lasts = row.slot - self._value_since
            if self._days >= _LEAST_LEARNED and lasts >= _longest(self._rest, _STUCK_LEAST):
                self._begin("stuck", self._value_since, row.last, (0, max(1, self._rest)))
            return
        if self._value is not None:
            rest = row.slot - self._value_since
            was_stuck = self._end("stuck", row.slot)
            self._rest = max(self._rest, min(rest, 2 * self._rest + 10) if was_stuck else rest)
        self._value, self._value_since = row.last, row.slot

    def _close_quarter(self, quarter: int) -> None:
        if quarter <= self._quarter:
            return
        before, self._quarter = self._quarter, quarter
        if before >= 0 and self._count:
            usual = self._usual
            is_unusual = usual.add(before, self._total / self._count)
            self._total = self._count = 0
            if is_unusual:
                self._begin("unusual", self.seen - 60, round(usual.mean), usual.range)
            elif is_unusual is False:
                self._end("unusual", self.seen)
        if before >= 0 and quarter // 96 != before // 96:
            self._end_day()

    def _end_day(self) -> None:
        self._days += 1
        self._rest, self._gap = self._rest - self._rest // 64, self._gap - self._gap // 64
        found = self._usual.end_day()
        if found:
            self._begin("drift", self.seen - 2880, round(self._usual.days[-1]), self._usual.range)
        elif found is False:
            self._end("drift", self.seen)

    def _begin(self, kind: str, start: int, value: int, usual: tuple[int, int]) -> None:
        if kind not in self._open:
            self._open[kind] = Anomaly(kind, start, value, usual)
            self.found.append(self._open[kind])
            self._on_begin(self._open[kind])

    def _end(self, kind: str, slot: int) -> bool:
        anomaly = self._open.pop(kind, None)
        if anomaly:
            anomaly.end = slot
        return anomaly is not None


def _longest(usual: int, least: int) -> float:
    return max(least, _TIMES * usual) if _TIMES * usual <= _NEVER else float("inf")
