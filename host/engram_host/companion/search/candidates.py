"""Which rows may be an answer: the best of each side, before both are fused.

What is equal to the last one that is taken is taken as well, so that no order of rows decides.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.request import SearchRequest
from engram_host.companion.search.vector_search import ROUNDING, SHORTLIST, VectorScores

Rows = NDArray[np.intp]

_EQUAL = 1e-6
"""Cosines of equal texts may differ by this, in their last bits."""


def candidate_rows(
    request: SearchRequest,
    lexical: Sequence[NDArray[np.float64]] | None,
    meaning: VectorScores | None,
    boards: int,
    depth: int,
) -> list[Rows]:
    """The rows of each of some boards that one side takes; their vectors are loaded then.

    `lexical` are the scores of the words side, 0 for what it does not find; `depth` hits are ranked.
    """
    count = depth * request.candidates
    found = _best(lexical, count, 0.0) if lexical else [np.zeros(0, np.intp)] * boards
    if meaning is None:
        return found
    nearest = _best(meaning.cosines, SHORTLIST * count, request.min_cosine - ROUNDING)
    meaning.load([np.union1d(rows, near) for rows, near in zip(found, nearest, strict=True)])
    cosines = [meaning.exact_cosines(place, rows) for place, rows in enumerate(nearest)]
    kept = _best(cosines, count, np.nextafter(request.min_cosine, -2))
    return [np.union1d(rows, near[at]) for rows, near, at in zip(found, nearest, kept, strict=True)]


def _best(scores: Sequence[NDArray], count: int, above: float) -> list[Rows]:
    """The places of the `count` best scores of several arrays together, of those above a threshold."""
    found = [np.flatnonzero(one > above) for one in scores]
    values = [one[at] for one, at in zip(scores, found, strict=True)]
    every = np.concatenate(values)
    if len(every) <= count:
        return found
    least = float(np.partition(every, len(every) - count)[len(every) - count]) - _EQUAL
    return [at[of_one >= least] for at, of_one in zip(found, values, strict=True)]
