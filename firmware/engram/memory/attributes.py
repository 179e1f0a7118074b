"""Recognises attributes that a sentence says or asks of its speaker: home, name, work, phone, mail, birthday, partner.

"Where do I live?" shares no word with "I moved to Berlin"; an index holds the attribute of both as a term, such as +home.
"""

from engram.compat import const
from engram.text.lexicon import Lexicon, read_table, split_words
from engram.text.utf8 import encode

PAST = "past"
_LONGEST = const(500)  # characters of a text that are looked at: a sentence or two say it
_lexicon = Lexicon("attributes")
_signs = set()  # the longest word of each phrase: without one of them, a text has no phrase


def kinds(said: str) -> set:
    """Return the attributes of a text, "" and PAST among them."""
    data = encode(said[:_LONGEST]).lower()
    if not any(sign in data for sign in _signs or _find_signs()):
        return set()
    words = split_words(data)
    others = [word for at, word in enumerate(words) if _lexicon.longest(words, at)[0] != PAST]
    found = {_lexicon.longest(others, at)[0] for at in range(len(others))}
    return found if len(others) == len(words) else found.union((PAST,))


def _find_signs() -> set:
    for name in ("attributes_latin", "attributes_others"):
        for line in read_table(name):
            for phrase in line.partition(" ")[2].split("|"):
                sign = max(encode(phrase.replace("'", " ")).split(), key=len)
                if not any(known in sign for known in _signs):
                    _signs.add(sign)
    return _signs


def terms(said: str):
    """Yield the attributes of a text as terms of the index."""
    for kind in sorted(kinds(said)):
        if kind and kind != PAST:
            yield "+" + kind
