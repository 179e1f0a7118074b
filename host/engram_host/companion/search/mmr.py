"""Maximal marginal relevance: an answer that says what a better one said already comes later.

    next = the candidate with the highest  lambda score / best score - (1 - lambda) likeness to the likest one chosen

Likeness is the cosine of two vectors, or, where one is missing, the share of words that two texts have in common.
Source: Carbonell and Goldstein 1998, "The use of MMR, diversity-based reranking for reordering documents".
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_DIGITS = 9


def mmr_order(
    scores: Sequence[float],
    vectors: NDArray[np.float64],
    has_vector: NDArray[np.bool_],
    words: Sequence[frozenset[str]],
    limit: int,
    share: float,
) -> list[int]:
    """The places of at most `limit` candidates in the order in which they are to be shown.

    `scores` fall; `vectors` has a row for each, of length 1 where `has_vector`; `words` are the texts' words; `share` is
    lambda. Of equals the one that stood before stays before.
    """
    best = max(max(scores, default=0.0), 1e-12)
    relevance = np.array(scores) / best
    likest = np.zeros(len(scores))
    left = np.ones(len(scores), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(limit, len(scores)):
        value = np.round(share * relevance - (1 - share) * likest, _DIGITS)
        place = int(np.argmax(np.where(left, value, -np.inf)))
        chosen.append(place)
        left[place] = False
        likest = np.maximum(likest, _likeness(place, vectors, has_vector, words))
    return chosen


def _likeness(
    place: int, vectors: NDArray[np.float64], has_vector: NDArray[np.bool_], words: Sequence[frozenset[str]]
) -> NDArray[np.float64]:
    """How like each candidate is to one of them, 0 to 1."""
    by_vector = np.maximum(0, (vectors * vectors[place]).sum(axis=1))
    if has_vector.all():
        return by_vector
    by_words = np.array([_shared(words[place], other) for other in words])
    return np.where(has_vector & has_vector[place], by_vector, by_words)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0
