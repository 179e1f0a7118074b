"""Cuts a text into the words and signs that facts are compared by.

`C++`, `esp32-s3`, `-5`, `7:30`, `2024-05-03`, `a@b.org`, `192.168.1.1` and paths stay whole, `20mg` and GPIO18 are two words,
`doesn't` is `does not`, and 1,000 has lost its comma. Chinese is cut by the longest word that is listed; what lies between
stays whole. Its numerals become digits where they count something. A sentence ends with `;`.
"""

from engram.compat import const
from engram.memory.fact_words import begins_chinese, head, simplified, unit
from engram.text.unicode_fold import WIDE_MARK, fold
from engram.text.utf8 import encode

_LONGEST = const(12)  # bytes of the longest Chinese word that is listed
_SPACE, _PLUS, _COMMA, _MINUS, _DOT, _SLASH, _COLON, _UNDERSCORE = b" +,-./:_"
_WORDS = {b",": b",", b":": b":", b"=": b"is", b"&": b"and", b"%": b"percent", b"$": b"usd"}  # signs that are words
_MARKS = b"<>+*^~|\\"  # signs that mean something, too
_ENDS = b".;!?\n"  # signs that end a sentence
_ABBREVIATIONS = b" dr mr mrs ms st prof approx a.m p.m e.g i.e etc no "
_HELPERS = {b"ca": b"can", b"wo": b"will"}  # before "n't"
_TAILS = {b"m": b"is", b"re": b"is", b"ve": b"have", b"ll": b"will", b"d": b"would"}  # what may follow an apostrophe
_NOT_OWNERS = b" he she it that there what who here "  # after these 's is "is"

# What a fold would take for a space.
_SIGNS = (
    ("。", ". "), ("、", " and "), ("−", "-"), ("–", "-"), ("℃", " celsius "), ("°", " "), ("€", " eur "), ("£", " gbp "),
    ("¥", " yuan "), ("￥", " yuan "), ("…", ". "), ("½", ".5"), ("²", "2"), ("³", "3"), ("×", "*"), ("±", "+-"), ("≈", "~"),
    ("百分之", " percent "), ("≤", "<="), ("≥", ">="), ("≠", " is not "),
)  # fmt: skip

_NUMERALS = "〇一二三四五六七八九零两十百千万".encode()
_TWO = const(11)
_ANY_MEASURE = "个".encode()
_PAIR = "两".encode()
_PLACES = [sign.encode() for sign in "区市县省镇村路街"]
_WEEKS = ("周".encode(), "星期".encode(), "礼拜".encode())
_WEEKDAYS = "一二三四五六日天".encode()
_DAYS = b"mon tue wed thu fri sat sun sun "
_BEFORE_WEEKDAYS = {"下".encode(): b"next", "上".encode(): b"last", "每".encode(): b"every"}


def cut(text: str) -> list:
    """The words and signs of a text in order, as bytes; letters keep their case."""
    data = encode(text)
    if len(data) != len(text):
        for sign, plain in _SIGNS:
            data = data.replace(sign.encode(), plain.encode())
        data = fold(simplified(data))
    words = []
    word = bytearray()
    for at in range(len(data) + 1):
        byte = data[at] if at < len(data) else _SPACE
        if byte != WIDE_MARK and _is_inside(data, at, byte, word):
            if byte != _COMMA:
                word.append(byte)
            continue
        if word:
            _add(words, bytes(word))
            word = bytearray()
        if byte == WIDE_MARK:
            word.append(byte)
        elif byte != _PLUS or not data[at + 1 : at + 2].isdigit():  # of a phone number
            _add_sign(words, byte)
    return words


def _is_alphanumeric(byte: int) -> bool:
    return byte >= 0x80 or 0x61 <= byte | 0x20 <= 0x7A or _is_digit(byte)


def _is_digit(byte: int) -> bool:
    return 0x30 <= byte <= 0x39


def _is_inside(data: bytes, at: int, byte: int, word: bytearray) -> bool:
    """Whether the byte belongs to the word that was begun, or begins one."""
    if byte == _SPACE:
        return False
    if byte == _UNDERSCORE or _is_alphanumeric(byte):
        return True
    before = word[-1] if word else _SPACE
    after = data[at + 1] if at + 1 < len(data) else _SPACE
    joins = _is_alphanumeric(after)
    if byte == _MINUS:
        if not word:
            return _is_digit(after) and (at == 0 or data[at - 1] in b" (:=")
        return joins and (_is_digit(after) or (_is_digit(before) and not word.isdigit()))
    if byte == _COMMA:
        return word.isdigit() and data[at + 1 : at + 4].isdigit() and not data[at + 4 : at + 5].isdigit()
    if byte == _DOT:
        return joins and (not word or _is_alphanumeric(before))
    if byte == _COLON:
        return after == _SLASH or (_is_digit(before) and _is_digit(after))
    if byte == _SLASH:
        return joins or (before == _COLON and after == _SLASH)
    if byte in b"+#":
        return before == byte or (_is_alphanumeric(before) and not joins)
    return byte in b"@'" and joins and _is_alphanumeric(before)


