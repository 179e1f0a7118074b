"""A text's length for a model, places to cut it, and its printable form."""

from engram.compat import const
from engram.text.utf8 import REPLACEMENT, code_at, encode

# What people see as one character stays whole up to this many code points: a pile of combining marks, put
# there on purpose, is cut like anything else.
_MAX_CLUSTER = const(32)

_JOINER = const(0x200D)
_FLAG = b"\xf0\x9f\x87"  # how the halves of a flag begin, U+1F1E6 to U+1F1FF
_FIRST_WIDE_LEAD = const(0xE3)  # the first byte of U+3000

# First and last codes of what belongs to the character before it: accents, points, vowel signs, skin tones.
_MARKS = const((
    0x0300, 0x036F, 0x0483, 0x0489, 0x0591, 0x05C7, 0x0610, 0x061A, 0x064B, 0x065F, 0x0670, 0x0670,
    0x06D6, 0x06ED, 0x0DCA, 0x0DDF, 0x102B, 0x103E, 0x17B4, 0x17D3, 0x1AB0, 0x1AFF, 0x1DC0, 0x1DFF,
    0x200C, 0x200D, 0x20D0, 0x20FF, 0x302A, 0x302F, 0x3099, 0x309A, 0xFE00, 0xFE0F, 0xFE20, 0xFE2F,
    0x1F3FB, 0x1F3FF, 0xE0020, 0xE01EF,
))  # fmt: skip
# The same in the scripts of India (U+0900 to U+0D7F) and in Thai and Lao, where blocks of 128 are laid out alike.
_INDIC_MARKS = const((0x00, 0x03, 0x3C, 0x3C, 0x3E, 0x4D, 0x51, 0x57, 0x62, 0x63))
_THAI_MARKS = const((0x31, 0x31, 0x34, 0x3C, 0x47, 0x4E))


def tokens(text: str) -> int:
    """About how many tokens a text is for a model: one for each character from U+3000 on (CJK, emoji) and one
    for four of the others, rounded up.
    """
    data = encode(text)
    wide = 0
    if len(data) != len(text):
        for byte in data:
            if byte >= _FIRST_WIDE_LEAD:
                wide += 1
    return wide + (len(text) - wide + 3) // 4


def cut(text: str, characters: int) -> str:
    """The beginning of a text, at most that many code points; a letter and its accent, or the parts of an emoji,
    stay together.
    """
    if len(text) <= characters:
        return text
    head = text[: max(0, characters)]
    data = encode(text)
    at = len(encode(head))
    end = _boundary(data, at)
    return head if end == at else data[:end].decode()


def cut_bytes(text: str, size: int) -> str:
    """The beginning of a text, at most that many bytes of UTF-8; as in cut(), no character is split."""
    data = encode(text)
    if len(data) <= size:
        return text
    return data[: _boundary(data, _start(data, max(0, size)))].decode()


def printable(text: str) -> str:
    """A text that is safe to show in a terminal: control characters but newline and tab, and those that override
    the direction of writing, are U+FFFD.
    """
    data = encode(text)
    out = bytearray()
    at = start = 0
    while at < len(data):
        byte = data[at]
        if byte < 0x20 or byte == 0x7F or byte == 0xC2 or byte == 0xE2:
            size = _control(data, at)
            if size:
                out.extend(data[start:at])
                out.extend(REPLACEMENT)
                start = at + size
        at += 1
    if not start:
        return data.decode()
    out.extend(data[start:])
    return bytes(out).decode()


def _control(data: bytes, at: int) -> int:
    """The length of the control character at `at`, 0 if there is none."""
    lead = data[at]
    if lead == 0xC2:
        return 2 if data[at + 1] < 0xA0 else 0
    if lead == 0xE2:
        code = code_at(data, at)
        return 3 if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 else 0
    return 0 if lead == 0x09 or lead == 0x0A else 1


def _boundary(data: bytes, at: int) -> int:
    """`at`, or where the cluster begins that a cut there would split."""
    start = at
    for _ in range(_MAX_CLUSTER):
        if start == 0 or start == len(data) or not _joined(data, start):
            return start
        start = _start(data, start - 1)
    return at


def _joined(data: bytes, at: int) -> bool:
    """Whether the character at `at` belongs to the one before it."""
    if data[at] < 0x80:
        return False
    if _is_mark(code_at(data, at)) or code_at(data, _start(data, at - 1)) == _JOINER:
        return True
    return data[at : at + 3] == _FLAG and _flags_before(data, at) % 2 == 1


def _start(data: bytes, at: int) -> int:
    """Where the character begins that has its byte at `at`."""
    while data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _is_mark(code: int) -> bool:
    if 0x0900 <= code < 0x0D80:
        return _within(code & 0x7F, _INDIC_MARKS)
    if 0x0E00 <= code < 0x0F00:
        return _within(code & 0x7F, _THAI_MARKS)
    return _within(code, _MARKS)


def _within(code: int, ranges: tuple) -> bool:
    return any(ranges[index] <= code <= ranges[index + 1] for index in range(0, len(ranges), 2))


def _flags_before(data: bytes, at: int) -> int:
    count = 0
    while at >= 4 and data[at - 4 : at - 1] == _FLAG and data[at - 1] >= 0xA6:
        at -= 4
        count += 1
    return count
