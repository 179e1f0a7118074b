"""Phrases of several languages, found in the words of a text whose places are known.

Words are (word, where it begins, where it ends), as split_words() gives them: folded (see unicode_fold), each character of a
script without spaces by itself.
"""

from array import array
from binascii import crc32

from engram import tables
from engram.text.unicode_fold import fold

_BEGUN_BITS = const(8192)
_HASH_SHIFT = const(2)  # of a crc32: the rest is a small integer
_COLON = const(0x3A)
_HYPHEN = const(0x2D)
_WIDE_COLON = const(b"\xef\xbc\x9a")
_ARABIC_MARKS = b"\x8c\x9b\x9f"  # second bytes of the comma, the semicolon and the question mark


class Lexicon:
    """Entries such as "unit:60 hour|hours" of words/NAME_latin.txt and NAME_others.txt, each read at the first such word.

    A phrase is known by its hash: as texts they would take ten times the heap.
    """

    def __init__(self, name: str):
        self._name = name
        self._phrases = {}  # of the Latin ones, if True, and of the others: sorted hashes, and the places of their meanings
        self._meanings = []
        self._begun = bytearray(_BEGUN_BITS >> 3)  # a bit by its hash for each begin of a phrase

    def longest(self, words: list, at: int) -> tuple:
        """Return (kind, value, next word) of the longest phrase at a word; ("", 0, at) without one."""
        best = "", 0, at
        hash, is_latin = 0, 0 <= at < len(words) and words[at][0][0] < 0x80
        while 0 <= at < len(words):
            hash = crc32(words[at][0] + b" ", hash)
            at += 1
            phrases = self._phrases.get(is_latin) or self._read(is_latin)
            if not self._begun[hash % _BEGUN_BITS >> 3] >> (hash & 7) & 1:
                break
            place = _find(phrases[0], hash >> _HASH_SHIFT)
            if place >= 0:
                best = self._meanings[phrases[1][place]] + (at,)
        return best

    def _read(self, is_latin: bool) -> tuple:
        found = []
        for line in tables.rows("text/words/%s_%s" % (self._name, "latin" if is_latin else "others")):
            entry, _, phrases = line.partition(" ")
            kind, _, value = entry.partition(":")
            for place, alike in enumerate(phrases.split(",")):
                meaning = kind, int(value or 0) + place
                if meaning not in self._meanings:
                    self._meanings.append(meaning)
                for phrase in alike.split("|"):
                    found.append((self._hash(phrase) >> _HASH_SHIFT, self._meanings.index(meaning)))
        found.sort()
        self._phrases[is_latin] = array("I", [hash for hash, _ in found]), bytes([place for _, place in found])
        return self._phrases[is_latin]

    def _hash(self, phrase: str) -> int:
        hash = 0
        for word, _, _ in split_words(phrase.encode()):
            hash = crc32(word + b" ", hash)
            self._begun[hash % _BEGUN_BITS >> 3] |= 1 << (hash & 7)
        return hash


def _find(hashes: array, hash: int) -> int:
    """Return the place of a hash, -1 for none."""
    low, high = 0, len(hashes)
    while low < high:
        middle = (low + high) >> 1
        if hashes[middle] < hash:
            low = middle + 1
        else:
            high = middle
    return low if low < len(hashes) and hashes[low] == hash else -1


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
