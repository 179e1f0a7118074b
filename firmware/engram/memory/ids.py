"""Ids: m12 is the record whose first line has seq 12, t7 a turn, s3 a session. The number never changes,
so that a lookup needs no map.
"""

from engram import text
from engram.errors import ArgumentError

_MOST_DIGITS = const(9)

KINDS = {"m": "a memory", "t": "a turn", "s": "a session"}


def number_of(fields: dict, kind: str) -> int:
    """Return the number in an id field, 0 if it is no id of the kind."""
    ref = fields.get("id")
    digits = text.encode(ref[1:]) if isinstance(ref, str) and ref[:1] == kind else b""
    return int(digits) if digits.isdigit() and len(digits) <= _MOST_DIGITS else 0


def number(argument: str, value, kind: str) -> int:
    """Return the number in an id such as "m12"; ArgumentError."""
    if isinstance(value, str):
        # Bytes, since str.isdigit accepts more digits than int() on CPython.
        digits = text.encode(value.strip())
        if digits[:1].lower() == kind.encode() and len(digits) - 1 <= _MOST_DIGITS and digits[1:].isdigit():
            return int(digits[1:])
    shown = value[:40] if isinstance(value, str) and value else "this"
    raise ArgumentError(argument, "%s is not the id of %s, which looks like %s12." % (shown, KINDS[kind], kind))
