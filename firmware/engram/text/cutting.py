"""A text's length for a model, places to cut it, its printable form, and messages of at most a number of UTF-16 units.

A message is cut between two paragraphs; where there is none in its second half, after a line or a sentence; then between
two words; and in the end between two characters, but not inside of one that a person sees as one. A fence of code that a
cut falls into is closed before it and opened again after it.

Text is worked on as bytes: see engram.text.utf8.
"""

from engram.text.utf8 import REPLACEMENT, code_at, decode, encode

# A visible character stays whole up to this many code points: a pile of combining marks, put
# there on purpose, is cut like anything else.
_MAX_CLUSTER = const(32)

_JOINER = const(0x200D)
# Quarters of a token beside one for each character: of digits and the signs of JSON, and by the first byte of a
# character: Latin with accents, Greek, Cyrillic to Arabic, India and Thailand, the rest up to Hangul, emoji.
_DENSE = [(bytes((sign,)), 2) for sign in b"0123456789"] + [(bytes((sign,)), 1) for sign in b'"{}[]:,']
_LEADS = b"\x03" * 14 + b"\x02" * 2 + b"\x01" * 16 + b"\x01" + b"\x03" * 15 + b"\x07" * 8 + b"\0" * 8

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

# C0 but tab and newline, DEL, C1, and overrides of the direction of writing.
_CONTROLS = [bytes((code,)) for code in range(0x20) if code not in b"\t\n"] + [b"\x7f"]
_CONTROLS += [bytes((0xC2, code)) for code in range(0x80, 0xA0)]
_CONTROLS += [b"\xe2\x80" + bytes((code,)) for code in range(0xAA, 0xAF)]
_CONTROLS += [b"\xe2\x81" + bytes((code,)) for code in range(0xA6, 0xAA)]

_FOUR_BYTES = const(0xF0)  # the first byte of a character that takes two units
_FENCES = const((b"```", b"~~~"))
# Protects the room of a message: what opens a fence again is repeated in each part; no name of a language is longer.
_OPENING = const(40)
CLOSING = const(21)
"""Units kept free to close code: half of _OPENING at most, on a new line."""
_INDENT = const(3)  # more spaces before a fence make it text
_SENTENCE_ENDS = const((b". ", b"! ", b"? ", b"\xe3\x80\x82", b"\xef\xbc\x81", b"\xef\xbc\x9f"))  # and "。！？"
_PARAGRAPH = const(b"\n\n")


def tokens(text: str) -> int:
    """Estimate tokens by script; docs/start/model.md has the errors."""
    return (token_quarters(text) + 3) // 4


def token_quarters(text: str) -> int:
    """Estimate quarters of tokens: the sum over all characters, 1 to 8 each."""
    data = encode(text)
    found = len(text) + sum([weight * data.count(sign) for sign, weight in _DENSE])
    return found if len(data) == len(text) else found + sum(_LEADS[byte - 0xC0] for byte in data if byte >= 0xC0)


def _count_from(lead: int, text: str) -> int:
    """Count the characters whose first byte is `lead` or higher."""
    data = encode(text)
    return 0 if len(data) == len(text) else sum(1 for byte in data if byte >= lead)


def cut(text: str, characters: int) -> str:
    """Return at most `characters` code points; accents and parts of an emoji stay together."""
    return text if len(text) <= characters else cut_bytes(text, len(encode(text[: max(0, characters)])))


def cut_bytes(text: str, size: int) -> str:
    """Return at most `size` bytes of UTF-8, splitting no character as in cut()."""
    data = encode(text)
    if len(data) <= size:
        return text
    return data[: _boundary(data, _start(data, max(0, size)))].decode()


def printable(text: str) -> str:
    """Return a text safe for a terminal: controls but newline and tab become U+FFFD."""
    data = encode(text)
    for control in _CONTROLS:
        data = data.replace(control, REPLACEMENT)
    return data.decode()


def _boundary(data: bytes, at: int) -> int:
    """Return `at`, or the begin of the cluster that a cut there would split."""
    start = at
    for _ in range(_MAX_CLUSTER):
        if start == 0 or start == len(data) or not _joined(data, start):
            return start
        start = _start(data, start - 1)
    return at


def _joined(data: bytes, at: int) -> bool:
    """True if the character at `at` belongs to the one before it."""
    if data[at] < 0x80:
        return False
    return _is_mark(code_at(data, at)) or code_at(data, _start(data, at - 1)) == _JOINER


def _start(data: bytes, at: int) -> int:
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


# --- messages


def units(text: str) -> int:
    return len(text) + _count_from(_FOUR_BYTES, text)


def split(text: str, most: int):
    """Yield a text's parts, stripped of white space."""
    rest = text
    while units(rest) > most:
        data = rest.encode()
        end, closing, at, opening = place_cut(data, _offset(data, most - CLOSING))
        head, rest = decode(data[:end] + closing), decode(opening + data[at:])
        if head.strip():
            yield head
    if rest.strip():
        yield rest.rstrip()


def fence_of(line: bytes) -> bytes:
    """Return the fence marks at a line's begin, or nothing."""
    bare = line.lstrip(b" ")
    if len(line) - len(bare) > _INDENT or bare[:3] not in _FENCES:
        return b""
    marks = bare[: len(bare) - len(bare.lstrip(bare[:1]))]
    if len(marks) > _OPENING // 2 or (marks[:1] == b"`" and b"`" in bare[len(marks) :]):
        return b""  # code within a line
    return marks


def closes(line: bytes, fence: bytes) -> bool:
    marks = fence_of(line)
    return marks[:1] == fence[:1] and len(marks) >= len(fence) and not line.strip()[len(marks) :]


def place_cut(data: bytes, end: int) -> tuple:
    """Return (end of a part, its closing, start of the rest, its opening) for a cut up to `end`."""
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
    """Return the opening line of code, for repetition."""
    return decode(data[opened : min(data.find(b"\n", opened), opened + _OPENING)]).encode() + b"\n"


def _offset(data: bytes, count: int) -> int:
    at = 0
    while at < len(data):
        lead = data[at]
        count -= 2 if lead >= _FOUR_BYTES else 1
        if count < 0:
            break
        at += 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < _FOUR_BYTES else 4
    return at


def _cut(data: bytes, end: int) -> int:
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
    """Return a cut in code opened at `opened`, after a line if possible."""
    first = data.find(b"\n", opened)
    at = data.rfind(b"\n", max(first + 1, end // 2), end)
    return at if at > 0 else _between_characters(data, end)


def _between_characters(data: bytes, end: int) -> int:
    return len(cut_bytes(decode(data), end).encode())


def open_fence(data: bytes) -> tuple:
    """Return (marks, offset) of the code open at the end, no marks without."""
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
