"""One search from the question to the answer: update the indexes, rank, read what is shown, explain it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from engram.memory.access import Caller
from engram.memory.plan import Plan
from engram_host.companion.errors import EmbedderError
from engram_host.companion.search.fleet import DEPTHS, FleetFindings, FleetProgress, FleetScan
from engram_host.companion.search.hits import HitReader, LineSource, shown_fields
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.indexes.columns import NONE
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.ranking import FleetGroup, Found, GroupScale, QueryTerms, Ranking, find_terms
from engram_host.companion.search.request import REASONS, SearchRequest, SearchResult
from engram_host.companion.search.vector_search import QueryVector
from engram_host.companion.types import Device, LogName

EmbedQuery = Callable[[str], QueryVector]
"""Makes the vector of a query; EmbedderError. It may be called from any thread."""


@dataclass(frozen=True)
class _Ranked:
    """What a search found, best first, and how."""

    found: Iterable[Found]
    candidates: int
    """All that there were."""

    confidence: float
    """The highest of all."""

    entries: int
    plan: Plan
    weight: float
    shape: str
    degraded: str
    why_empty: Callable[[], str]
    """Says why there is no hit."""


class SearchEngine:
    """Searches the boards of a store. Calls block, and may come from any thread."""

    def __init__(self, store: LineSource, cache: IndexCache, embed: EmbedQuery | None = None):
        self._store = store
        self._cache = cache
        self._embed = embed

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer a request; UnknownDevice, StoreUnavailable. An embedder that fails takes nothing but its own side away."""
        begin = time.perf_counter()
        query, degraded = self._query_vector(request)
        embedded = time.perf_counter()
        found = [self._cache.get(name, query.identity if query else None) for name in request.devices]
        with _held(found):
            terms = find_terms(request, [index.zone for index, _ in found])
            ranking = Ranking(self._store, request, found, query, terms)
            candidates = ranking.candidates
            surest = max((one.confidence for one in candidates), default=0.0)
            every = map(ranking.found, candidates)
            ranked = _ranked(ranking, degraded)
            ranked = replace(ranked, found=every, candidates=len(candidates), confidence=surest)
            result = self._result(request, ranked)
        result = replace(result, boards=len(found), boards_searched=len(found))
        return _with_times(result, embedded - begin, time.perf_counter() - embedded)

    def search_fleet(self, request: SearchRequest, devices: Sequence[Device], progress: FleetProgress) -> SearchResult:
        """Answer a request on any number of boards, in this order, instead of those that it names: words weigh as in all of
        them. Boards are searched one after the other until `progress` is stopped. StoreUnavailable.
        """
        begin = time.perf_counter()
        query, degraded = self._query_vector(request)
        embedded = time.perf_counter()
        progress.total = len(devices)
        terms = find_terms(request, {device.zone for device in devices})

        def index_of(device: Device) -> DeviceIndex:
            return self._cache.get_known(device, query.identity if query else None)

        scan = FleetScan(request, list(terms.own), query.vector if query else None)
        scan.run(devices, index_of, progress)
        findings = scan.findings(query.unrelated if query else 0.0)
        ranking = _FleetRanking(self._store, request, query, degraded, terms, findings, index_of, progress)
        result = self._result(request, ranking.run())
        searched = progress.searched - ranking.skipped
        left = progress.total - searched
        stopped = (REASONS.say("stopped", n=left),) if left else ()
        result = replace(result, left_out=result.left_out + stopped, boards=progress.total, boards_searched=searched)
        return _with_times(result, embedded - begin, time.perf_counter() - embedded)

    def _result(self, request: SearchRequest, ranked: _Ranked) -> SearchResult:
        hits = HitReader(self._store, request).read(ranked.found)
        left = ranked.candidates - min(len(hits), request.depth)
        surest = max((hit.confidence for hit in hits), default=0.0)
        return SearchResult(
            tuple(hits[request.offset :]),
            "" if hits else ranked.why_empty(),
            ranked.degraded,
            (REASONS.say("lower", n=left),) if left > 0 else (),
            max(surest, ranked.confidence if hits else 0.0),
            ranked.plan,
            ranked.weight,
            ranked.shape,
            entries=ranked.entries,
            wordings=request.wordings,
        )

    def read(self, device: str, log: LogName, number: int, caller: Caller, now: int) -> bytes:
        """The line of a live or archived entry as its board wrote it, b"" if there is none that who asks may see.

        UnknownDevice, StoreUnavailable.
        """
        index, known = self._cache.get(device, None)
        with index.lock:
            row = index.row_of(log, number)
            if row == NONE:
                return b""
            seq, expires = (int(index.rows.column(name)[row]) for name in ("seq", "expires"))
        if 0 < expires <= now:
            return b""
        line = self._store.lines_at(device, log, known.logs[log].epoch, [seq], archived=True).get(seq, b"")
        return line if line and shown_fields(line, caller) else b""

    def _query_vector(self, request: SearchRequest) -> tuple[QueryVector | None, str]:
        if not request.use_meaning:
            return None, ""
        if self._embed is None:
            return None, REASONS.say("no_embedder")
        try:
            return self._embed(request.query), ""
        except EmbedderError as error:
            return None, REASONS.say("query_unembedded", problem=str(error))


