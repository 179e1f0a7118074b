"""Readings as scaled integers, and what many of them are together.

A sense with `decimals` keeps round(value * 10**decimals), since a chip's floats are single precision.
"""

from engram.compat import const
from engram.errors import ArgumentError

MINUTE = const(60)
HOUR = const(3600)
DAY = const(86400)

LEVELS = ("minute", "hour", "day")
MINUTE_LEVEL, HOUR_LEVEL, DAY_LEVEL = 0, 1, 2

UNPLACED = const(1 << 30)
"""Times below are seconds since the start, of readings that wait for the clock to be set."""

_HIGHEST = (1 << 30) - 1  # what rows.py can shift into 16 bits


def scale(value, decimals: int) -> int:
    """A reading as an integer; ArgumentError if it is no finite number, or too large."""
    if isinstance(value, float):
        if value - value != 0:
            raise ArgumentError("value", "must be a finite number.")
        scaled = value * 10**decimals  # infinite where a large one becomes too large for a float
        scaled = round(scaled) if scaled - scaled == 0 else _HIGHEST + 1
    elif isinstance(value, (int, bool)):  # on MicroPython True is no int
        scaled = int(value) * 10**decimals
    else:
        raise ArgumentError("value", "must be a number.")
    if not -_HIGHEST <= scaled <= _HIGHEST:
        raise ArgumentError(
            "value", "is too large: with %d decimals up to %d fit." % (decimals, _HIGHEST // 10**decimals)
        )
    return scaled


def value_text(scaled: int, decimals: int) -> str:
    """A scaled integer as people read it, such as "-0.5"."""
    if not decimals:
        return str(scaled)
    whole, part = divmod(abs(scaled), 10**decimals)
    digits = str(part)
    return "%s%d.%s" % ("-" if scaled < 0 else "", whole, "0" * (decimals - len(digits)) + digits)


# Readings that are added up are a list [count, min, max, sum, last]; an aggregate is (count, min, max, mean, last).


def add_to(found: dict, slot, aggregate) -> None:
    """Add an aggregate to those found, by slot; what is added later has the last reading."""
    count, low, high, mean, last = aggregate
    total = found.get(slot)
    if total is None:
        found[slot] = [count, low, high, count * mean, last]
        return
    total[0] += count
    if low < total[1]:
        total[1] = low
    if high > total[2]:
        total[2] = high
    total[3] += count * mean
    total[4] = last


def aggregate_of(total) -> tuple:
    """The aggregate of readings that were added up."""
    count, low, high, amount, last = total
    return count, low, high, (2 * amount + count) // (2 * count), last
