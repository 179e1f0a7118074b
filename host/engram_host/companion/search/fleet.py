"""A search of many boards: which of them may have the answers, found board by board.

Of each board only a summary stays: counts of the query's words, the best rows' parts of BM25 without the words' weights, and
the highest cosine. So memory does not grow with the boards' lines. Once all boards are seen, words have their weights among
all of them, and the boards with the best rows are ranked together by the search for few boards, with these weights.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engram.store.types import EIGHTHS
from engram_host.companion.search.bm25 import B_ENTRY, K1, LEAST_LENGTH, Collection, inverse_frequency
from engram_host.companion.search.filters import VisibleRows, visible_rows
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.request import SearchRequest
from engram_host.companion.search.tokenizer import term_id
from engram_host.companion.search.vector_search import mean_cosine
from engram_host.companion.types import Device
from engram_host.companion.vector_types import Vector

MOST_RANKED = 24
"""Boards of each side that are ranked together, or as many as hits are asked for, if these are more."""

MOST_LINES = 400_000
"""Of all that are ranked together: about 100 bytes of each are in memory then."""

_BEST_ROWS = 8
"""Rows of a board whose parts are kept, beside the best one of each word."""


@dataclass
class FleetProgress:
    """How far a search of many boards is. stop() ends it after the board that it is at; so does the time limit."""

    total: int = 0
    searched: int = 0
    deadline: float = float("inf")
    """By time.monotonic()."""

    _stopping: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """End the search; what was found until then is its result."""
        self._stopping.set()

    @property
    def is_stopped(self) -> bool:
        """Whether no further board is to be searched."""
        return self._stopping.is_set() or time.monotonic() > self.deadline


@dataclass(frozen=True)
class _Summary:
    """Of one board."""

    device: Device
    parts: NDArray[np.float32]
    """Of its best rows: a row each, a column for each word."""

    cosine: float


@dataclass(frozen=True)
class FleetFindings:
    """The boards to rank together, and what counts in all that were searched."""

    devices: list[Device]
    collection: Collection
    cosine_mean: float | None
    unembedded: int


class FleetScan:
    """Looks through boards for one query; `terms` are its words."""

    def __init__(self, request: SearchRequest, terms: Sequence[str], query: Vector | None):
        self._request = request
        self._terms = terms
        self._ids = np.array([term_id(term) for term in terms], np.int64)
        self._query = query
        self._found: list[_Summary] = []
        self._having = np.zeros(len(terms), np.int64)
        self._count = {False: 0, True: 0}
        self._length = {False: 0.0, True: 0.0}
        self._entries = self._unembedded = self._embedded = 0
        self._cosines = 0.0

    def run(
        self, devices: Iterable[Device], index_of: Callable[[Device], DeviceIndex], progress: FleetProgress
    ) -> None:
        """Look through boards until that is stopped."""
        for device in devices:
            if progress.is_stopped:
                return
            index = index_of(device)
            with index.lock:
                self._look(device, visible_rows(index, self._request))
            progress.searched += 1

    def findings(self, unrelated: float) -> FleetFindings:
        """What was found; `unrelated` is the cosine of texts that have nothing to do with each other."""
        weights = np.array([inverse_frequency(self._entries, n) for n in self._having.tolist()], np.float32)
        best = np.array([(one.parts @ weights).max(initial=0) for one in self._found])
        nearest = np.array([one.cosine for one in self._found])
        most = max(MOST_RANKED, self._request.depth)
        chosen: dict[int, None] = {}
        for values, least in ((best, 0.0), (nearest, self._request.min_cosine)):
            order = np.argsort(-values, kind="stable")[:most].tolist() if len(values) else []
            chosen |= dict.fromkeys(self._with_room(at for at in order if values[at] > least))
        having = dict(zip(self._terms, self._having.tolist(), strict=True))
        mean = mean_cosine(self._cosines / max(1, self._embedded), self._embedded, unrelated)
        return FleetFindings(
            [self._found[at].device for at in sorted(chosen)],
            Collection(self._entries, having, self._count, self._length),
            mean if self._query is not None else None,
            self._unembedded,
        )

    def _with_room(self, places: Iterable[int]) -> Iterator[int]:
        """The first of some boards whose lines can be ranked together: half of them for each side."""
        left = MOST_LINES // 2
        for number, at in enumerate(places):
            left -= sum(self._found[at].device.have.values())
            if left < 0 and number:
                return
            yield at

    def _look(self, device: Device, seen: VisibleRows) -> None:
        totals = seen.live_rows.totals
        self._entries += totals.entries
        self._unembedded += seen.live_rows.unembedded
        for kind in (False, True):
            self._count[kind] += totals.count[kind]
            self._length[kind] += totals.length[kind]
        parts, cosine = self._best_parts(seen), self._highest_cosine(seen)
        if len(parts) or cosine > -1:
            self._found.append(_Summary(device, parts, cosine))

    def _best_parts(self, seen: VisibleRows) -> NDArray[np.float32]:
        """The parts of BM25 of a board's best rows, by the words' weights on this board; none if it has none of the words."""
        which, rows, eighths = seen.index.postings.find_all(self._ids)
        if not len(rows):
            return np.zeros((0, len(self._ids)), np.float32)
        totals, lengths = seen.live_rows.totals, seen.live_rows.lengths
        having = np.bincount(which[seen.live[rows]], minlength=len(self._ids))
        self._having += having
        weights = np.log1p((totals.entries - having + 0.5) / (having + 0.5)).astype(np.float32)
        mean = max(1.0, float(lengths.sum()) / max(1, totals.entries))
        norms = K1 * (1 - B_ENTRY + B_ENTRY * np.maximum(LEAST_LENGTH, lengths[rows]) / mean)
        counts = eighths / EIGHTHS
        matrix = np.zeros((len(self._ids), len(lengths)), np.float32)
        matrix[which, rows] = counts * (K1 + 1) / (counts + norms)
        matrix[:, ~seen.wanted] = 0
        own = weights @ matrix
        count = min(_BEST_ROWS, len(own))
        best = np.concatenate([np.argpartition(own, len(own) - count)[len(own) - count :], matrix.argmax(axis=1)])
        return matrix[:, np.unique(best)].T

    def _highest_cosine(self, seen: VisibleRows) -> float:
        if self._query is None:
            return -1.0
        cosines = seen.index.vectors.nearness(self._query, len(seen.index.rows))
        counted = cosines[seen.live & (cosines >= -1)]
        self._embedded += len(counted)
        self._cosines += float(counted.sum(dtype=np.float64))
        return float(cosines[seen.wanted].max(initial=-1))