class _FleetRanking:
    """Ranks the best boards of a fleet, group by group and no further than is asked for.

    Each of DEPTHS is ranked to its end before more boards are: so a hit has its place whatever page is asked for.
    """

    def __init__(
        self,
        store: LineSource,
        request: SearchRequest,
        query: QueryVector | None,
        degraded: str,
        terms: QueryTerms,
        findings: FleetFindings,
        index_of: Callable[[Device], DeviceIndex],
        progress: FleetProgress,
    ):
        self._store = store
        self._request = request
        self._query = query
        self._degraded = degraded
        self._terms = terms
        self._findings = findings
        self._index_of = index_of
        self._progress = progress
        self._first: _Ranked | None = None
        """Of the first group, which says how all are ranked."""

        self._scale: GroupScale | None = None
        self._ranked: set[str] = set()
        self._pool: dict[tuple[str, LogName, int], Found] = {}
        self._candidates = 0
        self._surest = 0.0
        self.skipped = 0
        """Boards that were to be ranked when the search was stopped."""

    def run(self) -> _Ranked:
        """The hits in order, and behind them what may take the place of one that has gone."""
        request = self._request
        order: dict[tuple[str, LogName, int], Found] = {}
        best: list[Found] = []
        is_exhausted = False
        for depth in DEPTHS:
            groups = self._findings.groups(depth) or [[]]
            if is_exhausted and self._ranked.issuperset(device.name for group in groups for device in group):
                break
            is_stopped = self._rank(groups, depth)
            best = sorted(self._pool.values(), key=lambda one: one.order)
            for one in best:
                if len(order) == depth:
                    break
                order.setdefault(one.key, one)
            is_exhausted = len(order) < depth
            if is_stopped or len(order) >= request.shown:
                break
        first = self._first
        assert first is not None  # one group is ranked in any case
        found = best[: request.limit * request.candidates]
        if request.mmr is None:
            found = [*order.values(), *(one for one in best if one.key not in order)]
        return replace(first, found=found, candidates=self._candidates, confidence=self._surest)

    def _rank(self, groups: list[list[Device]], depth: int) -> bool:
        """Rank some groups of boards for as many hits; whether the search was stopped before the last one."""
        for number, group in enumerate(groups):
            if self._first and self._progress.is_stopped:
                left = {device.name for group in groups[number:] for device in group}
                self.skipped = len(left - self._ranked)
                return True
            if not number:
                self._candidates = 0  # those of an earlier depth come again
            self._rank_group(group, depth)
        return False

    def _rank_group(self, group: list[Device], depth: int) -> None:
        request = self._request
        found = [(self._index_of(device), device) for device in group]
        with _held(found):
            of_fleet = FleetGroup(self._findings, depth, self._scale)
            ranking = Ranking(self._store, request, found, self._query, self._terms, of_fleet)
            if self._first is None:
                first = _ranked(ranking, self._degraded)
                reason = first.why_empty()  # not later, when the indexes are not held
                self._first = replace(first, why_empty=lambda: reason)
            self._scale = ranking.scale
            self._candidates += len(ranking.candidates)
            self._surest = max([self._surest, *(one.confidence for one in ranking.candidates)])
            most = depth * request.candidates
            is_reordered = request.mmr is not None
            explained = (most if is_reordered else request.shown) if request.explain else 0
            for number, candidate in enumerate(ranking.candidates[:most]):
                one = ranking.found(candidate)
                one = one.without_index(with_vector=is_reordered, with_explanation=number < explained)
                self._pool[one.key] = one
        self._ranked.update(device.name for device in group)
        if len(self._pool) > most:
            best = sorted(self._pool.values(), key=lambda one: one.order)
            self._pool = {one.key: one for one in best[:most]}


def _ranked(ranking: Ranking, degraded: str) -> _Ranked:
    """How some boards were ranked, without what was found; `degraded` is why the query has no vector."""
    degraded = ranking.degraded or degraded
    how = ranking.plan, ranking.weight, ranking.shape, degraded
    return _Ranked((), 0, 0.0, ranking.entries, *how, lambda: ranking.why_empty(degraded))


@contextmanager
def _held(found: Sequence[tuple[DeviceIndex, Device]]) -> Iterator[None]:
    """Hold some indexes, in the order of names, so that two searches never wait for each other."""
    with ExitStack() as locks:
        for index, _ in sorted(found, key=lambda pair: pair[0].name):
            locks.enter_context(index.lock)
        yield


def _with_times(result: SearchResult, embedding: float, searching: float) -> SearchResult:
    return replace(result, embed_ms=1000 * embedding, search_ms=1000 * searching)
