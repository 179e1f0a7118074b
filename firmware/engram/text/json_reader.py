"""JSON read strictly, the same on every runtime: RFC 8259 in UTF-8 and nothing more.

The last of equal keys wins; a lone surrogate becomes U+FFFD. MicroPython's json.loads takes truncated text and
`[1 2]`, and makes invalid UTF-8 of escaped surrogates. So the text is checked here, without recursion, before that reads
it.
"""

import json

from engram.compat import const
from engram.text.json_writer import MAX_DEPTH
from engram.text.utf8 import put, valid

# The longest number in characters: the time to convert one grows with the square.
_MAX_NUMBER = const(64)

_SPACE = const(b" \n\r\t")
_QUOTE = const(0x22)
_COMMA = const(0x2C)
_COLON = const(0x3A)
_OBJECT = const(0x7B)
_OBJECT_END = const(0x7D)
_REPLACEMENT = const(0xFFFD)

_NUMBER = const(b"-+.0123456789eE")
_HEXADECIMAL = const(b"0123456789abcdefABCDEF")
_WORDS = const((b"true", b"false", b"null"))
_ESCAPED = const(b'"\\/bfnrtu')  # what may follow a backslash


def loads(data: "bytes | bytearray | str"):
    """The value of a JSON text; ValueError if it is not one whole valid value."""
    data = data.encode() if isinstance(data, str) else bytes(data)
    if not valid(data):
        raise ValueError("JSON: the text is not UTF-8")
    try:
        return json.loads(_Check(data.rstrip(_SPACE)).whole())
    except IndexError:
        raise ValueError("JSON: the text ends early") from None


class _Check:
    """Goes through a text from value to value; IndexError where it ends early."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0
        self.out = bytearray()  # the text up to the last escaped surrogate, which stands there as UTF-8
        self.copied = 0
        self.ends = bytearray()  # what closes the containers around the present value

    def whole(self) -> bytes:
        """The text without escaped surrogates."""
        while True:
            byte = self.next()
            if byte == _QUOTE:
                self.string()
            elif byte not in b"[{":
                self.scalar()
            elif self.opens(byte):
                continue
            while self.ends:
                if self.goes_on():
                    break
            else:
                if self.at < len(self.data):
                    self.fail()
                return bytes(self.out + self.data[self.copied :]) if self.copied else self.data

    def opens(self, mark: int) -> bool:
        """Begin a container; False if it is closed at once."""
        if len(self.ends) == MAX_DEPTH:
            raise ValueError("JSON: nested deeper than " + str(MAX_DEPTH) + " levels")
        self.at += 1
        if self.next() == mark + 2:
            self.at += 1
            return False
        self.ends.append(mark + 2)
        if mark == _OBJECT:
            self.name()
        return True

    def goes_on(self) -> bool:
        """Read what follows a value in a container: True after a comma, False where the container ends."""
        byte, end = self.next(), self.ends[-1]
        if byte != _COMMA and byte != end:
            self.fail()
        self.at += 1
        if byte == end:
            self.ends = self.ends[:-1]
        elif end == _OBJECT_END:
            self.name()
        return byte == _COMMA

    def next(self) -> int:
        """Step over white space; return the byte that follows."""
        while self.data[self.at] in _SPACE:
            self.at += 1
        return self.data[self.at]

    def fail(self):
        raise ValueError("JSON: not valid at byte " + str(self.at))

    def name(self) -> None:
        """A key and its colon."""
        if self.next() != _QUOTE:
            self.fail()
        self.string()
        if self.next() != _COLON:
            self.fail()
        self.at += 1

    def string(self) -> None:
        data, at, quote = self.data, self.at + 1, -1
        while True:
            if quote < at:  # there is none yet, or it was an escaped one
                quote = data.find(b'"', at)
                if quote < 0:
                    raise IndexError
            escape = data.find(b"\\", at, quote)
            end = quote if escape < 0 else escape
            if at < end and min(data[at:end]) < 0x20:
                self.fail()
            if escape < 0:
                self.at = quote + 1
                return
            self.at = escape + 1
            self.escape()
            at = self.at

    def escape(self) -> None:
        """What stands behind a backslash; surrogates are replaced."""
        start = self.at - 1
        mark = self.data[self.at]
        if mark not in _ESCAPED:
            self.fail()
        self.at += 1
        code = self.four_digits() if mark == 0x75 else 0
        if not 0xD800 <= code < 0xE000:
            return
        at = self.at
        high, code = code, _REPLACEMENT
        if high < 0xDC00 and self.data[at : at + 2] == b"\\u":
            self.at = at + 2
            low = self.four_digits()
            if 0xDC00 <= low < 0xE000:
                at, code = self.at, 0x10000 + ((high - 0xD800) << 10) + low - 0xDC00
        self.out.extend(self.data[self.copied : start])
        put(self.out, code)
        self.at = self.copied = at

    def four_digits(self) -> int:
        digits = self.data[self.at : self.at + 4]
        for index in range(4):
            if digits[index] not in _HEXADECIMAL:
                self.fail()
        self.at += 4
        return int(digits, 16)

    def scalar(self) -> None:
        """A number, true, false or null."""
        data, end = self.data, self.at
        while end < len(data) and data[end] in _NUMBER:
            end += 1
        number = data[self.at : end]
        if not number:
            for word in _WORDS:
                if data[self.at : self.at + len(word)] == word:
                    end += len(word)
        elif len(number) > _MAX_NUMBER:
            raise ValueError("JSON: a number is longer than " + str(_MAX_NUMBER) + " characters")
        if end == self.at or (number and not _is_number(number)):
            self.fail()
        self.at = end


def _is_number(text: bytes) -> bool:
    number, mark, exponent = text.lower().partition(b"e")
    whole, point, fraction = number.partition(b".")
    if exponent[:1] in (b"-", b"+"):
        exponent = exponent[1:]
    digits = whole[1:] if whole[:1] == b"-" else whole
    is_whole = digits.isdigit() and (digits[0] != 0x30 or len(digits) == 1)
    return is_whole and (not point or fraction.isdigit()) and (not mark or exponent.isdigit())
