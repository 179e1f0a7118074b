"""The meaning side of a search: how near the query's vector is to the vector of each entry, over all of them.

An index has vectors in 8 bits: they say which entries may be the nearest. What a score is made of is taken of the store's own
vectors, in 64 bits and one row by itself, for the few rows that matter. So ranks depend on the vectors alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.filters import VisibleRows
from engram_host.companion.search.indexes.columns import NONE, digest_key
from engram_host.companion.types import Device, LogName
from engram_host.companion.vector_types import Identity, Vector, VectorRows

SHORTLIST = 2
"""Times what is asked for: this number of rows, the nearest in 8 bits, is scored again with the store's vectors."""

ROUNDING = 0.01
"""More than 8 bits change a cosine by: a threshold of cosines is lowered by this before they are scored again."""

_NOWHERE = -2.0
_SAMPLE = 500
"""Rows of a board, at most, that the mean cosine is taken of."""

_NEAR = 0.5
"""Of the way from the mean cosine to 1: where a share is 1."""

_FEW = 50
"""Rows: of fewer the mean says less than what the model gives unrelated texts, since the answer is one of them."""

Copy = tuple[str, LogName, int]
"""A board, one of its logs, and the epoch."""


@dataclass(frozen=True)
class QueryVector:
    """A query's vector, what made it, and the cosine that this gives texts which have nothing to do with each other."""

    identity: Identity
    vector: Vector
    unrelated: float = 0.0


class VectorSource(Protocol):
    """Where the vectors of lines are kept in full precision."""

    def vectors_at(self, identity: Identity, wanted: Mapping[Copy, Sequence[int]]) -> Mapping[Copy, VectorRows]:
        """The vectors of some lines, by copy of a log; none of a line that has none."""
        ...


class ExactVectors:
    """The store's vectors of the rows that matter, read once in a search: load() has to come first."""

    def __init__(self, source: VectorSource, identity: Identity, devices: Sequence[Device]):
        self._source = source
        self._identity = identity
        self._devices = devices
        self._rows: list[NDArray[np.intp]] = []
        self._vectors: list[Vector] = []

    def load(self, seen: Sequence[VisibleRows], rows: Sequence[NDArray[np.intp]]) -> None:
        """Read the vectors of some rows of each board, which rise, all in one call of the store."""
        self._rows = [some[one.index.rows.column("slot")[some] != NONE] for one, some in zip(seen, rows, strict=True)]
        wanted: dict[Copy, list[int]] = {}
        for device, one, some in zip(self._devices, seen, self._rows, strict=True):
            for log, here in _by_log(one, some):
                seqs = one.index.rows.column("seq")[here].tolist()
                wanted[device.name, log, device.logs[log].epoch] = seqs
        found = self._source.vectors_at(self._identity, wanted) if wanted else {}
        for place, (device, one, some) in enumerate(zip(self._devices, seen, self._rows, strict=True)):
            vectors = np.full((len(some), self._identity.dimensions), np.nan, np.float32)
            for log, here in _by_log(one, some):
                at, fitting = _fitting(one, here, found.get((device.name, log, device.logs[log].epoch)))
                vectors[np.searchsorted(some, at)] = fitting
            there = ~np.isnan(vectors[:, 0])
            self._rows[place] = some[there]
            self._vectors.append(vectors[there])

    def vectors_of(self, place: int, rows: NDArray[np.intp]) -> tuple[NDArray[np.bool_], Vector]:
        """(which of some rows have a vector, these vectors in that order)."""
        known = self._rows[place]
        if not len(known):
            return np.zeros(len(rows), np.bool_), np.zeros((0, self._identity.dimensions), np.float32)
        at = np.minimum(np.searchsorted(known, rows), len(known) - 1)
        there = known[at] == rows
        return there, self._vectors[place][at[there]]

    def cosines(self, place: int, rows: NDArray[np.intp], query: Vector) -> NDArray[np.float64]:
        """The cosines of some rows in 64 bits; NaN where a row has no vector."""
        there, vectors = self.vectors_of(place, rows)
        found = np.full(len(rows), np.nan)
        # Not a matrix product: that may group a row's sum by how many rows there are.
        found[there] = (vectors * query.astype(np.float64)).sum(axis=1)
        return found


def _by_log(seen: VisibleRows, rows: NDArray[np.intp]) -> Iterator[tuple[LogName, NDArray[np.intp]]]:
    """The logs that some rows are of, each with its rows."""
    turns = seen.index.rows.column("turn")[rows]
    if not turns.all():
        yield "records", rows[~turns]
    if turns.any():
        yield "journal", rows[turns]


def _fitting(
    seen: VisibleRows, rows: NDArray[np.intp], found: VectorRows | None
) -> tuple[NDArray[np.intp], Vector | float]:
    """The rows that have a vector of what they say, and these vectors: a line may have been replaced meanwhile."""
    if found is None or not len(found.seqs):
        return rows[:0], np.nan
    seqs = seen.index.rows.column("seq")[rows]
    order = np.argsort(seqs, kind="stable")
    at = rows[order[np.searchsorted(seqs[order], found.seqs)]]
    keys = np.array([digest_key(digest) for digest in found.digests], np.uint64)
    fits = seen.index.rows.column("key")[at] == keys
    return at[fits], found.vectors[fits]


@dataclass(frozen=True)
class VectorScores:
    """About the cosines of the wanted rows of some boards, by 8 bits; -2 where a row has no vector."""

    seen: Sequence[VisibleRows]
    cosines: list[NDArray[np.float32]]
    mean: float
    """Of all that may be seen, whether it is wanted or not; of a few entries, mostly `unrelated`."""

    unrelated: float
    """The cosine that the model gives texts which have nothing to do with each other."""

    with_vector: int
    query: Vector
    exact: ExactVectors

    def load(self, rows: Sequence[NDArray[np.intp]]) -> None:
        """Read the store's vectors of some rows of each board."""
        self.exact.load(self.seen, rows)

    def exact_cosines(self, place: int, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The cosines of rows that were loaded, in 64 bits; NaN where a row has no vector."""
        return self.exact.cosines(place, rows, self.query)

    def share(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """How near each is, as 0 for the mean cosine or less, 1 for half of the way from there to 1, and 2 for an equal text.

        Whatever the query is, a number says the same: a query that nothing is near to has low ones.
        """
        return np.maximum(0, (cosines - self.mean) / max(1e-6, _NEAR * (1 - self.mean)))


def vector_scores(seen: list[VisibleRows], query: Vector, unrelated: float, exact: ExactVectors) -> VectorScores:
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
            slots = index.rows.column("slot")[rows[:: len(rows) // _SAMPLE + 1]]
            sample += index.vectors.nearness_at(query, slots).tolist()
        here[~one.wanted] = _NOWHERE
        count += int(np.count_nonzero(here > _NOWHERE))
        cosines.append(here)
    share = min(1.0, embedded / _FEW)  # of few rows the mean says little
    mean = share * sum(sorted(sample)) / max(1, len(sample)) + (1 - share) * unrelated
    return VectorScores(seen, cosines, mean, unrelated, count, query, exact)


def count_unembedded(seen: list[VisibleRows]) -> int:
    """How many live rows have a text and no vector of it yet."""
    return sum(one.live_rows.unembedded for one in seen)
