"""Row filters: rows that a caller may see, and rows that may be an answer.

Hidden rows do not exist for the caller: no count, word weight or neighbour includes them.
"""

from dataclasses import dataclass, field
from functools import cached_property
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from engram.memory import access
from engram.memory.access import Caller
from engram.store.types import EIGHTHS
from engram_host.companion.search.indexes import columns
from engram_host.companion.search.indexes.columns import NONE
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.request import SearchRequest
from engram_host.companion.search.tokenizer import term_id

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


def visible_rows(index: DeviceIndex, request: SearchRequest) -> VisibleRows:
    rows = _live_rows(index, request)
    if not request.history:
        wanted = rows.live & _passes(index, request) if _has_filters(request) else rows.live
        return VisibleRows(index, rows, wanted, request.caller.principal)
    allowed = _in_scope(index, request)
    wanted = rows.live | allowed & (index.rows.column("state") == columns.SUPERSEDED)
    wanted |= _earlier(index, allowed)
    return VisibleRows(index, rows, wanted & _passes(index, request), request.caller.principal)


def _live_rows(index: DeviceIndex, request: SearchRequest) -> LiveRows:
    labels = frozenset(access.labels(request.caller))
    kept = index.view
    if isinstance(kept, LiveRows) and kept.fits(labels, request.now):
        return kept
    states, expires = index.rows.column("state"), index.rows.column("expires")
    live = _in_scope(index, request) & ((states == columns.LIVE) | (states == columns.ARCHIVED))
    until = int(expires[live].min(where=expires[live] > 0, initial=columns.MOST_TIME))
    found = LiveRows(ref(index), live, labels, request.now, until, index.changes)
    index.view = found
    return found


def _in_scope(index: DeviceIndex, request: SearchRequest) -> Mask:
    expires = index.rows.column("expires")
    return rows_seen_by(index, request.caller) & ((expires == 0) | (expires > request.now))


def rows_seen_by(index: DeviceIndex, caller: Caller) -> Mask:
    may_see = set(access.labels(caller))
    by_scope = np.array([text in may_see for text in index.scopes.texts] or [False], np.bool_)
    return by_scope[index.rows.column("scope")]


def _earlier(index: DeviceIndex, allowed: Mask) -> Mask:
    earlier = np.flatnonzero(allowed & (index.rows.column("state") == columns.EARLIER))
    kept = np.zeros(len(allowed), np.bool_)
    kept[earlier] = allowed[index.latest(earlier)]
    return kept


def _has_filters(request: SearchRequest) -> bool:
    of_time = request.since or request.until
    return bool(of_time or request.log or request.session or request.speaker or request.tags or request.type)


def _passes(index: DeviceIndex, request: SearchRequest) -> Mask:
    at = index.rows.column("at")
    passing = np.ones(len(at), np.bool_)
    if request.log:
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
