"""A caller's view of an index: the rows that they may see, those that may be an answer, and their cosines.

Hidden rows do not exist for the caller: no count, word weight or neighbour includes them.

8-bit vectors of the index select candidates; the store's vectors score them in 64 bits, row by row, so ranks depend on
the vectors alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from engram.memory import access
from engram.memory.access import Caller
from engram.store.types import EIGHTHS
from engram_host.companion.search import tables
from engram_host.companion.search.index import DeviceIndex
from engram_host.companion.search.request import SearchRequest
from engram_host.companion.search.tables import NONE, digest_key
from engram_host.companion.search.tokenizer import term_id
from engram_host.companion.store.vectors import Identity, Vector, VectorRows, VectorTable
from engram_host.companion.types import LOGS, Device, LogName

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

WAYS = ("previous", "following")


@dataclass(frozen=True)
class RowTotals:
    entries: int
    count: dict[bool, int]
    length: dict[bool, float]


@dataclass(frozen=True)
class LiveRows:
    """Rows of an index that count for one caller until `until`, cached until the index changes."""

    owner: "ref[DeviceIndex]"

    live: Mask
    labels: frozenset[str]
    since: int
    until: int
    changes: int
    norms: dict[tuple[float, float], Floats] = field(default_factory=dict, compare=False)
    """bm25 cache of the last search, keyed by mean lengths."""

    @property
    def nbytes(self) -> int:
        kept = [*vars(self).values(), *self.norms.values(), *vars(self).get("neighbours", {}).values()]
        return sum(each.nbytes for each in kept if isinstance(each, np.ndarray) and each.base is None)

    @property
    def index(self) -> DeviceIndex:
        index = self.owner()
        assert index is not None  # callers hold the index
        return index

    def fits(self, labels: frozenset[str], now: int) -> bool:
        return labels == self.labels and self.since <= now < self.until and self.changes == self.index.changes

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self.index.links.visible_pairs(self.live)

    @cached_property
    def lengths(self) -> Floats:
        lengths = self.index.rows.column("length") / EIGHTHS
        records, turns = self.pairs
        if len(records):
            lengths += np.bincount(turns, lengths[records], len(lengths))
        return lengths

    @cached_property
    def totals(self) -> RowTotals:
        having = self.live & (self.lengths > 0)
        turn = self.index.rows.column("turn")
        lengths = {kind: self.lengths[having & (turn == kind)] for kind in (False, True)}
        return RowTotals(
            int(np.count_nonzero(having)),
            {kind: len(one) for kind, one in lengths.items()},
            {kind: float(one.sum()) for kind, one in lengths.items()},
        )

    @cached_property
    def dead(self) -> NDArray[np.intp]:
        return np.flatnonzero(~self.live)

    @cached_property
    def records(self) -> NDArray[np.intp]:
        return np.flatnonzero(~self.index.rows.column("turn"))

    @cached_property
    def wordless(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.lengths == 0)

    @cached_property
    def neighbours(self) -> dict[tuple[str, int], NDArray[np.int32]]:
        """Rows by (direction, distance) from each row in its thread, or NONE."""
        found: dict[tuple[str, int], NDArray[np.int32]] = {}
        for way in WAYS:
            column = self.index.rows.column(way)
            found[way, 1] = column
            found[way, 2] = np.append(column, np.int32(NONE)).take(column)  # NONE leads to itself
        return found

    @cached_property
    def live_threads(self) -> NDArray[np.int32]:
        """Thread of each live turn; live records get the next number, other rows the one after."""
        none = np.int32(len(self.index.threads.texts))
        threads = np.where(self.index.rows.column("turn"), self.index.rows.column("thread"), none)
        return np.where(self.live, threads, none + np.int32(1))

    @cached_property
    def thread_lengths(self) -> Floats:
        size = len(self.index.threads.texts)
        return np.bincount(self.live_threads, self.lengths, size + 2)[:size].astype(np.float64, copy=False)

    @cached_property
    def speakers(self) -> frozenset[str]:
        texts = self.index.speakers.texts
        said = self.index.rows.column("who")[self.live & self.index.rows.column("turn") & (self.lengths > 0)]
        return frozenset(texts[number] for number in np.flatnonzero(np.bincount(said, minlength=len(texts))).tolist())

    @cached_property
    def unembedded(self) -> int:
        rows = self.index.rows
        return int(np.count_nonzero(self.live & (rows.column("key") != 0) & (rows.column("slot") == NONE)))


@dataclass(frozen=True)
class VisibleRows:
    index: DeviceIndex
    live_rows: LiveRows
    wanted: Mask
    principal: str

    @property
    def live(self) -> Mask:
        return self.live_rows.live

    @cached_property
    def unwanted(self) -> NDArray[np.intp]:
        return self.live_rows.dead if self.wanted is self.live else np.flatnonzero(~self.wanted)


def visible_rows(index: DeviceIndex, request: SearchRequest, caller: Caller, now: int) -> VisibleRows:
    rows = _live_rows(index, caller, now)
    if not request.history:
        wanted = rows.live & _passes(index, request) if _has_filters(request) else rows.live
        return VisibleRows(index, rows, wanted, caller.principal)
    allowed = _in_scope(index, caller, now)
    wanted = rows.live | allowed & (index.rows.column("state") == tables.SUPERSEDED)
    wanted |= _earlier(index, allowed)
    return VisibleRows(index, rows, wanted & _passes(index, request), caller.principal)


def _live_rows(index: DeviceIndex, caller: Caller, now: int) -> LiveRows:
    labels = frozenset(access.labels(caller))
    kept = index.view
    if isinstance(kept, LiveRows) and kept.fits(labels, now):
        return kept
    states, expires = index.rows.column("state"), index.rows.column("expires")
    live = _in_scope(index, caller, now) & ((states == tables.LIVE) | (states == tables.ARCHIVED))
    until = int(expires[live].min(where=expires[live] > 0, initial=tables.MOST_TIME))
    found = LiveRows(ref(index), live, labels, now, until, index.changes)
    index.view = found
    return found


def _in_scope(index: DeviceIndex, caller: Caller, now: int) -> Mask:
    expires = index.rows.column("expires")
    return rows_seen_by(index, caller) & ((expires == 0) | (expires > now))


def rows_seen_by(index: DeviceIndex, caller: Caller) -> Mask:
    may_see = set(access.labels(caller))
    by_scope = np.array([text in may_see for text in index.scopes.texts] or [False], np.bool_)
    return by_scope[index.rows.column("scope")]


def _earlier(index: DeviceIndex, allowed: Mask) -> Mask:
    earlier = np.flatnonzero(allowed & (index.rows.column("state") == tables.EARLIER))
    kept = np.zeros(len(allowed), np.bool_)
    kept[earlier] = allowed[index.latest(earlier)]
    return kept


def _has_filters(request: SearchRequest) -> bool:
    of_time = request.since or request.until
    return bool(of_time or request.log in LOGS or request.session or request.speaker or request.tags or request.type)


def _passes(index: DeviceIndex, request: SearchRequest) -> Mask:
    at = index.rows.column("at")
    passing = np.ones(len(at), np.bool_)
    if request.log in LOGS:
        passing &= index.rows.column("turn") == (request.log == "journal")
    if request.since:
        passing &= at >= request.since
    if request.until:
        passing &= at < request.until
    if request.session:
        passing &= _equals(index.rows.column("thread"), index.threads.find(request.session))
    if request.speaker:
        passing &= _equals(index.rows.column("who"), index.speakers.find(request.speaker))
    labels = ["#" + tag for tag in request.tags] + (["!" + request.type] if request.type else [])
    for label in labels:
        having = np.zeros(len(at), np.bool_)
        having[index.postings.find(term_id(label))[0]] = True
        passing &= having
    return passing


def _equals(column: NDArray[np.int32], number: int) -> Mask:
    return (column == number) & (number != NONE)


# --- cosines


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
    """A query's vector, its model, and the cosine from which on a text may have to do with it."""

    identity: Identity
    vector: Vector
    floor: float = 0.0


