"""The time as Unix seconds, whether it is known, and days of the configured time zone.

MicroPython counts from 2000 on the chip and from 1970 on the unix port; here it is always 1970. Until the
clock is set (by NTP or a person) `known` is False, and time continues from the latest moment on flash to keep
the order.
"""

import random
import time

from engram.compat import ticks_add, ticks_diff, ticks_ms

_DAY = const(86400)
_SET_SINCE = const(1704067200)  # 2024-01-01: an earlier reading means an unset clock
_MOST_HOURS = const(24)  # of a zone's offset
_MOST_CHANGE = const(167)  # hours before or after midnight at which the clocks change
_MOST_STANDARD = const(840)  # minutes: what the link's messages take
_CHANGE_AT = const(7200)  # 2:00, if the rule names no time
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OFFSET = b"+-:0123456789"
_EVER = const(1 << 40)  # seconds: beyond all moments

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip


class Clock:
    """A clock; `source` replaces the machine's in tests, `zone` adds daylight saving."""

    def __init__(self, zone_minutes: int = 0, source=None, zone=None):
        self.zone_minutes = zone_minutes
        self.zone = zone
        self._source = source
        self._offset = 946684800 if time.gmtime(0)[0] == 2000 else 0
        self._floor = _SET_SINCE
        self._floor_ticks = ticks_ms()
        self._is_guessing = True
        self.guess_error = 0
        """Seconds by which earlier guesses were behind, once the clock is set."""

    def _machine(self) -> int:
        return self._source() if self._source else int(time.time()) + self._offset

    @property
    def known(self) -> bool:
        return self._machine() >= _SET_SINCE

    def now(self) -> int:
        """Return Unix seconds; an ordered guess while the clock is not set."""
        reading = self._machine()
        is_known = reading >= _SET_SINCE
        if is_known and not self._is_guessing:
            return reading
        ticks = ticks_ms()
        passed = ticks_diff(ticks, self._floor_ticks) // 1000
        if passed > 0:
            # Moved on at each reading: the tick counter wraps within days.
            self._floor += passed
            self._floor_ticks = ticks
        if is_known:
            self._is_guessing = False
            self.guess_error = reading - self._floor
            return reading
        return self._floor

    def not_before(self, at: int) -> None:
        """Note a moment that has certainly passed, such as the latest on flash."""
        if at > self._floor:
            self._floor = at
            self._floor_ticks = ticks_ms()

    def offset_minutes(self, at: int) -> int:
        """Return minutes east of Greenwich at a moment."""
        return self.zone.offset_minutes(at) if self.zone else self.zone_minutes

    def day(self, at: int) -> str:
        """Return the local day of a moment, such as "2026-01-31"."""
        return day_name(self.day_number(at))

    def day_number(self, at: int) -> int:
        """Return the local day of a moment, counted from 1970-01-01."""
        return (at + self.offset_minutes(at) * 60) // _DAY

    def minute(self, at: int) -> str:
        """Return a moment in local time, such as "2026-01-31 14:05"."""
        local = at + self.offset_minutes(at) * 60
        second = local % _DAY
        return "%s %02d:%02d" % (day_name(local // _DAY), second // 3600, second // 60 % 60)

    def start_of(self, day: str, after: int = 0) -> int:
        """Return Unix seconds of a local day's start, or of one `after` days later; ValueError."""
        return self.moment(day_number(day) + after)

    def moment(self, day: int, minute: int = 0) -> int:
        """Return Unix seconds of a local minute: the first of two, or the end of a skipped hour."""
        local = day * _DAY + minute * 60
        return self.zone.moment(local) if self.zone else local - self.zone_minutes * 60


class Moment:
    """A moment of this run; its day is known once the clock is set."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._at = clock.now()
        self._is_guess = not clock.known

    @property
    def age(self) -> int:
        """Return how many seconds ago it was."""
        return max(0, self._clock.now() - self._right())

    def since(self) -> str:
        """Return "since 2026-01-31 14:05", or "for 3 min" without a day."""
        return "since " + self._clock.minute(self._right()) if self._clock.known else "for " + duration(self.age)

    def _right(self) -> int:
        self._clock.now()  # which finds that it is set
        return self._at + (self._clock.guess_error if self._is_guess else 0)


class Timeout:
    """A restartable timeout, over before its first start."""

    def __init__(self):
        self._until = None

    def begin(self, milliseconds: int) -> None:
        self._until = ticks_add(ticks_ms(), milliseconds)

    def end(self) -> None:
        self._until = None

    @property
    def left_ms(self) -> int:
        left = 0 if self._until is None else ticks_diff(self._until, ticks_ms())
        if left <= 0:
            self._until = None  # for good: the counter of ticks wraps after some days
        return max(0, left)

    @property
    def is_over(self) -> bool:
        return not self.left_ms


class Backoff:
    """Pauses growing from `first_ms` to `longest_ms`, each randomly shortened by up to half."""

    def __init__(self, first_ms: int = 1000, longest_ms: int = 60_000):
        self._first_ms = first_ms
        self._longest_ms = longest_ms
        self._pause_ms = 0

    def next_ms(self) -> int:
        """Count a failure; return the next pause."""
        self._pause_ms = min(2 * self._pause_ms or self._first_ms, self._longest_ms)
        half = self._pause_ms // 2
        return half + random.getrandbits(10) * half // 1023

    def reset(self) -> None:
        self._pause_ms = 0


def civil(days: int) -> tuple:
    """Return (year, month, day); source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"."""
    days += 719468
    era = days // 146097
    of_era = days - era * 146097
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    day = of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01, the inverse of `civil` from the same source."""
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + of_year - 719468


def day_name(days: int) -> str:
    """Return a number of days since 1970-01-01 as "2026-01-31"."""
    return "%04d-%02d-%02d" % civil(days)


def day_number(name: str) -> int:
    """Return days since 1970-01-01 of a day such as "2026-01-31"; ValueError."""
    parts = name.encode().split(b"-")  # as bytes, since str.isdigit knows more digits than int() on CPython
    if len(name) == 10 and len(parts) == 3 and b"".join(parts).isdigit():
        days = days_from_civil(int(parts[0]), int(parts[1]), int(parts[2]))
        if day_name(days) == name:
            return days
    raise ValueError(name)


def duration(seconds: int) -> str:
    """Return some seconds in words, such as "45 min", "3 h 5 min" or "2 days"."""
    minutes = (seconds + 30) // 60
    hours, rest = minutes // 60, minutes % 60
    if not hours:
        return "%d min" % minutes
    if hours >= 48:
        return "%d days" % (hours // 24)
    return "%d h %d min" % (hours, rest) if rest else "%d h" % hours


def zone_minutes(zone: str) -> int:
    """Return minutes east of Greenwich of a zone such as "+05:30"; ValueError."""
    data = zone.encode()
    if len(data) != 6 or data[:1] not in (b"+", b"-") or data[3:4] != b":":
        raise ValueError(zone)
    return _seconds(data, 14) // 60


# --- time zones with daylight saving


class Zone:
    """A time zone by a POSIX rule such as "CET-1CEST,M3.5.0,M10.5.0/3"; ValueError. `standard` is in minutes east."""

    def __init__(self, rule: str):
        self.rule = rule
        names, *dates = rule.encode().split(b",")
        name, offset, names = _split_name(names)
        daylight_name, daylight_offset, rest = _split_name(names)
        is_whole = len(name) > 2 and (len(daylight_name) > 2 or not names) and not rest
        self.standard = _minutes_east(offset)
        self._daylight = _minutes_east(daylight_offset) if daylight_offset else self.standard + 60
        self._dates = [_read_date(date) for date in dates]
        # "UTC+1" is a valid rule, but west of Greenwich, which nobody means by it.
        is_mistaken = self.standard and name in (b"UTC", b"GMT")
        is_whole = is_whole and len(dates) == (2 if daylight_name else 0)
        if not is_whole or is_mistaken or abs(self.standard) > _MOST_STANDARD:
            raise ValueError(rule)
        self._span = (0, 0, 0)  # the latest one; replaced as a whole, so that threads may share a zone

    def offset_minutes(self, at: int) -> int:
        return self.span_of(at)[2]

    def moment(self, local: int) -> int:
        """Return Unix seconds of a local time: the first of two, or the end of a gap."""
        least, most = min(self.standard, self._daylight), max(self.standard, self._daylight)
        for minutes in (most, least):
            at = local - minutes * 60
            if self.offset_minutes(at) == minutes:
                return at
        return self.span_of(local - least * 60)[0]

    def span_of(self, at: int) -> tuple:
        """Return (first, end, minutes east) of the period around a moment."""
        span = self._span
        if not span[0] <= at < span[1]:
            span = self._span = self._find_span(at)
        return span

    def _find_span(self, at: int) -> tuple:
        if not self._dates:
            return -_EVER, _EVER, self.standard
        begins, ends = self._dates
        year = civil((at + self.standard * 60) // _DAY)[0]
        changes = [(_EVER, 0)]
        for each in (year - 1, year, year + 1):  # a change can be a week away from its date
            changes.append((_local_time(ends, each) - self._daylight * 60, 0))
            changes.append((_local_time(begins, each) - self.standard * 60, 1))
        changes.sort()  # at one moment the end comes first: where all of the year is daylight saving time
        first = end = -_EVER
        is_daylight = 1 - changes[0][1]
        for end, follows in changes:
            if at < end:
                break
            first, is_daylight = end, follows
        return first, end, self._daylight if is_daylight else self.standard


def _local_time(date: tuple, year: int) -> int:
    month, week, weekday, seconds = date
    first = days_from_civil(year, month, 1)
    day = first + (weekday - first - 4) % 7 + 7 * week - 7  # 1970-01-01 was a Thursday
    if day >= days_from_civil(year, month + 1, 1):
        day -= 7  # the fifth one is the last one
    return day * _DAY + seconds


def _split_name(data: bytes) -> tuple:
    """Return (name, offset, rest) of what begins with the name of a time, such as CET-1CEST or <-03>3."""
    if data[:1] == b"<":
        name, _, data = data[1:].partition(b">")
    else:
        name, data = _split_run(data, _LETTERS)
    return (name,) + _split_run(data, _OFFSET)


def _split_run(data: bytes, allowed: bytes) -> tuple:
    """Return (the allowed bytes at the beginning, the rest)."""
    rest = data.lstrip(allowed)
    return data[: len(data) - len(rest)], rest


def _minutes_east(offset: bytes) -> int:
    return -_seconds(offset, _MOST_HOURS) // 60  # the rule counts to the west


def _read_date(data: bytes) -> tuple:
    """Return (month, week, weekday, seconds after midnight) of a change."""
    date, _, time = data.partition(b"/")
    month, week, weekday = date.split(b".")
    if month[:1] != b"M":
        raise ValueError
    seconds = _seconds(time, _MOST_CHANGE) if time else _CHANGE_AT
    return _number(month[1:], 1, 12), _number(week, 1, 5), _number(weekday, 0, 6), seconds


def _seconds(data: bytes, most_hours: int) -> int:
    is_signed = data[:1] in (b"+", b"-")
    hours, _, minutes = data[is_signed:].partition(b":")
    seconds = 3600 * _number(hours, 0, most_hours) + 60 * _number(minutes or b"0", 0, 59)
    return -seconds if data[:1] == b"-" else seconds


def _number(digits: bytes, least: int, most: int) -> int:
    if not digits.isdigit() or not least <= int(digits) <= most:
        raise ValueError
    return int(digits)
