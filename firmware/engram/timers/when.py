"""A time that somebody names, and what it means now.

While it is read it is a dict:

    after                seconds from now
    every                minutes
    days                 the days of the week on which it repeats, bit 0 being Monday
    in_days, weekday, date   a day: from today on, of the week (Monday is 0), or (year or 0, month, day)
    weeks                in how many weeks the weekday is
    minute               of the day, as said; is_exact if it was said with am, pm or the like, or as 20:15
    part                 of the day, one of PARTS
"""

from engram.clock import civil, days_from_civil
from engram.compat import const
from engram.errors import ArgumentError
from engram.timers.schedule import weekday
from engram.timers.wanted import wanted

MORNING, NOON, AFTERNOON, EVENING, NIGHT = 1, 2, 3, 4, 5
_DEFAULTS = const((540, 480, 720, 900, 1140, 1260))
"""The minute of the day where only a day or a part of it is named: that of no part first."""

_HALF_DAY = const(720)
_DAY_MINUTES = const(1440)
_WEEK = const(7)


def is_time(spec: dict) -> bool:
    """Whether what was read is enough for a timer."""
    is_moment = "after" in spec or "every" in spec
    is_day = any(name in spec for name in ("days", "in_days", "weekday", "date", "minute", "part"))
    return is_moment != is_day


def is_full(spec: dict) -> bool:
    """Whether it names a time of the day, or needs none."""
    return "minute" in spec or "after" in spec or "every" in spec


def minute_of(spec: dict) -> int:
    """The minute of the day that is meant."""
    part = spec.get("part", 0)
    minute = spec.get("minute", -1)
    if minute < 0:
        return _DEFAULTS[part]
    if _is_after_midnight(spec):
        return minute % _HALF_DAY
    if minute >= _HALF_DAY or "is_exact" in spec:
        return minute % _DAY_MINUTES
    if part in (AFTERNOON, EVENING) or (part == NIGHT and minute >= 300) or (part == NOON and minute < 300):
        return minute + _HALF_DAY
    return minute


def _is_after_midnight(spec: dict) -> bool:
    """Whether it is said as of a night, which goes on after midnight: 12 at night, tonight at 1."""
    minute, part = spec.get("minute", -1), spec.get("part", 0)
    is_twelve = _HALF_DAY <= minute < _HALF_DAY + 60 and "is_exact" not in spec
    return (is_twelve and part in (EVENING, NIGHT)) or (0 <= minute < 300 and part == NIGHT)


def resolve(kind: str, what: str, spec: dict, clock):
    """The Wanted of a time that was read; ArgumentError if that time has passed or is none."""
    if "after" in spec:
        return wanted(kind, what, after=spec["after"])
    if "every" in spec:
        return wanted(kind, what, every=spec["every"])
    minute = minute_of(spec)
    if "days" in spec:
        days = spec["days"]
        if _is_after_midnight(spec):
            days = (days << 1 | days >> 6) & 127
        return wanted(kind, what, minute=minute, days=days)
    if not clock.known:
        raise ArgumentError("timers", 'the clock is not set yet, so only "in 20 minutes" can be kept, or what repeats.')
    now = clock.now()
    return wanted(kind, what, at=_moment(spec, minute, clock, now))


def _moment(spec: dict, minute: int, clock, now: int) -> int:
    today = clock.day_number(now)
    if _is_after_midnight(spec):
        is_now = spec.get("in_days") == 0 and clock.moment(today, minute) > now  # said in that night
        if is_now or not any(name in spec for name in ("in_days", "weekday", "date")):
            spec = {}
        else:
            minute += _DAY_MINUTES
    if "date" in spec:
        return _on_date(spec["date"], minute, clock, now)
    if "weekday" in spec:
        day = today + (spec["weekday"] - weekday(today)) % _WEEK
        if "weeks" in spec:
            # "Next Monday" in the week that begins with the next Monday, as the Chinese word has it.
            day = today - weekday(today) + _WEEK * spec["weeks"] + spec["weekday"]
        at = clock.moment(day, minute)
        return at if at > now else clock.moment(day + _WEEK, minute)
    at = clock.moment(today + spec.get("in_days", 0), minute)
    # A time that has passed today means tomorrow, unless it was said to be today.
    return at if at > now or "in_days" in spec else clock.moment(today + 1, minute)


def _on_date(date: tuple, minute: int, clock, now: int) -> int:
    named_year, month, day = date
    this_year = civil(clock.day_number(now))[0]
    for year in (named_year,) if named_year else range(this_year, this_year + 5):
        number = days_from_civil(year, month, day)
        if civil(number) == (year, month, day):
            at = clock.moment(number, minute)
            if at > now or named_year:
                return at
    raise ArgumentError("time", "names a day that there is not.")
