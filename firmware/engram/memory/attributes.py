"""Recognises attributes that a sentence says or asks of its speaker: home, name, work, phone, mail, birthday, partner.

"Where do I live?" shares no word with "I moved to Berlin"; an index holds the attribute of both as a term, such as +home.
A line of words/attributes_*.txt without a name has phrases that only look like those of another.
"""

from engram import tables
from engram.text.lexicon import Lexicon, split_words
from engram.text.light_words import content_terms
from engram.text.tokenizer import words
from engram.text.utf8 import encode

PAST = "past"
_LONGEST = const(500)  # characters of a text that are looked at: a sentence or two say it
_lexicon = Lexicon("attributes")
_signs = set()  # the longest word of each phrase, as words() gives it: without one of them, a text has no phrase


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
    said = said[:_LONGEST]
    signs = _signs or _find_signs()
    if not any(word in signs for word in words(said)):
        return
    spoken = split_words(encode(said))
    others = []
    at = 0
    while at < len(spoken):
        kind, _, end = _lexicon.longest(spoken, at)
        if kind != PAST:
            others.append(spoken[at])
            end = at + 1
        at = end
    if len(others) < len(spoken):
        yield PAST, 0, 0
    for at in range(len(others)):
        kind, _, end = _lexicon.longest(others, at)
        if kind:
            yield kind, others[at][1], others[end - 1][2]


def _find_signs() -> set:
    found = []
    for script in ("latin", "others"):
        for line in tables.rows("text/words/attributes_" + script):
            for phrase in line.partition(" ")[2].split("|"):
                found.append(max(words(phrase), key=len))
    _signs.update(found)
    return _signs
