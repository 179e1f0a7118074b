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

MicroPython has no unicodedata. The tables cost no heap where this file is frozen into the firmware; elsewhere
they are loaded when the first character turns up that is not ASCII.
"""

from engram.compat import const
from engram.text.utf8 import put

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

# Where the kind changes: the first code of each run of one kind, and the kind as the last hexadecimal digit.
_RUNS = const((
    # Latin, modifiers, marks, Greek, Cyrillic, Armenian
    0x0080_0, 0x00A0_6, 0x02B0_2, 0x02B9_E, 0x02C0_2, 0x0370_8, 0x0400_A, 0x0482_0, 0x0483_2, 0x048A_A,
    0x0530_B, 0x0557_1, 0x055A_2, 0x055D_0, 0x055E_2, 0x0560_1, 0x0589_0,
    # Hebrew
    0x0591_2, 0x05BE_0, 0x05BF_2, 0x05C0_0, 0x05C1_2, 0x05C3_0, 0x05C4_2, 0x05C6_0, 0x05C7_2, 0x05D0_1,
    0x05F3_2,
    # Arabic, Syriac, Thaana
    0x0600_0, 0x0610_2, 0x061B_0, 0x061C_2, 0x061D_0, 0x0620_C, 0x0640_2, 0x0641_C, 0x064B_2, 0x0660_C,
    0x066A_0, 0x066E_C, 0x0670_2, 0x0671_C, 0x06D4_0, 0x06D5_C, 0x06D6_2, 0x06E5_C, 0x06E7_2, 0x06EE_C,
    0x06FD_0, 0x06FF_C, 0x0700_0, 0x0710_1, 0x0730_2, 0x074D_1, 0x07A6_2, 0x07B1_1, 0x0890_2, 0x08A0_1,
    0x08CA_2,
    # the scripts of India; Thai, Lao; Tibetan; Myanmar, Georgian, Ethiopic; Khmer, Mongolian and on
    0x0900_1, 0x0964_0, 0x0966_1, 0x0970_0, 0x0971_1, 0x0DF4_0,
    0x0E01_3, 0x0E3F_0, 0x0E40_3, 0x0E4F_0, 0x0E50_3, 0x0E5A_0, 0x0E81_3,
    0x0F00_1, 0x0F01_0, 0x0F18_1, 0x0F1A_0, 0x0F20_1, 0x0F3A_0, 0x0F3E_1, 0x0FBE_0,
    0x1000_3, 0x104A_0, 0x1050_3, 0x10A0_1, 0x1360_0, 0x1369_1,
    0x1780_3, 0x17D4_0, 0x17E0_3, 0x1800_0, 0x180B_2, 0x1810_1, 0x1AB0_2, 0x1B00_1, 0x1DC0_2,
    # more Latin and Greek; punctuation, symbols
    0x1E00_7, 0x1F00_9,
    0x2000_0, 0x200C_2, 0x2010_0, 0x2019_E, 0x201A_0, 0x202A_2, 0x202F_0, 0x2060_2, 0x2070_0, 0x20D0_2,
    0x2100_0, 0x2300_5, 0x2400_0, 0x2600_5, 0x27C0_0, 0x2B00_5, 0x2C00_1, 0x2E00_0,
    # kana, Bopomofo; Han, Yi, Hangul
    0x3005_3, 0x3008_0, 0x3021_3, 0x302A_2, 0x3030_0, 0x3031_3, 0x3036_0, 0x303B_3, 0x303D_0, 0x3041_3,
    0x3099_2, 0x309B_3, 0x30A0_0, 0x30A1_3, 0x30FB_0, 0x30FC_3, 0x3190_0, 0x31A0_3, 0x31C0_0, 0x31F0_3,
    0x3200_1, 0x3400_3, 0x4DC0_0, 0x4E00_3, 0xA000_1, 0xAC00_3, 0xD7B0_1, 0xD800_0,
    # compatibility forms, full and half width
    0xF900_3, 0xFB00_1, 0xFD3E_0, 0xFD50_1, 0xFE00_2, 0xFE10_0, 0xFE20_2, 0xFE30_0, 0xFE70_1, 0xFEFF_2,
    0xFF01_D, 0xFF5F_0, 0xFF66_3, 0xFFA0_1, 0xFFE0_0,
    # old scripts, old kana; emoji; more Han; tags and variations
    0x10000_1, 0x1B000_3, 0x1B170_1,
    0x1F000_5, 0x1F1E6_4, 0x1F200_5, 0x1F3FB_2, 0x1F400_5, 0x1FB00_0,
    0x20000_3, 0xE0000_2, 0xE01F0_0,
    0x200000_0,
))  # fmt: skip

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


def fold(data: bytes) -> bytes:
    """Strict UTF-8 of a text, ASCII already in lower case, in the form that is described above."""
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
                first, after, run_kind = _RUNS[index] >> 4, _RUNS[index + 1] >> 4, _RUNS[index] & 15
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
    """The index of the run that a code is in."""
    low, high = 0, len(_RUNS) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if _RUNS[middle] >> 4 <= code:
            low = middle
        else:
            high = middle
    return low


def _write(out: bytearray, code: int, kind: int, before: int) -> int:
    """Append a character and what has to stand before it; return its kind."""
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
    """The code of what a character of a script counts as: a space where it is no letter, 0 where it is left out."""
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
    """The letter that stands in `plain` where `code` stands in `variants`."""
    at = variants.find(bytes((0xC0 | code >> 6, 0x80 | code & 0x3F)))
    return code if at < 0 else (plain[at] & 0x1F) << 6 | plain[at + 1] & 0x3F


def _full_width(code: int) -> int:
    code -= 0xFEE0
    return code + 0x20 if 0x41 <= code <= 0x5A else code
