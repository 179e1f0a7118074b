"""Counts a board's failed starts in a row, and notes whether the watchdog runs.

It stands at the end of the RTC's memory, which outlives every reset but not a loss of power: no wear of the flash, and a
person who pulls the plug resets the count. What else is in there stays.
"""

import machine

from engram.compat import const

BAD_STARTS = const(3)  # in a row: the next start is without the app

_MARK = const(b"Engram")
_ROOM = const(2048)  # bytes of the RTC's memory
_SIZE = const(9)  # bytes: the mark, the count, the watchdog's seconds in two, low byte first
_HIGHEST = const(255)


def count() -> int:
    """Count this start as a bad one, until it is known better; how many there were before it, without a good one."""
    bad, seconds, others = _recall()
    if machine.reset_cause() == machine.PWRON_RESET:
        bad = 0
    _keep(min(bad + 1, _HIGHEST), seconds, others)
    return bad


def set_bad(bad: int) -> None:
    """Set how many starts count as bad: 0 when this one has ended well."""
    _, seconds, others = _recall()
    _keep(bad, seconds, others)


def watchdog() -> int:
    """The seconds of a watchdog that runs still after a soft reset, 0 if there is none."""
    return _recall()[1] if machine.reset_cause() == machine.SOFT_RESET else 0


def set_watchdog(seconds: int) -> None:
    """Note that the watchdog runs."""
    bad, _, others = _recall()
    _keep(bad, seconds, others)


def _recall() -> tuple:
    """(bad starts, the watchdog's seconds or 0, what others keep in the RTC's memory)."""
    data = machine.RTC().memory()
    if data[-_SIZE:-3] != _MARK:
        return 0, 0, data
    return data[-3], data[-2] | data[-1] << 8, data[:-_SIZE]


def _keep(bad: int, seconds: int, others: bytes) -> None:
    machine.RTC().memory(others[: _ROOM - _SIZE] + _MARK + bytes((bad, seconds & 0xFF, seconds >> 8)))
