"""The weight of a word: the fewer memories have it, the higher. In integers, alike on every runtime.

The idf is log(1 + (N - n + .5) / (n + .5)) over live rows, times 1024.
"""

import math
from collections import namedtuple

ONE = 4096
"""Score 1.0: the best by words alone."""

OWN = const(5)
"""Weight of a row's own words in its evidence; neighbours count less, see ranking.py."""

_MOST_TERMS = const(24)  # of a query: keeps sums below 2^30 and the time of a search bounded
_SCALE = const(1024)
MANY = const(1000)  # entries from which on the number of them says how rare a new word is


Measure = namedtuple("Measure", "known weight unknown")
"""A query's known weight, and among at least 1000 entries its known and unknown weights."""


def inverse_frequency(documents: int, having: int) -> int:
    """Return the weight of a term in `having` of `documents`, times 1024."""
    having = min(having, documents)
    return int(_SCALE * math.log(1 + (documents - having + 0.5) / (having + 0.5)))


def weights(frequencies) -> dict:
    """Return each term's idf over several stores as one, from (entries, {term: entries}) of each."""
    documents, having = _sums(frequencies)
    return {term: inverse_frequency(documents, having[term]) for term in having}


def known_weights(frequencies, idfs: dict) -> dict:
    """Return idfs with 0 for terms that occur nowhere, so that the others keep their levels."""
    return {term: idfs[term] if any(counts.get(term) for _, counts in frequencies) else 0 for term in idfs}


def measure_query(frequencies, known: dict) -> Measure:
    """Return the Measure of a query from weights() and known_weights()."""
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
    documents = 0
    having = {}
    for count, counts in frequencies:
        documents += count
        for term in counts:
            having[term] = having.get(term, 0) + counts[term]
    return documents, having


def distinct_terms(terms) -> list:
    """Return the query's first distinct terms, as many as a search uses."""
    found = []
    for term in terms:
        if term not in found:
            found.append(term)
            if len(found) == _MOST_TERMS:
                break
    return found
