"""The moments of a timer, by the fields of its line, and their text for people.

    {"due": ..}                            once
    {"due": .., "minute": 480, "days": 31} at a minute of the local day, on days of the week; bit 0 is Monday
    {"due": .., "every": 30}               every 30 minutes, counted from `due`

Local times follow the zone's rule: a day has each of its minutes once (see Clock.moment), whatever daylight saving does.
"""

from engram.clock import duration
from engram.compat import const

_DAYS = {127: "every day", 31: "on weekdays", 96: "on weekends"}
_WEEK = const(7)
_SLACK = const(7200)  # seconds by which a period may grow when clocks are set
_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"


def next_after(fields: dict, clock, at: int) -> int:
    """Return the first due moment after `at`, 0 without a repeat."""
    if "every" in fields:
        step = fields["every"] * 60
        due = fields["due"]
        return due + ((at - due) // step + 1) * step if at >= due else due - (due - at - 1) // step * step
    if "minute" in fields:
        day = clock.day_number(at) - 1  # where a gap moves a moment to the next day
        while True:
            due = clock.moment(day, fields["minute"])
            if due > at and fields["days"] >> weekday(day) & 1:
                return due
            day += 1
    return 0


def newest(fields: dict, clock, now: int) -> int:
    """Return the latest due moment up to `now`."""
    due = fields["due"]
    if "every" in fields:
        return next_after(fields, clock, now) - fields["every"] * 60
    following = next_after(fields, clock, due)
    while 0 < following <= now:
        due, following = following, next_after(fields, clock, following)
    return due


def is_misplaced(fields: dict, clock, now: int) -> bool:
    """True if a repeating timer's next moment is wrong, after a change of clock or zone."""
    due = fields["due"]
    if due <= now:
        return False
    if "every" in fields:
        return due > now + fields["every"] * 60 + _SLACK
    if "minute" in fields:
        return due != next_after(fields, clock, now)
    return False


def weekday(day: int) -> int:
    return (day + 3) % _WEEK


def describe(fields: dict, clock) -> str:
    due = fields["due"]
    if "words" in fields:
        return "when %s comes up" % fields["words"]
    if "every" in fields:
        return "every %s, next %s" % (duration(fields["every"] * 60), moment_name(clock, due))
    if "minute" in fields:
        minute = fields["minute"]
        often = _days_name(fields["days"]), minute // 60, minute % 60
        return "%s at %02d:%02d, next %s" % (often + (moment_name(clock, due),))
    return "on " + moment_name(clock, due)


def moment_name(clock, at: int) -> str:
    """Return a moment such as "Friday 2026-11-27 08:00"."""
    return _NAMES.split(" ")[weekday(clock.day_number(at))] + " " + clock.minute(at)


def _days_name(days: int) -> str:
    names = _NAMES.split(" ")
    return _DAYS.get(days) or "every " + ", ".join([names[at] for at in range(_WEEK) if days >> at & 1])
