"""The meaning side of a search: how near the query's vector is to the vector of each entry, over all of them.

The product over a whole index may differ in its last bits with the order of its rows, so what a score is made of is taken
again, in 64 bits and one row by itself, for the few rows that matter. So ranks depend on the vectors alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.columns import NONE
from engram_host.companion.search.filters import VisibleRows
from engram_host.companion.vector_types import Vector

_NOWHERE = -2.0
_SAMPLE = 500
"""Rows of a board, at most, that the mean cosine is taken of."""

_NEAR = 0.5
"""Of the way from the mean cosine to 1: where a share is 1."""

_FEW = 50
"""Rows: of fewer the mean says less than what the model gives unrelated texts, since the answer is one of them."""


@dataclass(frozen=True)
class VectorScores:
    """The cosines of the wanted rows of some boards; -2 where a row has no vector, or less than `min_cosine`."""

    cosines: list[NDArray[np.float32]]
    mean: float
    """Of all that may be seen, whether it is wanted or not; of a few entries, mostly `unrelated`."""

    unrelated: float
    """The cosine that the model gives texts which have nothing to do with each other."""

    with_vector: int
    query: Vector

    def exact_cosines(self, seen: VisibleRows, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The cosines of some rows in 64 bits; NaN where a row has no vector."""
        return _exact(seen, rows, self.query)

    def share(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """How near each is, as 0 for the mean cosine or less, 1 for half of the way from there to 1, and 2 for an equal text.

        Whatever the query is, a number says the same: a query that nothing is near to has low ones.
        """
        return np.maximum(0, (cosines - self.mean) / max(1e-6, _NEAR * (1 - self.mean)))


def vector_scores(seen: list[VisibleRows], query: Vector, unrelated: float) -> VectorScores:
    """Compare the query's vector with all wanted rows; `unrelated` is as in VectorScores."""
    cosines = []
    count = embedded = 0
    sample: list[float] = []
    for one in seen:
        index = one.index
        here = index.vectors.nearness(query, len(index.rows))
        rows = np.flatnonzero((here > _NOWHERE) & (one.live | one.wanted))
        embedded += len(rows)
        if len(rows):
            sample += _exact(one, rows[:: len(rows) // _SAMPLE + 1], query).tolist()
        here[~one.wanted] = _NOWHERE
        count += int(np.count_nonzero(here > _NOWHERE))
        cosines.append(here)
    share = min(1.0, embedded / _FEW)
    mean = sum(sorted(sample)) / max(1, len(sample)) * share + unrelated * (1 - share)
    return VectorScores(cosines, mean, unrelated, count, query)


def count_unembedded(seen: list[VisibleRows]) -> int:
    """How many live rows have a text and no vector of it yet."""
    return sum(
        int(np.count_nonzero(one.live & (one.index.rows.column("key") != 0) & (one.index.rows.column("slot") == NONE)))
        for one in seen
    )


def _exact(seen: VisibleRows, rows: NDArray[np.intp], query: Vector) -> NDArray[np.float64]:
    slots = seen.index.rows.column("slot")[rows]
    found = np.full(len(rows), np.nan)
    having = slots != NONE
    vectors = seen.index.vectors.vectors_at(slots[having]).astype(np.float64)
    # Not a matrix product: that may group a row's sum by how many rows there are.
    found[having] = (vectors * query.astype(np.float64)).sum(axis=1)
    return found
