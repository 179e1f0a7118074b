"""Finds facts that say different things of one matter, in any language: all words but one value are the same, or both state
the attribute that is asked for.
"""

from engram import text
from engram.memory import attributes
from engram.text.light_words import content_terms

_LONGEST = const(3)  # words of a value; of Han, characters


class Fact:
    """A text as it is compared with others."""

    def __init__(self, said: str, query: str):
        self._said = said
        self._words = list(text.words(said))
        self._kinds = attributes.kinds(said)
        self._asked = attributes.kinds(query) - {"", attributes.PAST}

    def contradicts(self, other) -> bool:
        """True if only one of both can hold, as far as their words tell."""
        if self._words == other._words or attributes.PAST in self._kinds.union(other._kinds):
            return False
        return bool(self._kinds & other._kinds & self._asked) or self._has_another_value(other)

    def _has_another_value(self, other) -> bool:
        mine, theirs = self._words, other._words
        shortest = min(len(mine), len(theirs))
        first = last = 0
        while first < shortest and mine[first] == theirs[first]:
            first += 1
        while last < shortest - first and mine[-1 - last] == theirs[-1 - last]:
            last += 1
        values = len(mine) - first - last, len(theirs) - first - last
        shared = mine[:first] + mine[len(mine) - last :]
        is_one_value = min(values) > 0 and max(values) <= _LONGEST <= len(shared)
        return is_one_value and bool(content_terms(" ".join(shared)))
