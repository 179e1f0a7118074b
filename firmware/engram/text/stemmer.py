"""Light stemming of words that are not plain English, by their script: German with umlauts, Cyrillic, Arabic. The
tokenizer has folded them: no accents, й is и, ة is ه.
"""

from engram import tables

_LEAST = const(3)  # letters that stay

_GERMAN, _PORTUGUESE, _CYRILLIC, _articles, _ARABIC, _ELIDED = [
    (" %s " % row).encode() for row in tables.rows("text/words/endings")
]
_ARTICLES = _articles.split()
# Latin words whose language their accents tell: second bytes of these letters, and endings. ä ö ü, and ã õ.
_ACCENTED = ((b"\xa4\xb6\xbc\x84\x96\x9c", _GERMAN), (b"\xa3\xb5\x83\x95", _PORTUGUESE))
_KIN = (b"mutter", b"vater", b"bruder", b"tochter")  # with an umlaut in the plural alone
_LONGEST_ARTICLE = const(5)


def stem(word: str, written: bytes) -> str:
    """Return the stem of a folded word of what was written."""
    data = word.encode()
    if data[0] < 0x80:
        return word if data in _KIN else _without_ending(data, _latin_endings(written), 1).decode()
    if 0xD0 <= data[0] <= 0xD2:
        return _without_ending(data, _CYRILLIC, 2).decode()
    if 0xD8 <= data[0] <= 0xDB:
        for article in _ARTICLES:
            if data.startswith(article) and len(data) - len(article) >= 2 * _LEAST:
                data = data[len(article) :]
                break
        return _without_ending(data, _ARABIC, 2).decode()
    return word


def _latin_endings(written: bytes) -> bytes:
    at = written.find(b"\xc3")
    while at >= 0:
        for letters, endings in _ACCENTED:
            if written[at + 1] in letters:
                return endings
        at = written.find(b"\xc3", at + 1)
    return b""


def _without_ending(data: bytes, endings: bytes, width: int) -> bytes:
    for size in range(4 * width, 0, -width):
        if len(data) - size >= _LEAST * width and b" " + data[-size:] + b" " in endings:
            return data[:-size]
    return data


def without_articles(data: bytes) -> bytes:
    """Return a text without articles that an apostrophe joins to a word: l'école, dell'olio."""
    *before, joined = data.split(b"'")
    for each in reversed(before):
        at = len(each)
        while at and len(each) - at <= _LONGEST_ARTICLE and _is_of_word(each[at - 1]):
            at -= 1
        is_article = at < len(each) and b" " + each[at:] + b" " in _ELIDED
        joined = each[:at] + b" " + joined if is_article else each + b"'" + joined
    return joined


def _is_of_word(byte: int) -> bool:
    return byte >= 0x80 or 0x61 <= byte <= 0x7A or 0x30 <= byte <= 0x39
