"""JSON in one form and read strictly, the same on every runtime.

MicroPython's json takes truncated text and `[1 2]`, makes invalid UTF-8 of escaped surrogates, and writes objects,
sets and NaN as invalid JSON. So this is a writer that refuses, and a reader of its own, without recursion.

written   without spaces; text as it is but for \\" \\\\ \\n \\r \\t and \\u00XX for the other control characters; floats with
          six digits where that is exact; keys in the order of the dict (as inserted on CPython; MicroPython needs an
          OrderedDict or dumps_fields)
read      RFC 8259 in UTF-8 and no more; the last of equal keys wins; a lone surrogate becomes U+FFFD
"""

import json

from engram.compat import const
from engram.errors import ArgumentError
from engram.utf8 import is_valid, put, valid

# How deep lists and objects may be nested. It bounds the writer's recursion on the chip's stack, and what a peer's
# text can make the reader hold.
MAX_DEPTH = 16

# The longest number in characters: the time to convert one grows with the square.
_MAX_NUMBER = const(64)

_QUOTE = const(0x22)
_COMMA = const(0x2C)
_COLON = const(0x3A)
_LIST = const(0x5B)
_END_OF_LIST = const(0x5D)
_OBJECT = const(0x7B)
_END_OF_OBJECT = const(0x7D)
_REPLACEMENT = const(0xFFFD)

_WORDS = ((b"true", True), (b"false", False), (b"null", None))
_NUMBER = b"-+.0123456789eE"
_HEXADECIMAL = b"0123456789abcdefABCDEF"
_ESCAPED = b'"\\/bfnrt'  # what may follow a backslash, and below it what the two stand for
_MEANT = b'"\\/\b\f\n\r\t'


