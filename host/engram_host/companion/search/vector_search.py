"""The meaning side of a search: cosines of the query's vector with all entries' vectors.

8-bit vectors of the index select candidates; the store's vectors score them in 64 bits, row by
row, so ranks depend on the vectors alone.
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

ROUNDING = 0.01
"""Upper bound of the 8-bit error; thresholds are lowered by it before rescoring."""

_NOWHERE = -2.0
_SAMPLE = 500

_NEAR = 0.5

_FEW = 50

Copy = tuple[str, LogName, int]


@dataclass(frozen=True)
class QueryVector:
    """A query's vector, its model, and the model's cosine of unrelated texts."""

    identity: Identity
    vector: Vector
    unrelated: float = 0.0


class VectorSource(Protocol):
    def vectors_at(self, identity: Identity, wanted: Mapping[Copy, Sequence[int]]) -> Mapping[Copy, VectorRows]:
        """Return the vectors of some lines by copy of a log; lines without one are missing."""
        ...


class ExactVectors:
    def __init__(self, source: VectorSource, identity: Identity, devices: Sequence[Device]):
        self._source = source
        self._identity = identity
        self._devices = devices
        self._rows: list[NDArray[np.intp]] = []
        self._vectors: list[Vector] = []

    def load(self, seen: Sequence[VisibleRows], rows: Sequence[NDArray[np.intp]]) -> None:
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
        known = self._rows[place]
        if not len(known):
            return np.zeros(len(rows), np.bool_), np.zeros((0, self._identity.dimensions), np.float32)
        at = np.minimum(np.searchsorted(known, rows), len(known) - 1)
        there = known[at] == rows
        return there, self._vectors[place][at[there]]

    def cosines(self, place: int, rows: NDArray[np.intp], query: Vector) -> NDArray[np.float64]:
        there, vectors = self.vectors_of(place, rows)
        found = np.full(len(rows), np.nan)
        # No matrix product: it may group a row's sum by the number of rows.
        found[there] = (vectors * query.astype(np.float64)).sum(axis=1)
        return found


def _by_log(seen: VisibleRows, rows: NDArray[np.intp]) -> Iterator[tuple[LogName, NDArray[np.intp]]]:
    turns = seen.index.rows.column("turn")[rows]
    if not turns.all():
        yield "records", rows[~turns]
    if turns.any():
        yield "journal", rows[turns]


def _fitting(
    seen: VisibleRows, rows: NDArray[np.intp], found: VectorRows | None
) -> tuple[NDArray[np.intp], Vector | float]:
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
    """Approximate cosines of wanted rows by board, -2 without a vector."""

    seen: Sequence[VisibleRows]
    cosines: list[NDArray[np.float32]]
    mean: float
    """Mean over all visible rows; near `unrelated` for few entries."""

    unrelated: float

    with_vector: int
    query: Vector
    exact: ExactVectors

    def load(self, rows: Sequence[NDArray[np.intp]]) -> None:
        self.exact.load(self.seen, rows)

    def exact_cosines(self, place: int, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return self.exact.cosines(place, rows, self.query)

    def share(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return relative nearness: 0 at the mean cosine, 1 halfway to 1, 2 for an equal text."""
        return np.maximum(0, (cosines - self.mean) / max(1e-6, _NEAR * (1 - self.mean)))


def vector_scores(seen: list[VisibleRows], query: Vector, unrelated: float, exact: ExactVectors) -> VectorScores:
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
    share = min(1.0, embedded / _FEW)  # the mean of few rows is unreliable
    mean = share * sum(sorted(sample)) / max(1, len(sample)) + (1 - share) * unrelated
    return VectorScores(seen, cosines, mean, unrelated, count, query, exact)


def count_unembedded(seen: list[VisibleRows]) -> int:
    return sum(one.live_rows.unembedded for one in seen)
