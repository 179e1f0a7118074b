"""The weight of a word: the fewer memories have it, the higher. In integers, alike on every runtime.

The idf is log(1 + (N - n + .5) / (n + .5)) over live rows, times 1024.
"""

import math
from collections import namedtuple

from engram.compat import const

ONE = 4096
"""A score of 1: the best that the words alone can give within one answer."""

OWN = const(5)
"""Weight of a row's own words in its evidence; those of the rows beside it count less, see ranking.py."""

_MOST_TERMS = const(24)  # of a query: keeps sums below 2^30 and the time of a search bounded
_SCALE = const(1024)
MANY = const(1000)  # entries from which on the number of them says how rare a new word is


Measure = namedtuple("Measure", "known weight unknown")
"""The figures of a query's confidence: the weight of its words that stand anywhere; and, as among a thousand entries at
least, the same and the weight of its other words. In a memory of a few, every new word would be rare."""


def inverse_frequency(documents: int, having: int) -> int:
    """The weight of a term that `having` of all `documents` have, times 1024."""
    having = min(having, documents)
    return int(_SCALE * math.log(1 + (documents - having + 0.5) / (having + 0.5)))


def weights(frequencies) -> dict:
    """The idf of each term over several stores as if they were one; of each store (entries, {term: entries with it})."""
    documents, having = _sums(frequencies)
    return {term: inverse_frequency(documents, having[term]) for term in having}


def known_weights(frequencies, idfs: dict) -> dict:
    """The idf of each term, 0 for one that stands nowhere: it finds nothing, and takes no room from the levels of the others.

    The arguments are as weights() takes and gives them.
    """
    return {term: idfs[term] if any(counts.get(term) for _, counts in frequencies) else 0 for term in idfs}


def measure_query(frequencies, known: dict) -> Measure:
    """The Measure of a query; `frequencies` is as weights() takes it, `known` as known_weights() gives it."""
    documents, having = _sums(frequencies)
    weight = unknown = 0
    for count in having.values():
        rarity = inverse_frequency(max(documents, MANY), count)
        if count:
            weight += rarity
        else:
            unknown += rarity
    return Measure(sum(known.values()), weight, unknown)


def _sums(frequencies) -> tuple:
    """(entries, {term: entries with it}) of several stores together."""
    documents = 0
    having = {}
    for count, counts in frequencies:
        documents += count
        for term in counts:
            having[term] = having.get(term, 0) + counts[term]
    return documents, having


def distinct_terms(terms) -> list:
    """The first terms of a query, each once: as many as a search takes into account."""
    found = []
    for term in terms:
        if term not in found:
            found.append(term)
            if len(found) == _MOST_TERMS:
                break
    return found
