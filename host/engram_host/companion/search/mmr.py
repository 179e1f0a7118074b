"""Maximal marginal relevance: an order of hits in which each differs from those above it.

    next = the hit with the highest  share x score / best score - (1 - share) x likeness to the likest one chosen

Likeness is the cosine of two vectors, or, where one is missing, the share of words that two texts have in common.
Source: Carbonell and Goldstein 1998, "The use of MMR, diversity-based reranking for reordering documents".
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.fusion import SCORE_DIGITS
from engram_host.companion.store.vectors import Vector

Words = frozenset[str]


def mmr_order(
    scores: Sequence[float], vectors: Sequence[Vector], words: Sequence[Words], *, limit: int, share: float
) -> list[int]:
    """Return the places of the first `limit` hits; a missing vector is NaN."""
    if not scores:
        return []
    matrix = np.array(vectors, np.float64)
    relevance = share * np.array(scores) / max(1e-12, *scores)
    likest = np.zeros(len(scores))
    chosen: list[int] = []
    while len(chosen) < min(limit, len(scores)):
        values = np.round(relevance - (1 - share) * likest, SCORE_DIGITS)
        values[chosen] = -np.inf
        chosen.append(int(np.argmax(values)))
        likest = np.maximum(likest, _likeness(chosen[-1], matrix, words))
    return chosen


def _likeness(place: int, vectors: NDArray[np.float64], words: Sequence[Words]) -> NDArray[np.float64]:
    found = np.maximum(0, vectors @ vectors[place])
    for other in np.flatnonzero(np.isnan(found)).tolist():
        every = words[place] | words[other]
        found[other] = len(words[place] & words[other]) / len(every) if every else 0
    return found
