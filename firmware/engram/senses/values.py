"""Readings as scaled integers, their aggregates, and names of senses. A sense with `decimals` keeps
round(value * 10**decimals), as a chip's floats are single precision.
"""

from engram.errors import ArgumentError
from engram.memory.access import tag
from engram.schema_check import check

_NAME = {"type": "string", "maxLength": 32, "format": "line"}
MINUTE = const(60)
HOUR = const(3600)
DAY = const(86400)

_HIGHEST = (1 << 30) - 1  # what rows.py can shift into 16 bits


def scale(value, decimals: int) -> int:
    """Return a reading as a scaled integer; ArgumentError if it is not finite or too large."""
    if isinstance(value, bool):
        value = int(value)
    check("value", value, "number")
    scaled = value * 10**decimals  # infinite where a large one becomes too large for a float
    if not -_HIGHEST <= scaled <= _HIGHEST:
        problem = "is too large: with %d decimals up to %d fit."
        raise ArgumentError("value", problem % (decimals, _HIGHEST // 10**decimals))
    return round(scaled)


def value_text(scaled: int, decimals: int) -> str:
    """Return a scaled integer as text, such as "-0.5"."""
    if not decimals:
        return str(scaled)
    whole, part = divmod(abs(scaled), 10**decimals)
    digits = str(part)
    return "%s%d.%s" % ("-" if scaled < 0 else "", whole, "0" * (decimals - len(digits)) + digits)


# Readings that are added up are a list [count, min, max, sum, last]; an aggregate is
# (count, min, max, mean, last).


def add_to(found: dict, slot, aggregate) -> None:
    """Add an aggregate to the sums of its slot; the later one sets the last reading."""
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
    count, low, high, amount, last = total
    return count, low, high, (2 * amount + count) // (2 * count), last


def check_name(name) -> str:
    check("name", name, _NAME)
    if not tag(name):
        raise ArgumentError("name", "has no letter or digit.")
    return " ".join(name.split())
