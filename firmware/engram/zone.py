"""A time zone with daylight saving, by a POSIX rule as in the time zone database:
"CET-1CEST,M3.5.0,M10.5.0/3".

Dates are weekdays of a month only, as in the database.
"""

from engram.clock import civil, days_from_civil
from engram.compat import const

_DAY = const(86400)
_MOST_HOURS = const(24)  # of an offset
_MOST_CHANGE = const(167)  # hours before or after midnight at which the clocks change
_MOST_STANDARD = const(840)  # minutes: what the link's messages take
_CHANGE_AT = const(7200)  # 2:00, if the rule names no time
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OFFSET = b"+-:0123456789"
_EVER = const(1 << 40)  # seconds: beyond all moments


class Zone:
    """A time zone with daylight saving; ValueError. `standard` is in minutes east."""

    def __init__(self, rule: str):
        self.rule = rule
        names, *dates = rule.encode().split(b",")
        name, offset, daylight_name, daylight_offset = _split_names(names)
        self.standard = _minutes_east(offset)
        self._daylight = _minutes_east(daylight_offset) if daylight_offset else self.standard + 60
        self._dates = [_read_date(date) for date in dates]
        # "UTC+1" is a valid rule, but west of Greenwich, which nobody means by it.
        is_mistaken = self.standard and name in (b"UTC", b"GMT")
        if is_mistaken or abs(self.standard) > _MOST_STANDARD or len(dates) != (2 if daylight_name else 0):
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


def _split_names(data: bytes) -> list:
    """Return name and offset of standard time, and of daylight saving time."""
    found = []
    for _ in range(2):
        if data[:1] == b"<":
            name, _, data = data[1:].partition(b">")
        else:
            name, data = _split_run(data, _LETTERS)
        offset, data = _split_run(data, _OFFSET)
        found += [name, offset]
        if len(name) < 3 and (name or len(found) == 2):
            raise ValueError
    if data:
        raise ValueError
    return found


def _split_run(data: bytes, allowed: bytes) -> tuple:
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
