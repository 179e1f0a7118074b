"""JSON as models write it, where it has one meaning only.

Taken are a value in a string or in a fence, Python's quotes and words, line ends in strings, a comma too many, and whatever
follows one whole value, as long as it holds no other one.
"""

from engram.text import strict_json
from engram.text.utf8 import encode

_WORDS = {b"True": b"true", b"False": b"false", b"None": b"null"}
_OPENING = {dict: b"{", list: b"["}
_STRINGS = 2
"""Times that a value may be wrapped into a string."""


def loads(written: str, kind):
    """The one value of a kind, dict or list, in a text; ValueError if there is none, or another one as well.

    `null` stands for an empty one.
    """
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
    """The one value with this opening in the bytes."""
    at = data.find(opening)
    before = data[: max(at, 0)].strip()
    if at < 0 or (before and b"```" not in before):
        raise ValueError("JSON: there is no value")
    value, at = whole(data, at)
    while True:
        at = data.find(opening, at)
        if at < 0:
            return value
        other, at = whole(data, at)
        # Some services send {} before the arguments, or all of them twice.
        if value and other and value != other:
            raise ValueError("JSON: there are two values")
        value = value or other


def whole(data: bytes, start: int) -> tuple:
    """(the object or list that begins there, where it ends); ValueError."""
    out = bytearray()
    at, depth, comma = start, 0, -1
    try:
        while True:
            byte = data[at : at + 1]
            before = at
            at = _copy_string(data, at, out) if byte in (b'"', b"'") else _copy_word(data, at, out)
            if at > before:
                comma = -1
                continue
            if byte in (b"}", b"]"):
                depth -= 1
                if comma >= 0:
                    out[comma] = 0x20
            elif byte in (b"{", b"["):
                depth += 1
            out.append(data[at])
            if not byte.isspace():
                comma = len(out) - 1 if byte == b"," else -1
            at += 1
            if not depth:
                return strict_json.loads(out), at
    except IndexError:
        raise ValueError("JSON: the text ends early") from None


def _copy_word(data: bytes, at: int, out: bytearray) -> int:
    """Copy a word as JSON has it; where it ends."""
    end = at
    while data[end : end + 1].isalpha():
        end += 1
    out.extend(_WORDS.get(data[at:end], data[at:end]))
    return end


def _copy_string(data: bytes, at: int, out: bytearray) -> int:
    """Copy a string with any quotes as JSON has it; where it ends."""
    quote = data[at]
    out.append(0x22)
    at += 1
    while data[at] != quote:
        byte = data[at]
        if byte == 0x5C:
            at += 1
            if data[at] != 0x27:
                out.append(byte)
            out.append(data[at])
        elif byte == 0x22:
            out.extend(b'\\"')
        elif byte < 0x20:
            out.extend(b"\\u%04x" % byte)
        else:
            out.append(byte)
        at += 1
    out.append(0x22)
    return at + 1