def _add_sign(words: list, byte: int) -> None:
    sign = bytes((byte,))
    if sign in _WORDS:
        words.append(_WORDS[sign])
    elif byte in _MARKS:
        words.append(b"sign" + sign)
    elif byte in _ENDS and words and words[-1] != b";":
        last = words[-1].lower()
        if byte != _DOT or (len(last) > 1 and b" " + last + b" " not in _ABBREVIATIONS):
            words.append(b";")


def _add(words: list, word: bytes) -> None:
    if word[0] == WIDE_MARK:
        _add_chinese(words, word[1:])
    elif b"'" in word:
        _add_contraction(words, word)
    elif word[4:].isdigit() and word[:4].lower() == b"gpio":
        words.append(word[:4])
        words.append(word[4:])
    else:
        size = _figures(word)
        after = word[size:].lower()
        if size and after and (unit(after) or after == b"am" or after == b"pm"):
            words.append(word[:size])
            word = after
        words.append(word)


def _figures(word: bytes) -> int:
    """How many bytes at the beginning of a word are digits, points, colons and a minus."""
    size = 0
    while size < len(word) and (_is_digit(word[size]) or word[size] in b".:-"):
        size += 1
    return size


def _add_contraction(words: list, word: bytes) -> None:
    at = word.rfind(b"'")
    stem, tail = word[:at], word[at + 1 :].lower()
    if tail == b"t" and stem[-1:].lower() == b"n":
        stem = stem[:-1].lower()
        words.append(_HELPERS.get(stem, stem or b"not"))
        words.append(b"not")
    elif tail == b"s":
        words.append(stem)
        words.append(b"is" if b" " + stem.lower() + b" " in _NOT_OWNERS else b"'s")
    elif tail in _TAILS:
        words.append(stem)
        words.append(_TAILS[tail])
    else:
        words.append(word.replace(b"'", b""))


# --- Chinese, and what else is written without spaces


def _add_chinese(words: list, run: bytes) -> None:
    at = unknown = 0
    while at < len(run):
        word, size = _listed(run, at, words if unknown == at else ())
        if word:
            if unknown < at:
                words.append(run[unknown:at])
            words.append(word)
            unknown = at + size
        at += size
    if unknown < at:
        words.append(run[unknown:])


def _listed(run: bytes, at: int, words) -> tuple:
    """The listed word that begins here, or b"", and how many bytes to go on by. `words` are what stands right before."""
    if words and words[-1][-1:].isdigit():
        for size in (6, 3):
            listed = unit(run[at : at + size])
            if listed:
                return _ANY_MEASURE if listed == b"-" else run[at : at + size], size
    character = run[at : at + 3]
    if character in _BEFORE_WEEKDAYS and _weekday(run, at + 3)[1]:
        return _BEFORE_WEEKDAYS[character], 3
    word, size = _weekday(run, at)
    if not size:
        word, size = _numeral(run, at)
    if size:
        return word, size
    if begins_chinese(character):
        for size in range(_LONGEST, 0, -3):
            listed = head(run[at : at + size]) if at + size <= len(run) else b""
            if listed and not (size == 3 and listed[:1] == b"&" and run[at + 3 : at + 6] in _PLACES):  # 南开区
                return run[at : at + size], size
    return b"", 4 if run[at] >= 0xF0 else 3


def _weekday(run: bytes, at: int) -> tuple:
    """周三, 星期三 and 礼拜三 as `wed`, and their bytes."""
    for week in _WEEKS:
        size = len(week)
        if run[at : at + size] == week:
            day = _WEEKDAYS.find(run[at + size : at + size + 3] or b" ") // 3
            if day >= 0:
                return _DAYS[4 * day : 4 * day + 3], size + 3
    return b"", 0


def _numeral(run: bytes, at: int) -> tuple:
    """The digits of a Chinese number that counts something, and its bytes."""
    start = at
    total = value = 0
    while at < len(run):
        digit = _NUMERALS.find(run[at : at + 3]) // 3
        if digit < 0:
            break
        if digit > _TWO:
            power = 10 ** (digit - _TWO)
            total = (total + value) * power if power == 10000 else total + (value or 1) * power
            value = 0
        else:
            value = 10 * value + (2 if digit == _TWO else 0 if digit == 10 else digit)
        at += 3
    size = at - start
    if size == 3 and run[start:at] != _PAIR and not unit(run[at : at + 3]) and not unit(run[at : at + 6]):
        size = 0
    return str(total + value).encode() if size else b"", size
