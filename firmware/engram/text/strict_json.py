"""JSON in one form, written and read strictly, the same on every runtime: RFC 8259 in UTF-8 and nothing more.

Written without spaces; text as it is but for a quote, a backslash and control characters (\\n, \\r, \\t, the others
\\u00XX); floats with six digits where that is exact; keys in the order of the dict. That is the order of insertion on
CPython; MicroPython's dict has none: pass an OrderedDict, or pairs to dumps_fields. Read, the last of equal keys wins, and a
lone surrogate becomes U+FFFD.

MicroPython's json.dumps writes objects, sets and NaN as invalid JSON, and its json.loads takes truncated text and `[1 2]`, and
makes invalid UTF-8 of escaped surrogates. This reader takes about six times as long.
"""

import json

from engram.errors import ArgumentError
from engram.text.utf8 import encode, is_valid, put, valid

# Maximum nesting of lists and objects, written and read. It bounds the recursion on the chip's
# stack, and what a peer's text can make the reader hold.
MAX_DEPTH = 16

# The longest number in characters: the time to convert one grows with the square.
_MAX_NUMBER = const(64)

_SPACE = const(b" \n\r\t")
_QUOTE = const(0x22)
_COMMA = const(0x2C)
_COLON = const(0x3A)
_LIST = const(0x5B)  # what closes a list or an object is two codes further
_OBJECT = const(0x7B)
_REPLACEMENT = const(0xFFFD)

_NUMBER = b"-+.0123456789eE"
_HEXADECIMAL = const(b"0123456789abcdefABCDEF")
_WORDS = const(((b"true", True), (b"false", False), (b"null", None)))
_PYTHON_WORDS = const(((b"True", True), (b"False", False), (b"None", None)))
_APOSTROPHE = const(0x27)
_ESCAPED = const(b'"\\/bfnrt')  # characters behind a backslash, and below their meanings
_MEANT = const(b'"\\/\b\f\n\r\t')

if hasattr("", "translate"):
    _ESCAPES = {code: "\\u%04x" % code for code in range(0x20)}
    _ESCAPES.update({0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"})

    def _quoted(text: str) -> str:
        return '"' + text.translate(_ESCAPES) + '"'

else:

    def _quoted(text: str) -> str:
        return json.dumps(text)  # MicroPython's own form is the same, and made in C


def dumps(value) -> str:
    """Return JSON of None, bool, int, float, str, list, tuple or dict; ArgumentError."""
    return _checked(_written(value, 0))


def dumps_fields(pairs) -> str:
    """Return a JSON object of ordered (key, value) pairs."""
    return _checked("{" + _members(pairs, 1) + "}")


def _checked(text: str) -> str:
    if not is_valid(text):
        raise ArgumentError("value", "has text that is not Unicode; pass it through text.decode first")
    return text


def _written(value, depth: int) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "%d" % value
    if isinstance(value, float):
        return _float(value)
    if depth >= MAX_DEPTH:
        raise ArgumentError("value", "is nested deeper than " + str(MAX_DEPTH) + " levels; make it flatter")
    if isinstance(value, dict):
        return "{" + _members(value.items(), depth + 1) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_written(item, depth + 1) for item in value]) + "]"
    kind = type(value).__name__
    raise ArgumentError("value", "holds a " + kind + "; JSON has text, numbers, lists and dicts")


def _members(pairs, depth: int) -> str:
    parts = []
    for key, value in pairs:
        if not isinstance(key, str):
            raise ArgumentError("value", "has the key " + repr(key) + "; a key is text")
        parts.append(_quoted(key) + ":" + _written(value, depth))
    return ",".join(parts)


def _float(value: float) -> str:
    if value - value != 0:
        raise ArgumentError("value", "holds NaN or infinity, which JSON does not have; use null")
    text = "%.6g" % value
    if float(text) != value:
        text = repr(value)
    return text if "." in text or "e" in text else text + ".0"


# --- reading


def loads(data: "bytes | bytearray | str"):
    """Return the value of a JSON text; ValueError unless it is one valid value."""
    data = data.encode() if isinstance(data, str) else bytes(data)
    if not valid(data):
        raise ValueError("JSON: the text is not UTF-8")
    reader = _Reader(data.rstrip(_SPACE), 0, False)
    value = reader.whole()
    if reader.at < len(reader.data):
        reader.fail()
    return value


def read_lenient(data: bytes, at: int) -> tuple:
    """Return (value, end), accepting Python literals, raw newlines and trailing commas; ValueError."""
    reader = _Reader(data, at, True)
    return reader.whole(), reader.at


