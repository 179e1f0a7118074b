"""A search of many boards: which of them may have the answers, found board by board.

Of each board only a summary stays: counts of the query's words, the best rows' parts of BM25 without the words' weights, and
the highest cosine. So memory does not grow with the boards' lines; of very many boards only the best summaries stay. Once all
boards are seen, words have their weights among all of them, and the boards with the best rows are ranked by the search for few
boards, with these weights, in groups of a bounded number of lines.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from engram import text
from engram.store.types import EIGHTHS
from engram_host.companion.search.bm25 import B_ENTRY, K1, LEAST_LENGTH, Collection, inverse_frequency
from engram_host.companion.search.filters import VisibleRows, visible_rows
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.request import MOST_HITS, MOST_OFFSET, SearchRequest
from engram_host.companion.search.tokenizer import term_id
from engram_host.companion.search.vector_search import mean_cosine
from engram_host.companion.types import Device
from engram_host.companion.vector_types import Vector

DEPTHS = (24, MOST_HITS, MOST_OFFSET + MOST_HITS)
"""Hits, and as many boards of each side that are ranked for them. The boards do not depend on which page is asked for, or pages
would repeat hits and lose others; most searches ask for the first depth only.
"""

MOST_LINES = 400_000
"""Of one group of boards that are ranked together: about 100 bytes of each are in memory then."""

_MOST_SUMMARIES = 3 * DEPTHS[-1]
"""Boards whose summaries are kept: when there are more, the best of each side stay. One has at most 72 rows of 64 words in 4
bytes, so all have at most 55 MB.
"""

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
    """The boards that may have the answers, the best of each side first, and what counts in all that were searched."""

    by_words: list[Device]
    by_meaning: list[Device]
    collection: Collection
    cosine_mean: float | None
    has_vectors: bool
    unembedded: int
    wanted: int
    """Entries that pass the filters."""

    speaker: str
    """Whom the query names, of all who said something on these boards; "" if it names none or several."""

    def groups(self, depth: int) -> list[list[Device]]:
        """The best boards of both sides, in groups whose lines can be ranked together; the first group has the best ones."""
        pairs = zip_longest(self.by_words[:depth], self.by_meaning[:depth])
        best = {device.name: device for device in chain.from_iterable(pairs) if device}
        groups: list[list[Device]] = []
        room = 0
        for device in best.values():
            lines = sum(device.have.values())
            if not groups or lines > room:
                groups.append([])
                room = MOST_LINES
            groups[-1].append(device)
            room -= lines
        return groups


class FleetScan:
    """Looks through boards for one query; `terms` are its words."""

    def __init__(self, request: SearchRequest, terms: Sequence[str], query: Vector | None):
        self._request = request
        self._terms = terms
        self._query_words = frozenset(text.words(request.query))
        self._ids = np.array([term_id(term) for term in terms], np.int64)
        self._query = query
        self._found: list[_Summary] = []
        self._having = np.zeros(len(terms), np.int64)
        self._count = {False: 0, True: 0}
        self._length = {False: 0.0, True: 0.0}
        self._entries = self._unembedded = self._embedded = self._wanted = 0
        self._cosines = 0.0
        self._has_vectors = False
        self._speakers: set[str] = set()

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
        by_words, by_meaning = ([self._found[at].device for at in places] for places in self._best_places())
        having = dict(zip(self._terms, self._having.tolist(), strict=True))
        mean = mean_cosine(self._cosines / max(1, self._embedded), self._embedded, unrelated)
        return FleetFindings(
            by_words,
            by_meaning,
            Collection(self._entries, having, self._count, self._length),
            mean if self._query is not None else None,
            self._has_vectors,
            self._unembedded,
            self._wanted,
            *(self._speakers if len(self._speakers) == 1 else [""]),
        )

    def _best_places(self) -> tuple[list[int], list[int]]:
        """The places of the best boards by words, as these weigh now, and by meaning, best first."""
        weights = np.array([inverse_frequency(self._entries, n) for n in self._having.tolist()], np.float32)
        best = np.array([(one.parts @ weights).max(initial=0) for one in self._found])
        nearest = np.array([one.cosine for one in self._found])
        return _highest(best, 0.0), _highest(nearest, self._request.min_cosine)

    def _keep(self, summary: _Summary) -> None:
        self._found.append(summary)
        if len(self._found) > _MOST_SUMMARIES:
            by_words, by_meaning = self._best_places()
            self._found = [self._found[at] for at in sorted({*by_words, *by_meaning})]

    def _look(self, device: Device, seen: VisibleRows) -> None:
        totals = seen.live_rows.totals
        self._entries += totals.entries
        self._unembedded += seen.live_rows.unembedded
        self._wanted += int(np.count_nonzero(seen.wanted))
        if len(self._speakers) <= 1:
            named = (name for name in seen.live_rows.speakers if not _label_words(name).isdisjoint(self._query_words))
            self._speakers.update(islice(named, 2))
        for kind in (False, True):
            self._count[kind] += totals.count[kind]
            self._length[kind] += totals.length[kind]
        parts, cosine = self._best_parts(seen), self._highest_cosine(seen)
        if len(parts) or cosine > -1:
            self._keep(_Summary(device, parts, cosine))

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
        highest = float(cosines[seen.wanted].max(initial=-2))
        self._has_vectors |= highest >= -1
        return max(-1.0, highest)


def _highest(values: NDArray, least: float) -> list[int]:
    """The places of the highest values above a threshold, the highest first: as many as may be ranked."""
    order = np.argsort(-values, kind="stable")[: DEPTHS[-1]].tolist() if len(values) else []
    return [at for at in order if values[at] > least]


@lru_cache(maxsize=1024)
def _label_words(label: str) -> frozenset[str]:
    """The words of a speaker's label: most people speak on many boards."""
    return frozenset(text.words(label))