class VectorScores:
    """Cosines of a query with the rows of some boards: approximate ones of all rows, exact ones of loaded rows."""

    def __init__(self, table: VectorTable, seen: Sequence[VisibleRows], devices: Sequence[Device], query: QueryVector):
        self._table = table
        self._seen = seen
        self._devices = devices
        self._identity = query.identity
        self._query = query.vector.astype(np.float64)
        self.cosines = [one.index.vectors.nearness(query.vector, len(one.index.rows)) for one in seen]
        """Approximate cosines of wanted rows by board, -2 without a vector."""
        self.floor = query.floor
        self.mean = self._mean(query)
        """Mean over all visible rows; near the floor for few entries."""
        for one, cosines in zip(seen, self.cosines, strict=True):
            cosines[~one.wanted] = _NOWHERE
        self._rows: list[NDArray[np.intp]] = []
        self._vectors: list[Vector] = []
        self._exact: list[NDArray[np.float64]] = []

    def _mean(self, query: QueryVector) -> float:
        embedded = 0
        sample: list[float] = []
        for one, cosines in zip(self._seen, self.cosines, strict=True):
            rows = np.flatnonzero((cosines > _NOWHERE) & (one.live | one.wanted))
            embedded += len(rows)
            if len(rows):
                slots = one.index.rows.column("slot")[rows[:: len(rows) // _SAMPLE + 1]]
                sample += one.index.vectors.nearness_at(query.vector, slots).tolist()
        share = min(1.0, embedded / _FEW)  # the mean of few rows is unreliable
        return share * sum(sorted(sample)) / max(1, len(sample)) + (1 - share) * query.floor

    @property
    def has_rows(self) -> bool:
        return any(bool((cosines > _NOWHERE).any()) for cosines in self.cosines)

    def load(self, rows: Sequence[NDArray[np.intp]]) -> None:
        """Read the vectors of some rows of each board."""
        self._rows = [
            some[one.index.rows.column("slot")[some] != NONE] for one, some in zip(self._seen, rows, strict=True)
        ]
        wanted: dict[Copy, list[int]] = {}
        for device, one, some in zip(self._devices, self._seen, self._rows, strict=True):
            for log, here in _by_log(one, some):
                seqs = one.index.rows.column("seq")[here].tolist()
                wanted[device.name, log, device.logs[log].epoch] = seqs
        found = self._table.vectors_at(self._identity, wanted) if wanted else {}
        for device, one, some in zip(self._devices, self._seen, self._rows, strict=True):
            vectors = np.full((len(some), len(self._query)), np.nan, np.float32)
            for log, here in _by_log(one, some):
                at, fitting = _fitting(one, here, found.get((device.name, log, device.logs[log].epoch)))
                vectors[np.searchsorted(some, at)] = fitting
            self._vectors.append(vectors)
            # No matrix product: it may group a row's sum by the number of rows.
            self._exact.append((vectors * self._query).sum(axis=1))

    def exact(self, place: int, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the cosines of some loaded rows, NaN without a vector."""
        known, found = self._rows[place], np.full(len(rows), np.nan)
        if len(known):
            at = np.minimum(np.searchsorted(known, rows), len(known) - 1)
            there = known[at] == rows
            found[there] = self._exact[place][at[there]]
        return found

    def vector(self, place: int, row: int) -> Vector:
        """Return the vector of a loaded row, NaN without one."""
        known = self._rows[place]
        at = int(np.searchsorted(known, row))
        is_known = at < len(known) and known[at] == row
        return self._vectors[place][at] if is_known else np.full(len(self._query), np.nan, np.float32)

    def share(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return relative nearness: 0 at the mean cosine, 1 halfway to 1, 2 for an equal text."""
        return np.maximum(0, (cosines - self.mean) / max(1e-6, _NEAR * (1 - self.mean)))


def _by_log(seen: VisibleRows, rows: NDArray[np.intp]) -> Iterator[tuple[LogName, NDArray[np.intp]]]:
    turns = seen.index.rows.column("turn")[rows]
    if not turns.all():
        yield "records", rows[~turns]
    if turns.any():
        yield "journal", rows[turns]


def _fitting(seen: VisibleRows, rows: NDArray[np.intp], found: VectorRows | None) -> tuple[NDArray[np.intp], Vector]:
    if found is None or not len(found.seqs):
        return rows[:0], np.zeros((0, 1), np.float32)
    seqs = seen.index.rows.column("seq")[rows]
    order = np.argsort(seqs, kind="stable")
    at = rows[order[np.searchsorted(seqs[order], found.seqs)]]
    keys = np.array([digest_key(digest) for digest in found.digests], np.uint64)
    fits = seen.index.rows.column("key")[at] == keys
    return at[fits], found.vectors[fits]
