"""Phrases of several languages, found in the words of a text whose places are known.

Words are (word, where it begins, where it ends), as split_words() gives them: folded (see unicode_fold), each character of a
script without spaces by itself.
"""

from binascii import crc32

from engram.compat import const
from engram.errors import StoreError
from engram.text.unicode_fold import fold

_FOLDER = __file__.rpartition("/")[0] + "/words/"
_FIRST_BITS = const(4096)
_PIECE = const(1000)  # bytes that fit a heap with holes
_COLON = const(0x3A)
_HYPHEN = const(0x2D)
_WIDE_COLON = const(b"\xef\xbc\x9a")
_ARABIC_MARKS = b"\x8c\x9b\x9f"  # second bytes of the comma, the semicolon and the question mark


class Lexicon:
    """Entries such as "unit:60 hour|hours" of words/NAME_latin.txt and NAME_others.txt, each read at the first such word.

    They are searched as text: a dictionary of their phrases takes ten times the heap.
    """

    def __init__(self, name: str):
        self._name = name
        self._tables = {}  # of the Latin words, if True, and of the others: folded lines, some to a piece
        self._first_words = bytearray(_FIRST_BITS >> 3)  # a bit by its hash for each word that begins a phrase

    def longest(self, words: list, at: int) -> tuple:
        """Return (kind, value, next word) of the longest phrase at a word; ("", 0, at) without one."""
        best = "", 0, at
        if not 0 <= at < len(words):
            return best
        pieces = self._pieces(words[at][0][0] < 0x80)
        bit = crc32(words[at][0]) % _FIRST_BITS
        is_begun = self._first_words[bit >> 3] >> (bit & 7) & 1
        phrase = b"|"
        while is_begun and at < len(words):
            phrase += words[at][0]
            at += 1
            meanings = [_meaning(piece, phrase + b"|") for piece in pieces if phrase + b"|" in piece]
            best = meanings[0] + (at,) if meanings else best
            phrase += b" "
            is_begun = any(phrase in piece for piece in pieces)
        return best

    def _pieces(self, is_latin: bool) -> list:
        pieces = self._tables.get(is_latin)
        if pieces is None:
            lines, size = [], 0
            pieces = self._tables[is_latin] = []
            for line in read_table(self._name + ("_latin" if is_latin else "_others")):
                lines.append(self._folded(line))
                size += len(lines[-1])
                if size > _PIECE:
                    pieces.append(b"".join(lines))
                    lines, size = [], 0
            pieces.append(b"".join(lines))
        return pieces

    def _folded(self, line: str) -> bytes:
        """Return an entry as a line in which each phrase stands between bars, and a comma before those of each value."""
        entry, _, phrases = line.partition(" ")
        folded = bytearray(b"\n" + entry.encode() + b" ")
        for alike in phrases.split(","):
            folded.extend(b",|")
            for phrase in alike.split("|"):
                words = [word for word, _, _ in split_words(phrase.encode())]
                bit = crc32(words[0]) % _FIRST_BITS
                self._first_words[bit >> 3] |= 1 << (bit & 7)
                folded.extend(b" ".join(words) + b"|")
        return bytes(folded)


def _meaning(piece: bytes, phrase: bytes) -> tuple:
    """Return the (kind, value) of a phrase of a piece."""
    at = piece.find(phrase)
    line = piece.rfind(b"\n", 0, at) + 1
    kind, _, value = piece[line : piece.find(b" ", line)].partition(b":")
    return kind.decode(), int(value or 0) + piece.count(b",", line, at) - 1


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
