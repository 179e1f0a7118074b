"""Recognises attributes that a sentence says or asks of its speaker: home, name, work, phone, mail, birthday, partner.

"Where do I live?" shares no word with "I moved to Berlin"; an index holds the attribute of both as a term, such as +home.
"""

from engram.compat import const
from engram.text.lexicon import Lexicon, read_table, split_words
from engram.text.light_words import content_terms
from engram.text.utf8 import encode

PAST = "past"
_LONGEST = const(500)  # characters of a text that are looked at: a sentence or two say it
_lexicon = Lexicon("attributes")
_signs = set()  # the longest word of each phrase: without one of them, a text has no phrase


def kinds(said: str) -> set:
    """Return the attributes of a text, PAST among them."""
    return {kind for kind, _, _ in _phrases(said)}


def terms(said: str):
    """Yield the attributes of a text as terms of the index."""
    for kind in sorted(kinds(said)):
        if kind != PAST:
            yield "+" + kind


def content(query: str) -> list:
    """Return the terms of a query that say something; those of an attribute say it together: where do I live? is +home."""
    found, rest = [], bytearray(encode(query))
    for kind, begin, end in _phrases(query):
        if kind != PAST:
            rest[begin:end] = b" " * (end - begin)
            found.append("+" + kind)
    return found + content_terms(rest.decode())


def _phrases(said: str):
    """Yield (attribute, where its phrase begins, where it ends) in the UTF-8 of a text."""
    data = encode(said[:_LONGEST]).lower()
    if not any(sign in data for sign in _signs or _find_signs()):
        return
    words = split_words(data)
    others = [word for at, word in enumerate(words) if _lexicon.longest(words, at)[0] != PAST]
    if len(others) < len(words):
        yield PAST, 0, 0
    for at in range(len(others)):
        kind, _, end = _lexicon.longest(others, at)
        if kind:
            yield kind, others[at][1], others[end - 1][2]


def _find_signs() -> set:
    for name in ("attributes_latin", "attributes_others"):
        for line in read_table(name):
            for phrase in line.partition(" ")[2].split("|"):
                sign = max(encode(phrase.replace("'", " ")).split(), key=len)
                if not any(known in sign for known in _signs):
                    _signs.add(sign)
    return _signs
