"""Words and terms: how text is cut up for finding it again.

words          runs of ASCII letters and digits in lower case, apostrophes dropped ("'s" counts as a space); unicode_fold
               brings other scripts and emoji into a like form, and is loaded when the first of them turns up
terms          words without the stop words, the ASCII ones stemmed: what a query asks for
index_terms    terms, and each single Han character and Hangul syllable: what an index holds

The retrieval figures were measured with these steps: a change here changes ranks, and indexes are to be rebuilt.
"""

from array import array

from engram import tables
from engram.native import loops
from engram.text import stemmer
from engram.text.unicode_fold import fold, full_katakana
from engram.text.utf8 import encode

# The longest word in bytes; the rest of a longer one is left out. It bounds an index's entries.
MAX_TERM = 48

# The stop words by their length. A word is looked for among those of its own length, where a match is always
# a whole word: as fast as a set, a fifth of its size, and nothing is allocated.
STOP_WORDS = tuple([b""] + [line.encode() for line in tables.rows("text/words/stop")])

_WIDE_MARK = const(0xFF)  # engram.text.unicode_fold puts it before a run of a script without spaces
_FIRST_LEAD_OF_WORDS = const(0xE4)  # Han and Hangul begin with it or a higher byte, kana and Thai with lower ones
_AT_ONCE = const(512)  # bytes of a text whose words are held at once

_STOP_WORDS = b" ".join(STOP_WORDS)[1:] + b" "
_STARTS = array("H", [0, 0] + [_STOP_WORDS.find(group) for group in STOP_WORDS[2:]])
_STARTS.extend(array("H", [len(_STOP_WORDS)] * (MAX_TERM + 2 - len(_STARTS))))


def words(text: str):
    """Yield a text's words in order, with case and accents folded."""
    return _cut(text, False, False)


def terms(text: str, singles: bool = False):
    """Yield a text's words in order, without stop words, ASCII ones stemmed."""
    return _cut(text, singles, True)


def index_terms(text: str):
    """Yield a text's terms, and single characters that queries use as words, such as 猫."""
    return _cut(text, True, True)


def _cut(text: str, singles: bool, is_stemmed: bool):
    data = encode(text).lower()
    is_ascii = len(data) == len(text)
    start, size = 0, len(data)
    while start < size:
        end = data.find(b" ", start + (_AT_ONCE if is_ascii else 0))
        if end < 0:
            end = size
        piece = data[start:end]
        start = end + 1
        if not piece:
            continue
        if is_ascii or max(piece) < 0x80:
            yield from _words(piece, is_stemmed)
            continue
        for part in parts(fold(full_katakana(piece))):
            if part[0] == _WIDE_MARK:
                yield from _pairs(part, singles)
            else:
                found = _words(part, is_stemmed)
                yield from [stemmer.stem(word, piece) for word in found] if is_stemmed else found


def _words(data: bytes, is_stemmed: bool):
    data = stemmer.without_articles(data) if b"'" in data else data
    found = bytearray(len(data) + 1)
    size = loops.cut_words(data, len(data), found, _STOP_WORDS, _STARTS, is_stemmed)
    return str(memoryview(found)[: size - 1], "utf-8").split(" ") if size else ()


def parts(data: bytes):
    start, size = 0, len(data)
    while start < size:
        end = data.find(b" ", start)
        if end < 0:
            end = size
        if end > start:
            yield data[start:end]
        start = end + 1


def _pairs(run: bytes, singles: bool):
    """Yield neighbouring pairs of a script without spaces; `singles` adds Han and Hangul."""
    before, start = 0, 1
    while start < len(run):
        end = start + (4 if run[start] >= 0xF0 else 3)
        if before:
            yield run[before:end].decode()
        if (singles and run[start] >= _FIRST_LEAD_OF_WORDS) or (not before and end == len(run)):
            yield run[start:end].decode()
        before, start = start, end
