"""Readings as scaled integers, what many of them are together, and names of senses.

A sense with `decimals` keeps round(value * 10**decimals), since a chip's floats are single precision.
"""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError
from engram.text.unicode_fold import fold

NAME_CHARS = const(32)
UNIT_CHARS = const(8)
MOST_DECIMALS = const(3)
MINUTE = const(60)
HOUR = const(3600)
DAY = const(86400)

LEVELS = ("minute", "hour", "day")
MINUTE_LEVEL, HOUR_LEVEL, DAY_LEVEL = 0, 1, 2

_FIRST_WIDE = const(0x80)  # the first byte that is not ASCII
_HIGHEST = (1 << 30) - 1  # what rows.py can shift into 16 bits


def scale(value, decimals: int) -> int:
    """Return a reading as an integer; ArgumentError if it is no finite number, or too large."""
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
        problem = "is too large: with %d decimals up to %d fit."
        raise ArgumentError("value", problem % (decimals, _HIGHEST // 10**decimals))
    return scaled


def value_text(scaled: int, decimals: int) -> str:
    """Return a scaled integer as people read it, such as "-0.5"."""
    if not decimals:
        return str(scaled)
    whole, part = divmod(abs(scaled), 10**decimals)
    digits = str(part)
    return "%s%d.%s" % ("-" if scaled < 0 else "", whole, "0" * (decimals - len(digits)) + digits)


# Readings that are added up are a list [count, min, max, sum, last]; an aggregate is
# (count, min, max, mean, last).


def add_to(found: dict, slot, aggregate) -> None:
    """Add an aggregate to the sums in `found`, by slot; the later one has the last reading."""
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
    """Return the aggregate of readings that were added up."""
    count, low, high, amount, last = total
    return count, low, high, (2 * amount + count) // (2 * count), last


def key_of(name: str) -> str:
    """Return the form in which names are compared: without case, accents and points."""
    data = text.encode(name).lower()
    if any(byte >= _FIRST_WIDE for byte in data):
        data = fold(data)
    return "/".join([str(word, "utf-8") if word[0] < _FIRST_WIDE else repr(word) for word in data.split()])


def check_name(name) -> str:
    """Return a sense's name without needless spaces; ArgumentError if it cannot be one."""
    plain = " ".join(text.printable(name).split()) if isinstance(name, str) else ""
    if not plain or plain != " ".join(name.split()):
        raise ArgumentError("name", "must be a text without control characters, such as bedroom temperature.")
    if len(plain) > NAME_CHARS:
        raise ArgumentError("name", "has %d characters, at most %d fit: make it shorter." % (len(plain), NAME_CHARS))
    if not key_of(plain):
        raise ArgumentError("name", "has no letter or digit.")
    return plain


def check_unit(unit) -> str:
    """Return a unit; ArgumentError if it cannot be one."""
    if not isinstance(unit, str) or len(unit) > UNIT_CHARS or text.printable(unit) != unit:
        raise ArgumentError("unit", "must be a text of at most %d characters, such as °C." % UNIT_CHARS)
    return unit