class _Reader:
    def __init__(self, data: bytes, at: int, is_lenient: bool):
        self.data = data
        self.at = at
        self.is_lenient = is_lenient

    def whole(self):
        try:
            return self.value(0)
        except IndexError:
            raise ValueError("JSON: the text ends early") from None

    def value(self, depth: int):
        """Return the value here, within `depth` levels."""
        byte = self.next()
        if self.is_quote(byte):
            return self.string()
        if byte != _OBJECT and byte != _LIST:
            return self.scalar()
        if depth == MAX_DEPTH:
            raise ValueError("JSON: nested deeper than " + str(MAX_DEPTH) + " levels")
        self.at += 1
        found: dict = {} if byte == _OBJECT else []  # type: ignore
        end = byte + 2
        mark = self.next()
        if mark == end:
            self.at += 1
        while mark != end:
            if byte == _OBJECT:
                name = self.name()
                found[name] = self.value(depth + 1)
            else:
                found.append(self.value(depth + 1))  # type: ignore
            mark = self.next()
            if mark != end and mark != _COMMA:
                self.fail()
            self.at += 1
            if mark == _COMMA and self.is_lenient and self.next() == end:
                self.at += 1
                break
        return found

    def is_quote(self, byte: int) -> bool:
        return byte == _QUOTE or (self.is_lenient and byte == _APOSTROPHE)

    def next(self) -> int:
        """Skip white space; return the next byte."""
        byte = self.data[self.at]
        while byte <= 0x20:
            if byte not in _SPACE:
                self.fail()
            self.at += 1
            byte = self.data[self.at]
        return byte

    def fail(self):
        raise ValueError("JSON: not valid at byte " + str(self.at))

    def name(self) -> str:
        if not self.is_quote(self.next()):
            self.fail()
        name = self.string()
        if self.next() != _COLON:
            self.fail()
        self.at += 1
        return name

    def string(self) -> str:
        out = bytearray()
        mark = self.data[self.at : self.at + 1]
        at, quote = self.at + 1, -1
        while True:
            if quote < at:  # there is none yet, or it was an escaped one
                quote = self.data.find(mark, at)
                if quote < 0:
                    raise IndexError
            escape = self.data.find(b"\\", at, quote)
            part = self.data[at : quote if escape < 0 else escape]
            if part and min(part) < 0x20 and not self.is_lenient:
                self.fail()
            if escape < 0:
                self.at = quote + 1
                return str(out + part if out else part, "utf-8")
            out.extend(part)
            self.at = escape + 1
            put(out, self.escape())
            at = self.at

    def escape(self) -> int:
        mark = self.data[self.at]
        self.at += 1
        if mark == _APOSTROPHE and self.is_lenient:
            return mark
        if mark != 0x75:
            index = _ESCAPED.find(bytes((mark,)))
            if index < 0:
                self.fail()
            return _MEANT[index]
        code = self.four_digits()
        if not 0xD800 <= code < 0xE000:
            return code
        at = self.at
        if code < 0xDC00 and self.data[at : at + 2] == b"\\u":
            self.at = at + 2
            low = self.four_digits()
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00
            self.at = at
        return _REPLACEMENT

    def four_digits(self) -> int:
        digits = self.data[self.at : self.at + 4]
        for index in range(4):
            if digits[index] not in _HEXADECIMAL:
                self.fail()
        self.at += 4
        return int(digits, 16)

    def scalar(self):
        data, end = self.data, self.at
        while end < len(data) and data[end] in _NUMBER:
            end += 1
        text = data[self.at : end]
        if not text:
            return self.word()
        if len(text) > _MAX_NUMBER:
            raise ValueError("JSON: a number is longer than " + str(_MAX_NUMBER) + " characters")
        whole = _is_whole(text)
        if not whole and not _is_decimal(text):
            self.fail()
        self.at = end
        return int(text) if whole else float(text)

    def word(self):
        for word, value in _WORDS + _PYTHON_WORDS if self.is_lenient else _WORDS:
            if self.data[self.at : self.at + len(word)] == word:
                self.at += len(word)
                return value
        return self.fail()


def _is_whole(text: bytes) -> bool:
    digits = text[1:] if text[:1] == b"-" else text
    return digits.isdigit() and (digits[0] != 0x30 or len(digits) == 1)


def _is_decimal(text: bytes) -> bool:
    number, mark, exponent = text.lower().partition(b"e")
    whole, point, fraction = number.partition(b".")
    if exponent[:1] == b"-" or exponent[:1] == b"+":
        exponent = exponent[1:]
    return _is_whole(whole) and (not point or fraction.isdigit()) and (not mark or exponent.isdigit())


def object_in(data: "bytes | bytearray | str"):
    """Return the JSON object in a text, None if it is none."""
    try:
        found = loads(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def part(holder, name: str, kind):
    """Return holder[name] if it is of that kind, otherwise an empty one."""
    value = holder.get(name) if isinstance(holder, dict) else None
    is_truth = kind is int and isinstance(value, bool)
    return value if isinstance(value, kind) and not is_truth else kind()


# --- JSON as models write it

_OPENING = {dict: b"{", list: b"["}
_STRINGS = 2
"""Maximum nesting of a value in strings."""


def loads_lenient(written: str, kind):
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
        return loads(data)
    except ValueError:
        return _only(data, _OPENING[kind])


def _only(data: bytes, opening: bytes):
    at = data.find(opening)
    before = data[: max(at, 0)].strip()
    if at < 0 or (before and b"```" not in before):
        raise ValueError("JSON: there is no value")
    value, at = read_lenient(data, at)
    while True:
        at = data.find(opening, at)
        if at < 0:
            return value
        other, at = read_lenient(data, at)
        # Some services send {} before the arguments, or all of them twice.
        if value and other and value != other:
            raise ValueError("JSON: there are two values")
        value = value or other
