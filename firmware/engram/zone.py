"""A time zone with daylight saving, by a rule as POSIX and RFC 8536 have it: "CET-1CEST,M3.5.0,M10.5.0/3".

The last line of a file of the time zone database is such a rule. Loaded only where the setting `timezone` has one.
"""

from engram.clock import civil, days_from_civil
from engram.compat import const

_DAY = const(86400)
_MOST_HOURS = const(24)  # of an offset
_MOST_CHANGE = const(167)  # hours before or after midnight at which the clocks change
_MOST_STANDARD = const(840)  # minutes: what the link's messages take
_CHANGE_AT = const(7200)  # 2:00, if the rule names no time
_MARCH = const(59)  # days before it in a common year
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_EVER = const(1 << 40)  # seconds: beyond all moments


class Zone:
    """The offset from UTC at each moment; ValueError if the rule is none. `standard` is that of standard time, minutes east."""

    def __init__(self, rule: str):
        self.rule = rule
        reader = _Reader(rule)
        name = reader.name()
        self.standard = self._daylight = reader.offset()
        self._dates = ()
        if reader.has_more():
            reader.name()
            if reader.takes(b","):
                self._daylight += 60
            else:
                self._daylight = reader.offset()
                reader.expect(b",")
            begins = reader.date()
            reader.expect(b",")
            self._dates = begins, reader.date()
        # "UTC+1" is a rule, but of the side of Greenwich that nobody means by it.
        if reader.has_more() or abs(self.standard) > _MOST_STANDARD or (self.standard and name in (b"UTC", b"GMT")):
            raise ValueError(rule)
        self._span = (0, 0, 0)  # the latest one; replaced as a whole, so that threads may share a zone

    def offset_minutes(self, at: int) -> int:
        """Minutes east of Greenwich at a moment."""
        return self.span_of(at)[2]

    def moment(self, local: int) -> int:
        """Unix seconds of a local time that is counted as if it were UTC: the first if it comes twice, the end of the gap if
        it is left out.
        """
        least, most = min(self.standard, self._daylight), max(self.standard, self._daylight)
        for minutes in (most, least):
            at = local - minutes * 60
            if self.offset_minutes(at) == minutes:
                return at
        return self.span_of(local - least * 60)[0]

    def span_of(self, at: int) -> tuple:
        """(first, end, minutes east) of a time with one offset, in which a moment is."""
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
    """Return when the clocks change in a year, in local time counted as if it were UTC."""
    month, week, day, seconds = date
    first = days_from_civil(year, month, 1)
    if week:
        day = first + (day - first - 4) % 7 + 7 * week - 7  # 1970-01-01 was a Thursday
        if day >= days_from_civil(year, month + 1, 1):
            day -= 7  # the fifth one is the last one
    else:
        day += first
    return day * _DAY + seconds


class _Reader:
    """Reads a rule part by part; ValueError if it goes on with another one."""

    def __init__(self, rule: str):
        self._left = rule.encode()

    def has_more(self) -> bool:
        return bool(self._left)

    def takes(self, sign: bytes) -> bool:
        """Pass over a sign, if it comes next."""
        is_next = self._left[:1] == sign
        if is_next:
            self._left = self._left[1:]
        return is_next

    def expect(self, sign: bytes) -> None:
        if not self.takes(sign):
            raise ValueError

    def name(self) -> bytes:
        is_quoted = self.takes(b"<")
        name = self._run(_LETTERS + b"0123456789+-" if is_quoted else _LETTERS)
        if is_quoted:
            self.expect(b">")
        if len(name) < 3:
            raise ValueError
        return name

    def offset(self) -> int:
        """Minutes east of Greenwich: the rule counts to the west."""
        seconds = self._seconds(_MOST_HOURS)
        if seconds % 60:
            raise ValueError
        return -seconds // 60

    def date(self) -> tuple:
        """(month, week, day, seconds after midnight) of a change; without a week the day is added to the first of the month."""
        week = 0
        if self.takes(b"M"):
            month = self._number(1, 12)
            self.expect(b".")
            week = self._number(1, 5)
            self.expect(b".")
            day = self._number(0, 6)
        elif self.takes(b"J"):  # 29 February is not counted
            day = self._number(1, 365) - 1
            month = 3 if day >= _MARCH else 1
            day -= _MARCH if day >= _MARCH else 0
        else:
            month, day = 1, self._number(0, 365)
        return month, week, day, self._seconds(_MOST_CHANGE) if self.takes(b"/") else _CHANGE_AT

    def _seconds(self, hours: int) -> int:
        is_negative = self.takes(b"-")
        if not is_negative:
            self.takes(b"+")
        seconds = 3600 * self._number(0, hours)
        for unit in (60, 1):
            if not self.takes(b":"):
                break
            seconds += unit * self._number(0, 59)
        return -seconds if is_negative else seconds

    def _number(self, least: int, most: int) -> int:
        number = int(self._run(b"0123456789"))
        if not least <= number <= most:
            raise ValueError
        return number

    def _run(self, allowed: bytes) -> bytes:
        end = 0
        while end < len(self._left) and self._left[end] in allowed:
            end += 1
        run, self._left = self._left[:end], self._left[end:]
        return run
