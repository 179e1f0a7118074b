"""What is usual for one sense, learned in integers: by hour of the day, by level of the last hours, and by day.

Readings come as means of a quarter of an hour. A mean of the last hour is held against what is usual at that hour of the day,
`location`, plus the level of the last half day, so that weather and seasons are followed. How far it may be off is learned too:
`spread` for each hour of the day, and a limit in spreads that follows the largest deviation of each day, so that a sense with
rare but usual peaks gets a wider one. Three deviations are looked at, each with a limit of its own:

    hour    the last hour, twice in a row
    hours   the mean of the last three hours or so, in which short peaks count for little
    day     the mean of a day, twice in a row, against the last four weeks: a slow drift

Nothing is unusual before a sense is known for two weeks. What stays for a day is usual from then on. How this was measured
against other ways is in docs/design/senses-anomalies.md.
"""

from array import array

from engram.compat import const

_HOURS = const(24)
_QUARTERS = const(4)  # of an hour
_MOST_DAYS = const(28)  # means of days that are kept: four weeks, so that weekends weigh the same

# Where things are in the array.
_LOCATION = const(0)
_SPREAD = const(24)
_DAY = const(48)
_SHIFT = const(76)
_LEVEL = const(77)
_DAYS = const(78)
_DAY_SPREAD = const(79)
_LIMIT = const(80)  # of the hour, the hours and the day
_LEARNED = const(83)  # days that taught the limit of the hour and the hours, and that of the day
_OFF = const(85)  # days in a row that were off
_LAST = const(86)  # the last quarter that was seen
_SEEN = const(87)  # how often each hour of the day was seen, seven bits each
REST = const(93)
"""Where the longest time stands that the reading usually stays the same, in minutes."""
GAP = const(94)
"""Likewise the longest usual time between two readings."""
_AGE = const(95)  # days since the first reading
SIZE = const(96)
"""Numbers of 32 bits that a baseline has."""

HOUR = const(0)
HOURS = const(1)
DAY = const(2)
"""What was held against what is usual."""

_FINE = const(10)  # bits after the point, fewer for large readings
_LARGEST = const(1 << 29)
_ONE = const(256)  # a score of one spread
_FLOOR = const(4)  # bits of the smallest spread: a sixteenth of what the sense can tell apart

_LEAST_SEEN = const(7)  # days: before that an hour of the day is not known
_LEAST_LEARNED = const(7)  # days more: before that a limit is not known
_QUICK = const(28)  # days in which limits are learned faster
_LOCATION_DAYS = const(24)
_SPREAD_UP = const(16)
_SPREAD_DOWN = const(96)  # a spread shrinks slowly: what was usual in the winter will be again
_LEVEL_QUARTERS = const(48)
_HOURS_QUARTERS = const(12)
_CLIP = const(3)  # spreads from which on a reading teaches no more than that
_STAYS = const(96)  # quarters after which what is unusual is the new level
_STAYS_DAYS = const(7)
_GAP = const(96)  # quarters after which the level is not known any more
_LEAST_HOURS = const(18)  # of a day, for its mean to count

# Of the hour, the hours and the day: the lowest limit, in scores, and how far above what is learned it is, in sixteenths.
_LOWEST = (800, 480, 640)
_ABOVE = (24, 20, 20)


