"""Words that say nothing by themselves: function words, question verbs, greetings. The others say what a message is about.

Each line of words/light.txt has the folded words of one language (see words()); a message is of the language that most of
its words are in. Of Han each character is a word, and those of the last line say nothing.
"""

from engram import tables
from engram.text.tokenizer import index_terms, words

_FIRST_HAN = const(0x3400)
_LAST_HAN = const(0x9FFF)

_tables = []  # one a language; the last has the Han that say nothing


def content_terms(message: str) -> list:
    """Return the distinct terms of a message's words that say something; of Han each character is one."""
    heard = list(words(message))
    if not _tables:
        _tables.extend([" %s " % line for line in tables.rows("text/words/light")])
    counts = [sum([" %s " % word in table for word in heard]) for table in _tables]
    table = _tables[counts.index(max(counts))] if any(counts) else ""
    found = []
    for word in heard:
        if " %s " % word not in table:
            for term in index_terms(word):
                if term not in found and _says_something(term):
                    found.append(term)
    return found


def _says_something(term: str) -> bool:
    has_han = any(_FIRST_HAN <= ord(each) <= _LAST_HAN for each in term[:2])
    return has_han == (len(term) == 1) and term not in _tables[-1]
