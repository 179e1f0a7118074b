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

from engram.compat import const
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

# Changes of kind: the first code of each run of one kind, and the kind as the last
# hexadecimal digit. From Latin on, over the scripts of the Near East, India, Thailand and on,
# symbols, kana, Han, Hangul and their forms, to emoji and tags.
_RUNS = """
00800 00A06 02B02 02B9E 02C02 03708 0400A 04820 04832 048AA 0530B 05571 055A2 055D0 055E2 05601
05890 05912 05BE0 05BF2 05C00 05C12 05C30 05C42 05C60 05C72 05D01 05F32 06000 06102 061B0 061C2
061D0 0620C 06402 0641C 064B2 0660C 066A0 066EC 06702 0671C 06D40 06D5C 06D62 06E5C 06E72 06EEC
06FD0 06FFC 07000 07101 07302 074D1 07A62 07B11 08902 08A01 08CA2 09001 09640 09661 09700 09711
0DF40 0E013 0E3F0 0E403 0E4F0 0E503 0E5A0 0E813 0F001 0F010 0F181 0F1A0 0F201 0F3A0 0F3E1 0FBE0
10003 104A0 10503 10A01 13600 13691 17803 17D40 17E03 18000 180B2 18101 1AB02 1B001 1DC02 1E007
1F009 20000 200C2 20100 2019E 201A0 202A2 202F0 20602 20700 20D02 21000 23005 24000 26005 27C00
2B005 2C001 2E000 30053 30080 30213 302A2 30300 30313 30360 303B3 303D0 30413 30992 309B3 30A00
30A13 30FB0 30FC3 31900 31A03 31C00 31F03 32001 34003 4DC00 4E003 A0001 AC003 D7B01 D8000 F9003
FB001 FD3E0 FD501 FE002 FE100 FE202 FE300 FE701 FEFF2 FF01D FF5F0 FF663 FFA01 FFE00 100001 1B0003
1B1701 1F0005 1F1E64 1F2005 1F3FB2 1F4005 1FB000 200003 E00002 E01F00 2000000
"""
_runs = array("I", [int(run, 16) for run in _RUNS.split()])

# U+00A0 to U+02AF: the base letter; a digit is an index into _DOUBLES, "-" is dropped, a space is no letter.
_LATIN = const(
    b"          a  -       u    o     aaaaaa1ceeeeiiiidnooooo ouuuuy30"
    b"aaaaaa1ceeeeiiiidnooooo ouuuuy3yaaaaaaccccccccddddeeeeeeeeeegggg"
    b"gggghhhhiiiiiiiiii44jjkkkllllllllllnnnnnnnnnoooooo22rrrrrrssssss"
    b"ssttttttuuuuuuuuuuuuwwyyyzzzzzzsbbbbbboccdddddeeeffgghiikkllmnno"
    b"oooopprssssttttuuuvyyzzzzzzzss-w----555666777aaiioouuuuuuuuuueaa"
    b"aa11ggggkkoooozzj555gghwnnaa11ooaaaaeeeeiiiioooorrrruuuussttgghh"
    b"nduuzzaaeeooooooooyylntjdqaccltsz--buveejjqqrryyaaabocddeeeeeeej"
    b"ggggohhhiiillllmmmnnno2ofrrrrrrrrrssjssttuuvvwyyzzzz---c-beghjkl"
    b"q--555tttfll--hh"
)
# U+1E00 to U+1EFF.
_LATIN_MORE = const(
    b"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm"
    b"mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv"
    b"wwwwwwwwwwxxxxyyzzzzzzhtwyasss0daaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
    b"eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyyvvvvyy"
)
_DOUBLES = const(b"ssaeoethijdzljnj")

# U+0370 to U+03FF and U+1F00 to U+1FFF: a to y stand for α to ω, "=" is a letter without a modern form.
_GREEK = const(
    b"====- ==  -=== =      a egi o uyiabcdefghijklmno"
    b"pq stuvwxyiuaegiuabcdefghijklmnopqsstuvwxyiuouy="
    b"bhuuuvp=========================jqs=he ==s======"
)
_GREEK_MORE = const(
    b"aaaaaaaaaaaaaaaaeeeeee  eeeeee  ggggggggggggggggiiiiiiiiiiiiiiii"
    b"oooooo  oooooo  uuuuuuuu u u u uyyyyyyyyyyyyyyyyaaeeggiioouuyy  "
    b"aaaaaaaaaaaaaaaaggggggggggggggggyyyyyyyyyyyyyyyyaaaaa aaaaaaa i "
    b"  ggg ggeeggg   iiii  iiiiii    uuuuqquuuuuuq     yyy yyooyyy   "
)

# Accented letters of two bytes, and what each counts as; likewise alef, waw, yeh, kaf and heh.
_CYRILLIC = "йѐёѓїќѝўѷӂӑӓӗӛӝӟӣӥӧӫӭӯӱӳӵӹ".encode()
_CYRILLIC_PLAIN = "иеегікиуѵжааеәжзииоөэууучы".encode()
_ARABIC = "\u0622\u0623\u0625\u0671\u0624\u0626\u0649\u06cc\u06a9\u0629\u06c0\u06c2\u06d3".encode()
_ARABIC_PLAIN = "\u0627\u0627\u0627\u0627\u0648\u064a\u064a\u064a\u0643\u0647\u06d5\u06c1\u06d2".encode()


# Katakana of half width begin at U+FF66; the marks behind them voice the one before.
_HALF_WIDTH = const(0xFF66)
_KATAKANA = (
    "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
).encode()
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
