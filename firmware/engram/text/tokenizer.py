"""Words and terms: how text is cut up for finding it again.

words          runs of ASCII letters and digits in lower case, apostrophes dropped ("'s" counts as a space); unicode_fold
               brings other scripts and emoji into a like form, and is loaded when the first of them turns up
terms          words without the stop words, the ASCII ones stemmed: what a query asks for
index_terms    terms, and each single Han character and Hangul syllable: what an index holds

The retrieval figures were measured with these steps: a change here changes ranks, and indexes are to be rebuilt.
"""

from engram.compat import const
from engram.text.unicode_fold import fold
from engram.text.utf8 import encode

# The longest word in bytes; the rest of a longer one is left out. It bounds an index's entries.
MAX_TERM = 48

# The stop words by their length. A word is looked for among those of its own length, where a match is always
# a whole word: as fast as a set, a fifth of its size, and nothing is allocated.
STOP_WORDS = (
    b"",
    b"a i s t d m o",
    b"an or if of to in on at by as is be am do he it we me us my so no ll re ve",
    b"the and but for are was did has had you she him her his its our who why how too can not nor don",
    b"with from were been does have they them your this that what whom when here than then very will just",
    b"about being doing their these those which whose where there could would",
    b"having should",
)

_LONGEST_STOP_WORD = const(6)
_APOSTROPHE = const(0x27)
_WIDE_MARK = const(0xFF)  # engram.text.unicode_fold puts it before a run of a script without spaces
_FIRST_LEAD_OF_WORDS = const(0xE4)  # Han and Hangul begin with it or a higher byte, kana and Thai with lower ones
_D, _E, _G, _I, _L, _S, _U, _Y = b"degilsuy"
_VOWELS = const(b"aeiouy")
_CONSONANTS = const(b"bcdfghjklmnpqrstvwxz")
_AROUND = const(b'.,!?;:"()[]*-\n\r\t')  # what often stands before or after a word: only a short cut


def words(text: str):
    """Yield the words of a text in order, case and accents folded."""
    for word in _words(text):
        yield _text(word)


def terms(text: str, singles: bool = False):
    """Yield the words of a text in order without stop words, the ASCII ones stemmed."""
    for word in _words(text, singles):
        size = len(word)
        if size > _LONGEST_STOP_WORD or word not in STOP_WORDS[size]:
            yield _text(_stem(word) if 2 < size <= MAX_TERM and word[-1] < 0x80 else word)


def index_terms(text: str):
    """Yield the terms of a text and each single character of it that is a word by itself in many a query, such as 猫."""
    return terms(text, True)


def _words(text: str, singles: bool = False):
    """The words as bytes. Most stand between spaces and need no look at their single bytes."""
    data = encode(text).lower()
    fold = _load_fold() if len(data) != len(text) else None
    start, size = 0, len(data)
    while start < size:
        end = data.find(b" ", start)
        if end < 0:
            end = size
        piece = data[start:end]
        start = end + 1
        if piece.isalpha():
            yield piece
        else:
            piece = piece.strip(_AROUND)
            if piece.isalpha():
                yield piece
            elif piece:
                yield from _split(piece, fold, singles)


def _load_fold():
    return fold


def _split(piece: bytes, fold, singles: bool):
    """The words of a piece without spaces."""
    if not fold or (piece[0] < 0x80 and max(piece) < 0x80):
        yield from _scan(piece)
    else:
        for part in parts(fold(piece)):
            if part[0] == _WIDE_MARK:
                yield from _pairs(part, singles)
            elif part[0] >= 0x80 and min(part) >= 0x80:
                yield part
            else:
                yield from _scan(part)


def parts(data: bytes):
    """Yield the pieces between spaces: a list of thousands of emoji would fill a heap."""
    start, size = 0, len(data)
    while start < size:
        end = data.find(b" ", start)
        if end < 0:
            end = size
        if end > start:
            yield data[start:end]
        start = end + 1


def split_phrases(words: str) -> list:
    """The phrases of a text in which | stands between them, as bytes."""
    return words.encode().split(b"|")


def _scan(piece: bytes):
    """Words between all that is no letter, digit or apostrophe."""
    run = bytearray()
    for byte in piece:
        if byte >= 0x80 or 0x61 <= byte <= 0x7A or 0x30 <= byte <= 0x39 or byte == _APOSTROPHE:
            run.append(byte)
        elif run:
            yield from _without_apostrophes(bytes(run))
            run = bytearray()
    if run:
        yield from _without_apostrophes(bytes(run))


def _without_apostrophes(run: bytes) -> "list | tuple":
    """`rock's'n` gives rock and n: "'s" counts as a space where the word ends with it."""
    if b"'" not in run:
        return (run,)
    run += b"'"
    while b"'s'" in run:
        run = run.replace(b"'s'", b" '")
    return run.replace(b"'", b"").split()


def _pairs(run: bytes, singles: bool):
    """Each two neighbours of a script without spaces; a character that stands alone gives itself.

    With `singles` a Han character or a Hangul syllable gives itself as well.
    """
    before, start = 0, 1
    while start < len(run):
        end = start + (4 if run[start] >= 0xF0 else 3)
        if before:
            yield run[before:end]
        if (singles and run[start] >= _FIRST_LEAD_OF_WORDS) or (not before and end == len(run)):
            yield run[start:end]
        before, start = start, end


def _text(word: bytes) -> str:
    if len(word) > MAX_TERM:
        end = MAX_TERM
        while word[end] & 0xC0 == 0x80:
            end -= 1
        word = word[:end]
    return word.decode()


def _stem(word: bytes) -> bytes:
    """A word of over two letters without its ending, so that its forms meet: live and lives, use and using."""
    last = word[-1]
    if last == _S:
        word = _singular(word)
    elif last == _D and word.endswith(b"ied") and len(word) > 4:
        word = word[:-3] + b"y"
    elif last == _D and word[-2] == _E and word[-3] != _E and _has_vowel(word, 2):
        word = word[:-2]
    elif last == _G and len(word) >= 5 and word.endswith(b"ing") and _has_vowel(word, 3):
        word = word[:-3]
    elif last == _Y and len(word) >= 6 and word[-2] == _L:
        word = word[:-2]
    if word[-1] == _E and len(word) > 2:
        word = word[:-1]
    size = len(word)
    if size > 3 and word[-1] == word[-2] and word[-1] in _CONSONANTS:
        return word[:-1]
    if size > 2 and word[-1] == _Y and word[-2] not in _VOWELS:
        return word[:-1] + b"i"
    return word


def _singular(word: bytes) -> bytes:
    if word.endswith(b"ies") and len(word) > 4:
        return word[:-3] + b"y"
    if word.endswith(b"sses"):
        return word[:-2]
    if len(word) > 3 and word[-2] == _E and word[-3] != _E:
        return word[:-2]
    return word if word[-2] in (_S, _U, _I) else word[:-1]


def _has_vowel(word: bytes, ending: int) -> bool:
    """Whether a vowel stands before an ending of so many letters: "red" and "bring" have none."""
    return any(letter in _VOWELS for letter in memoryview(word)[: len(word) - ending])