if hasattr("", "translate"):
    _WRITTEN = {code: "\\u%04x" % code for code in range(0x20)}
    _WRITTEN.update({0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"})

    def _quoted(text: str) -> str:
        return '"' + text.translate(_WRITTEN) + '"'

else:
    _quoted = json.dumps  # writes text in the form above, in C


def dumps(value) -> str:
    """JSON of None, bool, int, float, str, and of lists, tuples and dicts of these; ArgumentError for all else."""
    parts = []
    _write(parts, value, 0)
    return _joined(parts)


def dumps_fields(pairs) -> str:
    """A JSON object of (key, value) pairs in their order."""
    return dumps_open(pairs) + "}"


def dumps_open(pairs) -> str:
    """As dumps_fields, but without the closing brace, so that a line's check can follow."""
    parts = []
    _write_fields(parts, pairs, 1)
    return _joined(parts)


def _joined(parts: list) -> str:
    text = "".join(parts)
    if not is_valid(text):
        raise ArgumentError("value", "has text that is not Unicode; pass it through decode() first")
    return text


def _write(parts: list, value, depth: int) -> None:
    if isinstance(value, str):
        parts.append(_quoted(value))
    elif value is None:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, int):
        parts.append("%d" % value)
    elif isinstance(value, float):
        parts.append(_float(value))
    elif depth >= MAX_DEPTH:
        raise ArgumentError("value", "is nested deeper than " + str(MAX_DEPTH) + " levels; make it flatter")
    elif isinstance(value, dict):
        _write_fields(parts, value.items(), depth + 1)
        parts.append("}")
    elif isinstance(value, (list, tuple)):
        mark = "["
        for item in value:
            parts.append(mark)
            _write(parts, item, depth + 1)
            mark = ","
        parts.append("]" if value else "[]")
    else:
        raise ArgumentError("value", "holds a " + type(value).__name__ + "; JSON has only text, numbers, lists ...")


def _write_fields(parts: list, pairs, depth: int) -> None:
    mark = "{"
    for key, value in pairs:
        if not isinstance(key, str):
            raise ArgumentError("value", "has a key that is no text: " + repr(key))
        parts.append(mark)
        parts.append(_quoted(key))
        parts.append(":")
        _write(parts, value, depth)
        mark = ","
    if mark == "{":
        parts.append(mark)


def _float(value: float) -> str:
    if value - value != 0:
        raise ArgumentError("value", "holds NaN or infinity, which JSON does not have; use null")
    text = "%.6g" % value
    if float(text) != value:
        text = repr(value)
    return text if "." in text or "e" in text else text + ".0"


def loads(data: "bytes | str"):
    """The value of a JSON text; ValueError if it is anything but one valid JSON value."""
    if isinstance(data, str):
        data = data.encode()
    if not valid(data):
        raise ValueError("JSON: the text is not UTF-8")
    try:
        return _read(data)
    except IndexError:
        raise ValueError("JSON: the text ends early")


def _read(data: bytes):
    """Read value after value. A container stays in `outer`, with the key it waits at, while one in it is read."""
    outer = []
    container = key = None
    at = _skip(data, 0)
    while True:
        byte = data[at]
        if byte == _QUOTE:
            value, at = _string(data, at)
        elif byte == _OBJECT or byte == _LIST:
            value = {} if byte == _OBJECT else []
            at = _skip(data, at + 1)
            if data[at] != byte + 2:  # not closed at once
                if len(outer) == MAX_DEPTH:
                    raise ValueError("JSON: nested deeper than " + str(MAX_DEPTH) + " levels")
                outer.append((container, key))
                container = value
                key, at = _key(data, at) if byte == _OBJECT else (None, at)
                continue
            at += 1
        else:
            value, at = _scalar(data, at)
        while container is not None:
            if key is None:
                container.append(value)
            else:
                container[key] = value
            if data[at] <= 0x20:
                at = _skip(data, at)
            byte = data[at]
            at += 1
            if byte == _COMMA:
                if data[at] <= 0x20:
                    at = _skip(data, at)
                if key is not None:
                    key, at = _key(data, at)
                break
            if byte != (_END_OF_LIST if key is None else _END_OF_OBJECT):
                _fail(at - 1)
            value = container
            container, key = outer.pop()
        else:
            at = _skip(data, at)
            if at < len(data):
                _fail(at)
            return value


def _fail(at: int):
    raise ValueError("JSON: not valid at byte " + str(at))


def _skip(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in b" \n\r\t":
        at += 1
    return at


def _key(data: bytes, at: int) -> tuple:
    if data[at] != _QUOTE:
        _fail(at)
    key, at = _string(data, at)
    if data[at] != _COLON:
        at = _skip(data, at)
        if data[at] != _COLON:
            _fail(at)
    at += 1
    return key, _skip(data, at) if data[at] <= 0x20 else at


def _string(data: bytes, at: int) -> tuple:
    """The text whose opening quote is at `at`, and where it ends."""
    end = data.find(b'"', at + 1)
    if end < 0:
        raise IndexError
    part = data[at + 1 : end]
    if b"\\" in part:
        return _escaped_string(data, at + 1, end)
    return _checked(part, at).decode(), end + 1


def _checked(part: bytes, at: int) -> bytes:
    if part and min(part) < 0x20:
        _fail(at)
    return part


def _escaped_string(data: bytes, at: int, quote: int) -> tuple:
    out = bytearray()
    while True:
        if quote < at:  # it was an escaped one
            quote = data.find(b'"', at)
            if quote < 0:
                raise IndexError
        escape = data.find(b"\\", at, quote)
        out.extend(_checked(data[at : quote if escape < 0 else escape], at))
        if escape < 0:
            return bytes(out).decode(), quote + 1
        code, at = _escape(data, escape + 1)
        put(out, code)


def _escape(data: bytes, at: int) -> tuple:
    """The code that stands after a backslash, and where it ends."""
    if data[at] != 0x75:
        index = _ESCAPED.find(data[at : at + 1])
        if index < 0:
            _fail(at)
        return _MEANT[index], at + 1
    code = _four_digits(data, at + 1)
    at += 5
    if not 0xD800 <= code < 0xE000:
        return code, at
    if code < 0xDC00 and data[at : at + 2] == b"\\u":
        low = _four_digits(data, at + 2)
        if 0xDC00 <= low < 0xE000:
            return 0x10000 + (code - 0xD800 << 10) + low - 0xDC00, at + 6
    return _REPLACEMENT, at


def _four_digits(data: bytes, at: int) -> int:
    for index in range(at, at + 4):
        if data[index] not in _HEXADECIMAL:
            _fail(index)
    return int(data[at : at + 4], 16)


def _scalar(data: bytes, at: int) -> tuple:
    """A number, true, false or null, and where it ends."""
    end = at
    while end < len(data) and data[end] in _NUMBER:
        end += 1
    if end == at:
        return _word(data, at)
    if end - at > _MAX_NUMBER:
        raise ValueError("JSON: a number is longer than " + str(_MAX_NUMBER) + " characters")
    text = data[at:end]
    if _is_whole(text):
        return int(text), end
    if not _is_decimal(text):
        _fail(at)
    return float(text), end


def _word(data: bytes, at: int) -> tuple:
    for word, value in _WORDS:
        if data[at : at + len(word)] == word:
            return value, at + len(word)
    _fail(at)


def _is_whole(text: bytes) -> bool:
    digits = text[1:] if text[:1] == b"-" else text
    return digits.isdigit() and (digits[0] != 0x30 or len(digits) == 1)


def _is_decimal(text: bytes) -> bool:
    number, mark, exponent = text.lower().partition(b"e")
    whole, point, fraction = number.partition(b".")
    if exponent[:1] == b"-" or exponent[:1] == b"+":
        exponent = exponent[1:]
    return _is_whole(whole) and (not point or fraction.isdigit()) and (not mark or exponent.isdigit())
