"""One search from question to answer: update the indexes, rank, read hits, explain them."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from engram.memory.access import Caller
from engram_host.companion.errors import EmbedderError
from engram_host.companion.search.hits import HitReader, LineSource, shown_fields
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.indexes.columns import NONE
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.ranking import Ranking, find_terms
from engram_host.companion.search.request import REASONS, SearchRequest, SearchResult
from engram_host.companion.search.vector_search import QueryVector, VectorSource
from engram_host.companion.types import Device, LogName

EmbedQuery = Callable[[str], QueryVector]
"""Embeds a query; raises EmbedderError and may be called from any thread."""


class SearchEngine:
    """Search over the boards of a store; calls block and are thread-safe."""

    def __init__(self, lines: LineSource, vectors: VectorSource, cache: IndexCache, embed: EmbedQuery | None = None):
        self._lines = lines
        self._vectors = vectors
        self._cache = cache
        self._embed = embed

    def search(self, request: SearchRequest) -> SearchResult:
        begin = time.perf_counter()
        query, degraded = self._query_vector(request)
        embedded = time.perf_counter()
        found = [self._cache.get(name, query.identity if query else None) for name in request.devices]
        with _held(found):
            terms = find_terms(request, [index.zone for index, _ in found])
            ranking = Ranking(self._vectors, request, found, query, terms)
            candidates = ranking.candidates
            hits = HitReader(self._lines, request).read(map(ranking.found, candidates))
            degraded = ranking.degraded or degraded
            why_empty = "" if hits else ranking.why_empty(degraded)
        left = len(candidates) - min(len(hits), request.depth)
        surest = max((one.confidence for one in (*hits, *candidates)), default=0.0)
        return SearchResult(
            tuple(hits[request.offset :]),
            why_empty,
            degraded,
            (REASONS.say("lower", n=left),) if left > 0 else (),
            surest if hits else 0.0,
            ranking.plan,
            ranking.weight,
            ranking.shape,
            embed_ms=1000 * (embedded - begin),
            search_ms=1000 * (time.perf_counter() - embedded),
            wordings=request.wordings,
            entries=ranking.entries,
            boards=len(found),
        )

    def read(self, device: str, log: LogName, number: int, caller: Caller, now: int) -> bytes:
        index, known = self._cache.get(device, None)
        with index.lock:
            row = index.row_of(log, number)
            if row == NONE:
                return b""
            seq, expires = (int(index.rows.column(name)[row]) for name in ("seq", "expires"))
        if 0 < expires <= now:
            return b""
        line = self._lines.lines_at(device, log, known.logs[log].epoch, [seq], archived=True).get(seq, b"")
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


@contextmanager
def _held(found: Sequence[tuple[DeviceIndex, Device]]) -> Iterator[None]:
    """Hold the locks of some indexes, ordered by name to avoid deadlocks."""
    with ExitStack() as locks:
        for index, _ in sorted(found, key=lambda pair: pair[0].name):
            locks.enter_context(index.lock)
        yield