class Baseline:
    """What is usual for one sense; `numbers` are those that another one has kept."""

    def __init__(self, numbers=None):
        if numbers is None:
            numbers = array("i", bytes(4 * SIZE))
            numbers[_SHIFT] = _FINE
            numbers[_LAST] = -1
            for what in range(3):
                numbers[_LIMIT + what] = _LOWEST[what] * 16 // _ABOVE[what]
        self.numbers = numbers
        self._window = [None] * _QUARTERS
        self._fullest = [0, 0]  # quarters with readings in an hour, today and before
        self._mean_score = 0
        self._largest = [0, 0]  # scores of today
        self._over = 0
        self._quiet = 0
        self._quarters = -1  # since something unusual began
        self._what = HOUR
        self._staying = 0
        self._is_lost = numbers[_LAST] < 0  # whether the level is not known
        self._day_sum = self._day_hours = 0
        self.usual = (0, 0)
        """The lowest and the highest reading that would have been usual, when something was found not to be."""
        self.mean = self.day_mean = 0
        """The mean of the last hour and of the last day, as readings are kept."""

    # --- what is asked

    @property
    def days(self) -> int:
        """How many days the sense has been known."""
        return self.numbers[_AGE]

    @property
    def is_learned(self) -> bool:
        """Whether enough is known to say what is unusual."""
        return self.numbers[_LEARNED] >= _LEAST_LEARNED

    @property
    def is_unusual(self) -> bool:
        """Whether the last hours are."""
        return self._quarters >= 0

    @property
    def is_drifting(self) -> bool:
        """Whether the last days are far from those before."""
        return self.numbers[_OFF] >= 2

    def resume(self, quarters: int) -> None:
        """Go on after a restart with what has been unusual for some quarters of an hour."""
        self._quarters = quarters

    # --- readings

    def add(self, quarter: int, total: int, count: int):
        """Take in a quarter of an hour, numbered in local time, as the sum of `count` readings, 0 if there were none.

        HOUR or HOURS if something unusual begins, False if it ends, else None.
        """
        numbers = self.numbers
        passed = quarter - numbers[_LAST] if numbers[_LAST] >= 0 else 1
        if -_GAP < passed <= 0:
            return None  # the clock went back a little: this was seen before
        self._is_lost = self._is_lost or passed >= _GAP or passed < 0  # far back: it was wrong before, and is right now
        numbers[_LAST] = quarter
        for _ in range(min(passed - 1, _QUARTERS) if passed > 0 else _QUARTERS):
            self._shift_window(None)
        self._shift_window(self._fine(total, count) if count else None)
        mean, filled = self._hour_mean()
        self._fullest[0] = max(filled, self._fullest[0])
        if not filled or filled < max(self._fullest):
            return None
        was_unusual = self._quarters >= 0
        if self._is_lost:
            self._is_lost = False
            numbers[_LEVEL] = mean - self._expected(quarter, _LOCATION)
            self._over = self._mean_score = 0
            self._quarters = -1
        self.mean = self._rounded(mean)
        found = self._judge(quarter, mean)
        if quarter % _QUARTERS == _QUARTERS - 1:
            self._end_hour(quarter // _QUARTERS % _HOURS, mean)
        return False if was_unusual and self._quarters < 0 else found

    def _shift_window(self, value) -> None:
        self._window.pop(0)
        self._window.append(value)

    def _hour_mean(self) -> tuple:
        filled = total = 0
        for value in self._window:
            if value is not None:
                filled += 1
                total += value
        return (total // filled if filled else 0), filled

    def _fine(self, total: int, count: int) -> int:
        """The mean of readings with bits after the point; large ones make that fewer for all that is known."""
        numbers = self.numbers
        while numbers[_SHIFT] and abs(total) // count >= _LARGEST >> numbers[_SHIFT]:
            numbers[_SHIFT] -= 1
            for at in range(_SHIFT):
                numbers[at] >>= 1
            numbers[_LEVEL] >>= 1
            numbers[_DAY_SPREAD] >>= 1
            self._window = [None if value is None else value >> 1 for value in self._window]
            self._day_sum >>= 1
            self._staying >>= 1
        return max(-_LARGEST, min(_LARGEST, (total << numbers[_SHIFT]) // count))

    def _seen(self, hour: int) -> int:
        return self.numbers[_SEEN + hour // 4] >> hour % 4 * 7 & 127

    def _expected(self, quarter: int, first: int) -> int:
        """The location or the spread in the middle of the hour that ends with a quarter."""
        hour, part = quarter // _QUARTERS % _HOURS, quarter % _QUARTERS
        before = self.numbers[first + (hour - 1) % _HOURS]
        return (before * (3 - part) + self.numbers[first + hour] * (part + 1)) // 4

    def _spread(self, quarter: int) -> int:
        numbers = self.numbers
        mean = sum(numbers[_SPREAD : _SPREAD + _HOURS]) // (2 * _HOURS)
        return max(self._least(), self._expected(quarter, _SPREAD), mean)

    def _least(self) -> int:
        return max(1, 1 << self.numbers[_SHIFT] >> _FINE - _FLOOR)

    def _rounded(self, value: int) -> int:
        shift = self.numbers[_SHIFT]
        return ((2 * value >> shift) + 1) >> 1

    def reach(self) -> int:
        """How far readings usually are from the middle, as they are kept."""
        return sum(self.numbers[_SPREAD : _SPREAD + _HOURS]) // _HOURS >> self.numbers[_SHIFT]

    def limit(self, what: int) -> int:
        """How many spreads something may be off, in 256ths."""
        return max(_LOWEST[what], self.numbers[_LIMIT + what] * _ABOVE[what] >> 4)

    # --- the hour, and the hours

    def _judge(self, quarter: int, mean: int):
        """Hold a mean of the last hour against what is usual."""
        numbers = self.numbers
        off = mean - self._expected(quarter, _LOCATION) - numbers[_LEVEL]
        hour = quarter // _QUARTERS % _HOURS
        is_known = min(self._seen(hour), self._seen((hour - 1) % _HOURS)) >= _LEAST_SEEN
        found = self._score(quarter, off) if is_known else None
        if self._quarters < 0 and not self._over:
            numbers[_LEVEL] += off // (_LEVEL_QUARTERS if is_known else 16)
        return found

    def _score(self, quarter: int, off: int):
        spread = self._spread(quarter)
        limit = self.limit(HOUR)
        score = (off << 8) // spread
        clipped = max(-limit, min(limit, score))
        self._mean_score += (clipped - self._mean_score) // _HOURS_QUARTERS
        hours, score = abs(self._mean_score), abs(score)
        self._largest[HOUR] = max(self._largest[HOUR], score)
        self._largest[HOURS] = max(self._largest[HOURS], hours)
        if not self.is_learned:
            return None
        hours_limit = self.limit(HOURS)
        if self._quarters >= 0:
            return self._go_on(
                off, min(score, hours) * 8 < hours_limit * 5 if self._what == HOURS else score * 8 < limit * 5
            )
        self._over = self._over + 1 if score >= limit else 0
        if hours < hours_limit and self._over < 2 and score < 2 * limit:
            return None
        what = HOURS if hours >= hours_limit and self._over < 2 else HOUR
        self._begin(quarter, off, spread, what)
        return what

    def _begin(self, quarter: int, off: int, spread: int, what: int) -> None:
        self._quarters = self._quiet = 0
        self._what = what
        self._staying = off
        middle = self._expected(quarter, _LOCATION) + self.numbers[_LEVEL]
        self._remember(middle, spread * self.limit(what) >> 8)

    def _remember(self, middle: int, reach: int) -> None:
        shift = self.numbers[_SHIFT]
        self.usual = (middle - reach) >> shift, (middle + reach + (1 << shift) - 1) >> shift

    def _go_on(self, off: int, is_usual: bool):
        """Whether what is unusual ends: it is usual for an hour again, or has stayed for a day."""
        self._quarters += 1
        self._staying += (off - self._staying) // 16
        self._quiet = self._quiet + 1 if is_usual else 0
        if self._quiet < _QUARTERS and self._quarters < _STAYS:
            return None
        if self._quiet < _QUARTERS:
            self.numbers[_LEVEL] += self._staying
            self._move_days(self._staying)
        self._quarters = -1
        self._over = self._mean_score = 0
        return False

    def _end_hour(self, hour: int, mean: int) -> None:
        """Learn from an hour of the day."""
        numbers = self.numbers
        self._day_sum += mean
        self._day_hours += 1
        if self._quarters >= 0:
            return
        seen = min(self._seen(hour) + 1, 127)
        numbers[_SEEN + hour // 4] += (seen - self._seen(hour)) << hour % 4 * 7
        off = mean - numbers[_LEVEL] - numbers[_LOCATION + hour]
        spread = numbers[_SPREAD + hour]
        if seen > _LEAST_SEEN:
            most = _CLIP * spread + self._least()
            off = max(-most, min(most, off))
        numbers[_LOCATION + hour] += off // min(seen, _LOCATION_DAYS)
        more = abs(off) * 5 // 4 - spread
        numbers[_SPREAD + hour] += more // min(seen, _SPREAD_UP if more > 0 else _SPREAD_DOWN)

    # --- the day

    def end_day(self):
        """Take in that a day is over: DAY if it drifts away, False if it does so no more, else None."""
        numbers = self.numbers
        numbers[_AGE] += 1
        for at in (REST, GAP):
            numbers[at] -= numbers[at] // 64  # slowly: a rare one is usual for months
        if max(self._largest):
            for what in (HOUR, HOURS):
                self._learn_limit(what, self._largest[what], numbers[_LEARNED])
            numbers[_LEARNED] += 1
        self._largest = [0, 0]
        self._fullest = [0, self._fullest[0]]
        found = None
        if self._day_hours >= _LEAST_HOURS:
            mean = self._day_sum // self._day_hours
            self.day_mean = self._rounded(mean)
            found = self._judge_day(mean)
        self._day_sum = self._day_hours = 0
        return found

    def _learn_limit(self, what: int, largest: int, days: int) -> None:
        """Let a limit follow what one day in nine exceeds."""
        limit = self.numbers[_LIMIT + what]
        times = 3 if days < _QUICK else 1
        if largest > limit:
            limit += times * limit * 5 >> 6
        elif limit * _ABOVE[what] > _LOWEST[what] * 8:
            limit -= times * limit * 41 >> 12
        self.numbers[_LIMIT + what] = min(limit, _LARGEST)

    def _judge_day(self, mean: int):
        numbers = self.numbers
        count = min(numbers[_DAYS], _MOST_DAYS)
        found = None
        if count * 2 >= _MOST_DAYS:
            means = sorted(numbers[_DAY : _DAY + count])
            middle = means[count // 2]
            spread = sorted([abs(value - middle) for value in means])[count // 2] * 3 // 2
            more = spread - numbers[_DAY_SPREAD]
            numbers[_DAY_SPREAD] += more // (
                1 if not numbers[_DAY_SPREAD] else _SPREAD_UP if more > 0 else _SPREAD_DOWN
            )
            found = self._judge_drift(mean - middle, middle, max(spread, numbers[_DAY_SPREAD], 2 * self._least()))
        if numbers[_OFF] < 2:
            numbers[_DAY + numbers[_DAYS] % _MOST_DAYS] = mean
            numbers[_DAYS] += 1
        return found

    def _judge_drift(self, off: int, middle: int, spread: int):
        numbers = self.numbers
        score, limit = abs((off << 8) // spread), self.limit(DAY)
        days = numbers[_LEARNED + 1]
        self._learn_limit(DAY, score, days)
        numbers[_LEARNED + 1] += 1
        if numbers[_OFF] >= 2:
            numbers[_OFF] += 1
            if score * 8 >= limit * 5 and numbers[_OFF] < _STAYS_DAYS:
                return None
            if score * 8 >= limit * 5:
                self._move_days(off)
            numbers[_OFF] = 0
            return False
        numbers[_OFF] = numbers[_OFF] + 1 if score >= limit and days >= _LEAST_LEARNED else 0
        if numbers[_OFF] < 2:
            return None
        self._remember(middle, spread * limit >> 8)
        return DAY

    def _move_days(self, off: int) -> None:
        """What stays is usual from now on."""
        for at in range(_DAY, _DAY + _MOST_DAYS):
            self.numbers[at] += off
