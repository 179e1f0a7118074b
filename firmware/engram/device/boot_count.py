"""Counts failed starts in a row and notes a running watchdog, at the end of the RTC's memory. It outlives
every reset but a loss of power, which costs no flash and lets a person reset the count.
"""

import machine

BAD_STARTS = const(3)  # in a row: the next start is without the app

_MARK = const(b"Engram")
_ROOM = const(2048)  # bytes of the RTC's memory
_SIZE = const(9)  # bytes: the mark, the count, the watchdog's seconds in two, low byte first
_HIGHEST = const(255)


def count() -> int:
    """Count this start as bad until proven good; return the number of bad starts before it."""
    bad, seconds, others = _recall()
    if machine.reset_cause() == machine.PWRON_RESET:
        bad = 0
    _keep(min(bad + 1, _HIGHEST), seconds, others)
    return bad


def set_bad(bad: int) -> None:
    _, seconds, others = _recall()
    _keep(bad, seconds, others)


def watchdog() -> int:
    """Return the seconds of a watchdog that outlives a soft reset, 0 without one."""
    return _recall()[1] if machine.reset_cause() == machine.SOFT_RESET else 0


def set_watchdog(seconds: int) -> None:
    bad, _, others = _recall()
    _keep(bad, seconds, others)


def _recall() -> tuple:
    """Return (bad starts, watchdog seconds or 0, other bytes in the RTC's memory)."""
    data = machine.RTC().memory()
    if data[-_SIZE:-3] != _MARK:
        return 0, 0, data
    return data[-3], data[-2] | data[-1] << 8, data[:-_SIZE]


def _keep(bad: int, seconds: int, others: bytes) -> None:
    machine.RTC().memory(others[: _ROOM - _SIZE] + _MARK + bytes((bad, seconds & 0xFF, seconds >> 8)))
