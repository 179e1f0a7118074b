"""Phrases of several languages, found in the words of a text whose places are known.

Words are (word, where it begins, where it ends), as split_words() gives them: folded (see unicode_fold), each character of a
script without spaces by itself.
"""

from engram.compat import const
from engram.errors import StoreError
from engram.text.unicode_fold import fold

_FOLDER = __file__.rpartition("/")[0] + "/words/"
_COLON = const(0x3A)
_HYPHEN = const(0x2D)
_WIDE_COLON = const(b"\xef\xbc\x9a")
_ARABIC_MARKS = b"\x8c\x9b\x9f"  # second bytes of the comma, the semicolon and the question mark


class Lexicon:
    """Entries such as "unit:60 hour|hours" of words/NAME_latin.txt and NAME_others.txt, each read at the first such word."""

    def __init__(self, name: str):
        self._unread = [name + "_others", name + "_latin"]
        self._meanings = {}
        self._sizes = {}  # by its first word, how many words the longest phrase has

    def longest(self, words: list, at: int) -> tuple:
        """Return (kind, value, next word) of the longest phrase at a word; ("", 0, at) without one."""
        if not 0 <= at < len(words):
            return "", 0, at
        first = words[at][0]
        self._read(first[0] < 0x80)
        best, phrase = ("", 0, at), b""
        for end in range(at, min(len(words), at + self._sizes.get(first, 0))):
            phrase += b" " + words[end][0]
            meaning = self._meanings.get(phrase)
            if meaning:
                best = meaning[0], meaning[1], end + 1
        return best

    def _read(self, is_latin: bool) -> None:
        name = self._unread[is_latin]
        for line in read_table(name) if name else ():
            entry, _, phrases = line.partition(" ")
            kind, _, value = entry.partition(":")
            for place, alike in enumerate(phrases.split(",")):
                self._add((kind, int(value or 0) + place), alike)
        self._unread[is_latin] = ""

    def _add(self, meaning: tuple, phrases: str) -> None:
        for phrase in phrases.split("|"):
            words = [word for word, _, _ in split_words(phrase.encode())]
            self._meanings.setdefault(b" " + b" ".join(words), meaning)
            self._sizes[words[0]] = max(len(words), self._sizes.get(words[0], 0))


def read_table(name: str):
    """Yield the lines of words/NAME.txt without comments; StoreError if it cannot be read."""
    try:
        with open(_FOLDER + name + ".txt", "rb") as file:
            lines = file.read().decode().split("\n")
    except OSError as error:
        raise StoreError("the words of %s cannot be read (%s): install the code again." % (name, error)) from None
    for line in lines:
        if line and line[0] != "#":
            yield line


def split_words(data: bytes) -> list:
    found = []
    at, begin = 0, -1
    while at < len(data):
        byte = data[at]
        after = at + (1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
        if _is_part(data, at, begin):
            begin = at if begin < 0 else begin
        else:
            _add(found, data, begin, at)
            begin = -1
            if 0xE3 <= byte <= 0xED and not data.startswith(b"\xe3\x80", at):
                found.append((data[at:after], at, after))
        at = after
    _add(found, data, begin, len(data))
    return found


def _is_part(data: bytes, at: int, begin: int) -> bool:
    """True for a letter of a script with spaces, or a colon or hyphen inside a word or time."""
    byte = data[at]
    colon = 1 if byte == _COLON else 3 if data[at : at + 3] == _WIDE_COLON else 0
    if colon:
        return begin >= 0 and not 0x41 <= data[at - 1] <= 0x7A and _is_digit(data, at + colon)
    if byte == _HYPHEN:
        return begin >= 0 and _is_letter(data, at + 1)
    if byte < 0x80:
        return _is_letter(data, at)
    if byte == 0xD8 and data[at + 1] in _ARABIC_MARKS:
        return False
    return byte not in (0xC2, 0xE2) and byte < 0xE3


def _is_digit(data: bytes, at: int) -> bool:
    byte = data[at] if at < len(data) else 0
    return 0x30 <= byte <= 0x39 or (byte == 0xD9 and 0xA0 <= data[at + 1] <= 0xA9)


def _is_letter(data: bytes, at: int) -> bool:
    byte = data[at] if at < len(data) else 0
    return 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A or 0xC3 <= byte <= 0xDB


def _add(found: list, data: bytes, begin: int, end: int) -> None:
    if begin < 0:
        return
    word = data[begin:end].lower()
    if max(word) >= 0x80:
        word = fold(word).strip()
    if word:
        found.append((word, begin, end))
