"""Ranking across boards while their indexes are held."""

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from engram.clock import day_name
from engram.text.days import without_days
from engram_host.companion.search import filters, vector_search
from engram_host.companion.search.bm25 import WordScores
from engram_host.companion.search.explanation import explain, why_empty
from engram_host.companion.search.fusion import Candidate, days_named, fuse, vector_weight
from engram_host.companion.search.indexes import columns
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.request import REASONS, Explanation, Plan, SearchRequest
from engram_host.companion.search.tokenizer import query_terms
from engram_host.companion.search.vector_search import ExactVectors, QueryVector, VectorScores, VectorSource
from engram_host.companion.types import Device, LogName
from engram_host.companion.vector_types import Vector
from engram_host.time_zones import BoardZone

MOST_TERMS = 64

LONG_SCAN = 20_000

_scans = ThreadPoolExecutor(2, "scan")

State = Literal["live", "superseded", "earlier version", "archived"]


@dataclass(frozen=True)
class QueryTerms:
    own: dict[str, bool]
    added: dict[str, bool]


def find_terms(request: SearchRequest, zones: Collection[BoardZone]) -> QueryTerms:
    if not request.use_words:
        return QueryTerms({}, {})
    own = query_terms(_without_days(request.query, request, zones), MOST_TERMS)
    others = query_terms(_without_days(" ".join(request.wordings), request, zones), MOST_TERMS)
    return QueryTerms(own, {term: is_added for term, is_added in others.items() if term not in own})


def _without_days(text: str, request: SearchRequest, zones: Iterable[BoardZone]) -> str:
    named = [days_named(request, zone) for zone in zones]
    return without_days(text) if any(days and days.by_today for days in named) else text


@dataclass(frozen=True)
class Found:
    candidate: Candidate
    device: Device
    log: LogName
    seq: int
    state: State
    vector: Callable[[], Vector | None]

    explain: Callable[[], Explanation | None]

    @property
    def key(self) -> tuple[str, LogName, int]:
        return self.device.name, self.log, self.seq


class Ranking:
    def __init__(
        self,
        vectors: VectorSource,
        request: SearchRequest,
        found: Sequence[tuple[DeviceIndex, Device]],
        query: QueryVector | None,
        terms: QueryTerms,
    ):
        self._vectors = vectors
        self._request = request
        self._devices = [device for _, device in found]
        self._seen = [filters.visible_rows(index, request) for index, _ in found]
        self._query = query
        self._unembedded = 0
        scan = self._start_scan()
        side = WordScores(self._seen, terms.own, request.weights)
        self._side = side
        self._words = side if request.use_words else None
        self._near = near = self._vector_scores(scan)
        self.weight, self.shape = self._weight()
        # Confidence depends on the query's own words, not on other wordings.
        added = WordScores(self._seen, terms.added, request.weights) if terms.added else None
        self.candidates = fuse(request, self._words, near, side.boards, self.weight, added)

    @property
    def entries(self) -> int:
        return self._side.entries

    @property
    def degraded(self) -> str:
        return REASONS.say("unembedded", n=self._unembedded) if self._unembedded else ""

    @property
    def plan(self) -> Plan:
        request = self._request
        of_turns = request.log == "journal" or bool(request.session or request.speaker)
        of_records = request.log == "records" or bool(request.tags or request.type)
        kinds = [kind for kind, is_left_out in (("memories", of_turns), ("turns", of_records)) if not is_left_out]
        days = next(filter(None, (days_named(request, one.index.zone) for one in self._seen)), None)
        first, last = (day_name(days.first), day_name(days.last)) if days else ("", "")
        return Plan(first, last, kinds)

    def why_empty(self, degraded: str) -> str:
        wanted = sum(int(np.count_nonzero(one.wanted)) for one in self._seen)
        return why_empty(self._request, self._words, self._side.entries, wanted, degraded)

    def found(self, candidate: Candidate) -> Found:
        board = self._side.boards[candidate.place]
        log: LogName = "journal" if candidate.id[0] == "t" else "records"
        state = columns.STATE_NAMES[int(board.column("state")[candidate.row])]
        return Found(
            candidate,
            self._devices[candidate.place],
            log,
            int(board.column("seq")[candidate.row]),
            cast(State, state),
            lambda: self._vector_of(candidate),
            lambda: self._explain(candidate),
        )

    def _explain(self, candidate: Candidate) -> Explanation:
        board = self._side.boards[candidate.place]
        return explain(candidate, board, self._words, self._request.query, candidate.confidence_parts)

    def _vector_of(self, candidate: Candidate) -> Vector | None:
        if self._near is None:
            return None
        there, vectors = self._near.exact.vectors_of(candidate.place, np.array([candidate.row]))
        return vectors[0] if there[0] else None

    def _weight(self) -> tuple[float, str]:
        if self._near is None:
            return 0.0, "meaning is not searched"
        return vector_weight(self._request.query, self._words, self._request.weights)

    def _start_scan(self) -> Callable[[], VectorScores] | None:
        query = self._query
        if query is None:
            return None
        exact = ExactVectors(self._vectors, query.identity, self._devices)

        def scan() -> VectorScores:
            return vector_search.vector_scores(self._seen, query.vector, query.unrelated, exact)

        if sum(len(one.index.rows) for one in self._seen) < LONG_SCAN:
            return scan
        return _scans.submit(scan).result

    def _vector_scores(self, scan: Callable[[], VectorScores] | None) -> VectorScores | None:
        if scan is None:
            return None
        near = scan()
        self._unembedded = vector_search.count_unembedded(self._seen)
        return near if near.with_vector else None
