"""Cuts a text into messages of at most a number of UTF-16 units.

A cut is made between two paragraphs; where there is none in the second half of a message, after a line or a sentence; then
between two words; and in the end between two characters, but not inside of one that a person sees as one. A fence of code
that a cut falls into is closed before it and opened again after it.

Text is worked on as bytes: see engram.text.utf8.
"""

from engram.compat import const
from engram.text import cut_bytes, decode

_FOUR_BYTES = const(0xF0)  # the first byte of a character that takes two units
_FENCES = const((b"```", b"~~~"))
# Protects the room of a message: what opens a fence again is repeated in each part; no name of a language is longer.
_OPENING = const(40)
CLOSING = const(21)
"""Units of a message that are left free, so that what closes code fits: its marks, half of _OPENING at most, on a new line."""
_INDENT = const(3)  # more spaces before a fence make it text
_SENTENCE_ENDS = const((b". ", b"! ", b"? ", b"\xe3\x80\x82", b"\xef\xbc\x81", b"\xef\xbc\x9f"))  # and "。！？"
_PARAGRAPH = const(b"\n\n")


def units(text: str) -> int:
    """How many UTF-16 units a text has."""
    data = text.encode()
    count = len(text)
    if len(data) != count:
        for byte in data:
            if byte >= _FOUR_BYTES:
                count += 1
    return count


def split(text: str, most: int):
    """Yield the parts of a text, without white space around them."""
    rest = text
    while units(rest) > most:
        head, rest = [decode(part) for part in _divide(rest.encode(), most)]
        if head.strip():
            yield head
    if rest.strip():
        yield rest.rstrip()


def fence_of(line: bytes) -> bytes:
    """The marks that open or close code, if a line begins with such, else nothing."""
    bare = line.lstrip(b" ")
    if len(line) - len(bare) > _INDENT or bare[:3] not in _FENCES:
        return b""
    marks = bare[: len(bare) - len(bare.lstrip(bare[:1]))]
    if len(marks) > _OPENING // 2 or (marks[:1] == b"`" and b"`" in bare[len(marks) :]):
        return b""  # code within a line
    return marks


def closes(line: bytes, fence: bytes) -> bool:
    """Whether a line closes the code that `fence` opened."""
    marks = fence_of(line)
    return marks[:1] == fence[:1] and len(marks) >= len(fence) and not line.strip()[len(marks) :]


def _divide(data: bytes, most: int) -> tuple:
    """(first part, rest) of a text of more than `most` units."""
    end = _offset(data, most - CLOSING)
    head_end, closing, at, opening = place_cut(data, end)
    return data[:head_end] + closing, opening + data[at:]


def place_cut(data: bytes, end: int) -> tuple:
    """Where to cut a text, at most at the byte `end`: (where the first part ends, what closes its code, where the rest begins,
    what opens the code again).
    """
    at = _cut(data, end)
    fence, opened = open_fence(data[:at])
    if fence and opened <= at // 2:
        at = _cut_code(data, opened, end)
        fence, opened = open_fence(data[:at])  # this may be behind the code's end
    if not fence:
        return len(data[:at].rstrip()), b"", len(data) - len(data[at:].lstrip()), b""
    if opened > at // 2:
        # The code begins late: all of it goes to the next part.
        return len(data[:opened].rstrip()), b"", opened, b""
    rest = at + 1 if data[at : at + 1] == b"\n" else at
    return at, b"\n" + fence, rest, opening_of(data, opened)


def opening_of(data: bytes, opened: int) -> bytes:
    """The line at `opened` that opens code, as it is repeated."""
    return decode(data[opened : min(data.find(b"\n", opened), opened + _OPENING)]).encode() + b"\n"


def _offset(data: bytes, count: int) -> int:
    """Where in `data` this number of units ends."""
    at = 0
    while at < len(data):
        lead = data[at]
        count -= 2 if lead >= _FOUR_BYTES else 1
        if count < 0:
            break
        at += 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < _FOUR_BYTES else 4
    return at


def _cut(data: bytes, end: int) -> int:
    """Where to cut text, at most at `end`."""
    half = end // 2
    at = data.rfind(_PARAGRAPH, half, end)
    if at >= 0:
        return at
    at = data.rfind(b"\n", half, end)
    for mark in _SENTENCE_ENDS:
        found = data.rfind(mark, half, end)
        if found >= 0:
            at = max(at, found + len(mark))
    if at < 0:
        at = max(data.rfind(b" ", half, end), data.rfind(b"\n", 0, end))
    return at if at > 0 else _between_characters(data, end)


def _cut_code(data: bytes, opened: int, end: int) -> int:
    """Where to cut in code that was opened at `opened`: after a line if there is one."""
    first = data.find(b"\n", opened)
    at = data.rfind(b"\n", max(first + 1, end // 2), end)
    return at if at > 0 else _between_characters(data, end)


def _between_characters(data: bytes, end: int) -> int:
    return len(cut_bytes(decode(data), end).encode())


def open_fence(data: bytes) -> tuple:
    """(marks, offset of its line) of the code that is open at the end of `data`; no marks if none is."""
    fence = b""
    opened = at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        if end < 0:
            end = len(data)
        line = data[at:end]
        if fence:
            if closes(line, fence):
                fence = b""
        else:
            fence = fence_of(line)
            opened = at
        at = end + 1
    return fence, opened
