"""Letters of other scripts and emoji, brought into the form that engram.text.tokenizer cuts up.

fold() takes the UTF-8 of a text, ASCII already in lower case, and gives UTF-8 in which

  Latin, Greek, Cyrillic     are lower case without accents (ł is l, ß is ss, ё and й are е and и)
  Arabic, Hebrew             lose points and tatweel; the forms of alef, yeh and kaf are one letter each
  full-width ASCII           is ASCII, as are Arabic digits
  combining marks, joiners   are gone, so that composed and decomposed text give the same
  emoji                      stand between spaces, without skin tone and variation; a flag's halves are one
  scripts without spaces     (Han, kana, Hangul, Thai ...) are runs with WIDE_MARK before them
  ’ and its like             are an ASCII apostrophe
  all that is no letter      is a space

MicroPython has no unicodedata.
"""

from array import array

from engram import tables
from engram.text.utf8 import code_at, put

# Stands before a run of a script without spaces: a byte that UTF-8 never uses.
WIDE_MARK = const(0xFF)

# Kinds of character: of the first ones the last character is remembered, the others are scripts.
_SEPARATOR = const(0)
_LETTER = const(1)
_DROPPED = const(2)
_WIDE = const(3)
_FLAG = const(4)
_EMOJI = const(5)
_FIRST_SCRIPT = const(6)
_CYRILLIC_KIND = const(10)
_ARMENIAN_KIND = const(11)
_ARABIC_KIND = const(12)
_FULL_WIDTH_KIND = const(13)  # and after it the apostrophes

_FIRST_DOUBLE = const(0x110000)  # above all codes: two letters for one

(
    _runs, _LATIN, _LATIN_MORE, _GREEK, _GREEK_MORE, _CYRILLIC, _CYRILLIC_PLAIN, _ARABIC, _ARABIC_PLAIN, _KATAKANA,
) = [row.replace("_", " ").encode() for row in tables.rows("text/letters")]  # fmt: skip
_runs = array("I", [int(run, 16) for run in _runs.split()])
_DOUBLES = const(b"ssaeoethijdzljnj")

_HALF_WIDTH = const(0xFF66)  # begins the katakana of half width; the marks behind them voice the one before
_VOICED = (("\uff9e".encode(), 1), ("\uff9f".encode(), 2), (b"", 0))


def full_katakana(data: bytes) -> bytes:
    """Return a text without katakana of half width."""
    is_half = b"\xef\xbd" in data or b"\xef\xbe" in data
    for at in range(0, len(_KATAKANA) if is_half else 0, 3):
        half = bytearray()
        put(half, _HALF_WIDTH + at // 3)
        for mark, more in _VOICED:
            full = bytearray()
            put(full, code_at(_KATAKANA, at) + more)
            data = data.replace(bytes(half) + mark, bytes(full))
    return data


def fold(data: bytes) -> bytes:
    out = bytearray()
    at = start = 0  # from `start` on nothing changed: it is copied in one go
    before = _LETTER  # the kind of the last character
    first = after = run_kind = 0  # the run that the last character was in: the next one mostly is, too
    while at < len(data):
        code, size, kind = data[at], 1, _LETTER
        if code >= 0x80:
            if code < 0xE0:
                size = 2
                code = (code & 0x1F) << 6 | data[at + 1] & 0x3F
            elif code < 0xF0:
                size = 3
                code = (code & 0x0F) << 12 | (data[at + 1] & 0x3F) << 6 | data[at + 2] & 0x3F
            else:
                size = 4
                code = (code & 0x07) << 18 | (data[at + 1] & 0x3F) << 12
                code |= (data[at + 2] & 0x3F) << 6 | data[at + 3] & 0x3F
            if not first <= code < after:
                index = _run(code)
                first, after, run_kind = _runs[index] >> 4, _runs[index + 1] >> 4, _runs[index] & 15
            kind = run_kind
        letter = code
        if kind >= _FIRST_SCRIPT:
            letter = _letter(code, kind)
            kind = _LETTER if letter else _DROPPED
        if kind != before or letter != code or kind > _WIDE:
            if start < at:
                out.extend(data[start:at])
            start = at + size
            if kind != _DROPPED:
                before = _write(out, letter, kind, before)
        at += size
    out.extend(data[start:])
    return bytes(out)


def _run(code: int) -> int:
    low, high = 0, len(_runs) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if _runs[middle] >> 4 <= code:
            low = middle
        else:
            high = middle
    return low


def _write(out: bytearray, code: int, kind: int, before: int) -> int:
    """Append a character with any text before it; return its kind."""
    if kind == _SEPARATOR:
        out.append(0x20)
        return _LETTER
    if kind != before or kind == _EMOJI:
        out.append(0x20)
        if kind == _WIDE:
            out.append(WIDE_MARK)
    if code < _FIRST_DOUBLE:
        put(out, code)
    else:
        out.extend(_DOUBLES[2 * (code - _FIRST_DOUBLE) :][:2])
    return _EMOJI if kind == before == _FLAG else kind


# The kinds with a table, in their order: its first code, the table, and what an "a" in it is.
_TABLES = ((0xA0, _LATIN, 0x61), (0x1E00, _LATIN_MORE, 0x61), (0x370, _GREEK, 0x3B1), (0x1F00, _GREEK_MORE, 0x3B1))


def _letter(code: int, kind: int) -> int:
    """Return the code that a script's letter counts as, a space for others, 0 if left out."""
    if kind < _CYRILLIC_KIND:
        return _tabled(code, _TABLES[kind - _FIRST_SCRIPT])
    if kind == _CYRILLIC_KIND:
        return _cyrillic(code)
    if kind == _ARMENIAN_KIND:
        return code + 0x30
    if kind == _ARABIC_KIND:
        return _arabic(code)
    return _full_width(code) if kind == _FULL_WIDTH_KIND else 0x27


def _tabled(code: int, table: tuple) -> int:
    first, letters, a = table
    letter = letters[code - first]
    if letter >= 0x61:
        return letter - 0x61 + a
    if 0x30 <= letter <= 0x39:
        return letter - 0x30 + _FIRST_DOUBLE
    return code if letter == 0x3D else 0 if letter == 0x2D else letter


def _cyrillic(code: int) -> int:
    if code < 0x430:
        code += 0x50 if code < 0x410 else 0x20
    elif code >= 0x460:
        code = _cyrillic_more(code)
    return _plain(code, _CYRILLIC, _CYRILLIC_PLAIN) if code == 0x439 or code >= 0x450 else code


def _cyrillic_more(code: int) -> int:
    if 0x4C0 <= code < 0x4CF:  # here alone upper case is odd
        return 0x4CF if code == 0x4C0 else code + (code & 1)
    return code | 1


def _arabic(code: int) -> int:
    if 0x62A <= code <= 0x648:  # most letters
        return code
    if 0x660 <= code <= 0x669 or 0x6F0 <= code <= 0x6F9:
        return 0x30 | code & 15
    return _plain(code, _ARABIC, _ARABIC_PLAIN)


def _plain(code: int, variants: bytes, plain: bytes) -> int:
    """Return the letter in `plain` at the place of `code` in `variants`."""
    at = variants.find(bytes((0xC0 | code >> 6, 0x80 | code & 0x3F)))
    return code if at < 0 else (plain[at] & 0x1F) << 6 | plain[at + 1] & 0x3F


def _full_width(code: int) -> int:
    code -= 0xFEE0
    return code + 0x20 if 0x41 <= code <= 0x5A else code
