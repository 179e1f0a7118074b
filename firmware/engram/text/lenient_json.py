"""JSON as models write it, where it has one meaning only.

Taken are a value in a string or in a fence, Python's quotes and words, line ends in strings, a comma too many, and whatever
follows one whole value, as long as it holds no other one.
"""

from engram.text import strict_json
from engram.text.utf8 import encode

_OPENING = {dict: b"{", list: b"["}
_STRINGS = 2
"""Maximum nesting of a value in strings."""


def loads(written: str, kind):
    """Return the only dict or list in a text (`null` is empty); ValueError."""
    value = written
    for _ in range(_STRINGS + 1):
        if not isinstance(value, str):
            break
        value = _value(encode(value), kind)
    if value is None:
        value = kind()
    if not isinstance(value, kind):
        raise ValueError("JSON: this is another kind of value")
    return value


def _value(data: bytes, kind):
    try:
        return strict_json.loads(data)
    except ValueError:
        return _only(data, _OPENING[kind])


def _only(data: bytes, opening: bytes):
    at = data.find(opening)
    before = data[: max(at, 0)].strip()
    if at < 0 or (before and b"```" not in before):
        raise ValueError("JSON: there is no value")
    value, at = strict_json.read_lenient(data, at)
    while True:
        at = data.find(opening, at)
        if at < 0:
            return value
        other, at = strict_json.read_lenient(data, at)
        # Some services send {} before the arguments, or all of them twice.
        if value and other and value != other:
            raise ValueError("JSON: there are two values")
        value = value or other
