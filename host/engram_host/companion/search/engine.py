"""One search from the question to the answer: update the indexes, rank, read what is shown, explain it."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, cast

import numpy as np

from engram import log_line, text
from engram.memory import ALL, access
from engram.memory.access import Caller
from engram.memory.plan import Plan, make_plan
from engram.text.named_days import without_days
from engram_host.companion.entries.embedding_text import embedding_text
from engram_host.companion.errors import EmbedderError
from engram_host.companion.search import filters, vector_search
from engram_host.companion.search.bm25 import BoardRows, WordScores
from engram_host.companion.search.confidence import value_of, with_record
from engram_host.companion.search.explanation import explain, why_empty
from engram_host.companion.search.fleet import FleetFindings, FleetProgress, FleetScan
from engram_host.companion.search.fusion import Candidate, days_named, fuse, mmr_order, vector_weight
from engram_host.companion.search.indexes import columns
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.indexes.columns import NONE
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.search.request import REASONS, Hit, SearchRequest, SearchResult
from engram_host.companion.search.tokenizer import query_terms
from engram_host.companion.search.vector_search import ExactVectors, VectorScores, VectorSource
from engram_host.companion.types import Device, LogName
from engram_host.companion.vector_types import Identity, Vector
from engram_host.time_zones import BoardZone

MOST_TERMS = 64
"""Words of a query that are looked for: bounds the time of a search."""


LONG_SCAN = 20_000
"""Rows whose vectors are compared while the words are searched."""

_scans = ThreadPoolExecutor(2, "scan")


@dataclass(frozen=True)
class QueryVector:
    """A query's vector, what made it, and the cosine that this gives texts which have nothing to do with each other."""

    identity: Identity
    vector: Vector
    unrelated: float = 0.0


EmbedQuery = Callable[[str], QueryVector]
"""Makes the vector of a query; EmbedderError. It may be called from any thread."""


class LineSource(VectorSource, Protocol):
    """Where the lines are read that a search shows, and the vectors that it compares."""

    def lines_at(
        self, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> Mapping[int, bytes]:
        """Those of some lines that there are, by seq; with `archived` also those that only the archive has."""
        ...


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
        result = self._ranked(request, found, query, degraded)
        result = replace(result, boards=len(found), boards_searched=len(found))
        done = time.perf_counter()
        return _with_times(result, embedded - begin, done - embedded)

    def search_fleet(self, request: SearchRequest, devices: Sequence[Device], progress: FleetProgress) -> SearchResult:
        """Answer a request on any number of boards, in this order, instead of those that it names: words weigh as in all of
        them. Boards are searched one after the other until `progress` is stopped. StoreUnavailable.
        """
        begin = time.perf_counter()
        query, degraded = self._query_vector(request)
        embedded = time.perf_counter()
        progress.total = len(devices)
        identity = query.identity if query else None
        scan = FleetScan(request, list(_fleet_terms(request, devices)), query.vector if query else None)

        def index_of(device: Device) -> DeviceIndex:
            return self._cache.get_known(device, identity)

        scan.run(devices, index_of, progress)
        findings = scan.findings(query.unrelated if query else 0.0)
        found = [(self._cache.get_known(device, identity), device) for device in findings.devices]
        result = self._ranked(request, found, query, degraded, findings)
        left = progress.total - progress.searched
        stopped = (REASONS.say("stopped", n=left),) if left else ()
        counts = {"boards": progress.total, "boards_searched": progress.searched}
        result = replace(result, left_out=result.left_out + stopped, **counts)
        return _with_times(result, embedded - begin, time.perf_counter() - embedded)

    def _ranked(
        self,
        request: SearchRequest,
        found: list[tuple[DeviceIndex, Device]],
        query: QueryVector | None,
        degraded: str,
        fleet: FleetFindings | None = None,
    ) -> SearchResult:
        with ExitStack() as locks:
            # In the order of names, so that two searches never wait for each other.
            for index, _ in sorted(found, key=lambda pair: pair[0].name):
                locks.enter_context(index.lock)
            return _Search(self._store, request, found, query, degraded, fleet).run()

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
        return line if line and _shown(line, caller) else b""

    def _query_vector(self, request: SearchRequest) -> tuple[QueryVector | None, str]:
        if not request.use_meaning:
            return None, ""
        if self._embed is None:
            return None, REASONS.say("no_embedder")
        try:
            return self._embed(request.query), ""
        except EmbedderError as error:
            return None, REASONS.say("query_unembedded", problem=str(error))


class _Search:
    """One search, while the indexes are held."""

    def __init__(
        self,
        store: LineSource,
        request: SearchRequest,
        found: list[tuple[DeviceIndex, Device]],
        query: QueryVector | None,
        degraded: str,
        fleet: FleetFindings | None,
    ):
        self._fleet = fleet
        self._store = store
        self._request = request
        self._devices = [device for _, device in found]
        self._seen = [filters.visible_rows(index, request) for index, _ in found]
        self._query = query
        self._degraded = degraded

    def run(self) -> SearchResult:
        """Rank, choose, and read the texts."""
        request = self._request
        terms = query_terms(self._without_days(request.query), MOST_TERMS) if request.use_words else {}
        scan = self._start_scan()
        side = WordScores(self._seen, terms, request.weights, self._fleet.collection if self._fleet else None)
        words = side if request.use_words else None
        near = self._vector_scores(scan)
        weight, shape = (
            vector_weight(request.query, words, request.weights) if near else (0.0, "meaning is not searched")
        )
        candidates = fuse(request, words, near, side.boards, weight, self._expansion(terms))
        texts: dict[Candidate, dict[str, Any] | None] = {}
        order = self._reordered(candidates, texts, near)
        hits: list[Hit] = []
        at = 0
        while at < len(order) and len(hits) < request.shown:
            next_ones = order[at : at + request.shown - len(hits)]
            at += len(next_ones)
            for candidate, line in self._lines(next_ones, texts):
                if line is not None:
                    hits.append(self._make_hit(candidate, line, side, words))
        empty = "" if hits else why_empty(request, words, side.entries, side.boards, self._degraded)
        left = len(candidates) - min(len(hits), request.depth)
        left_out = (REASONS.say("lower", n=left),) if left > 0 else ()
        surest = max((hit.confidence for hit in hits), default=0.0)
        others = max((one.confidence for one in candidates), default=0.0) if hits else 0.0
        return SearchResult(
            tuple(hits[request.offset :]),
            empty,
            self._degraded,
            left_out,
            max(surest, others),
            self._plan(),
            weight,
            shape,
            entries=side.entries,
            wordings=request.wordings,
        )

    def _plan(self) -> Plan:
        request = self._request
        of_turns = request.log == "journal" or bool(request.session or request.speaker)
        of_records = request.log == "records" or bool(request.tags or request.type)
        kinds = [kind for kind, is_left_out in (("memories", of_turns), ("turns", of_records)) if not is_left_out]
        days = next(filter(None, (days_named(request, one.index.zone) for one in self._seen)), None)
        return make_plan(request.query, days, kinds)

    def _without_days(self, text: str) -> str:
        """A text without the words that name days by today, which mean other days where they were said."""
        return _without_days(text, self._request, (one.index.zone for one in self._seen))

    def _expansion(self, terms: dict[str, bool]) -> WordScores | None:
        """The scores of words that only other wordings have: beside the query's, which alone say how sure a search is."""
        request = self._request
        if not (request.use_words and request.wordings):
            return None
        found = query_terms(self._without_days(" ".join(request.wordings)), MOST_TERMS)
        new = {term: is_added for term, is_added in found.items() if term not in terms}
        return WordScores(self._seen, new, request.weights) if new else None

    def _start_scan(self) -> Callable[[], VectorScores] | None:
        """Begin to compare the query's vector with all others; what waits for that. A long scan has a core of its own."""
        query = self._query
        if query is None:
            return None
        exact = ExactVectors(self._store, query.identity, self._devices)
        mean = self._fleet.cosine_mean if self._fleet else None

        def scan() -> VectorScores:
            return vector_search.vector_scores(self._seen, query.vector, query.unrelated, exact, mean)

        if sum(len(one.index.rows) for one in self._seen) < LONG_SCAN:
            return scan
        return _scans.submit(scan).result

    def _vector_scores(self, scan: Callable[[], VectorScores] | None) -> VectorScores | None:
        if scan is None:
            return None
        near = scan()
        lacking = self._fleet.unembedded if self._fleet else vector_search.count_unembedded(self._seen)
        if lacking:
            self._degraded = REASONS.say("unembedded", n=lacking)
        return near if near.with_vector else None

    def _reordered(
        self,
        candidates: list[Candidate],
        texts: dict[Candidate, dict[str, Any] | None],
        near: VectorScores | None,
    ) -> list[Candidate]:
        request = self._request
        if request.mmr is None or len(candidates) < 2:
            return candidates
        has_vector = np.zeros(len(candidates), np.bool_)
        vectors = np.zeros((len(candidates), len(near.query) if near else 1))
        for at, one in enumerate(candidates if near else ()):
            there, known = near.exact.vectors_of(one.place, np.array([one.row])) if near else (has_vector, vectors)
            if there[0]:
                has_vector[at], vectors[at] = True, known[0]
        words = [frozenset[str]()] * len(candidates)
        if not has_vector.all():
            words = [_word_set(line) for _, line in self._lines(candidates, texts)]
        scores = [one.score for one in candidates]
        return [candidates[at] for at in mmr_order(scores, vectors, has_vector, words, request.limit, request.mmr)]

    def _lines(
        self, candidates: list[Candidate], texts: dict[Candidate, dict[str, Any] | None]
    ) -> Iterator[tuple[Candidate, dict[str, Any] | None]]:
        """Each candidate with its line; None if that has gone since the index was brought up to date."""
        unread: dict[tuple[int, LogName], dict[int, Candidate]] = {}
        for candidate in candidates:
            if candidate not in texts:
                log, seq = self._log_and_seq(candidate)
                unread.setdefault((candidate.place, log), {})[seq] = candidate
        for (place, log), wanted in unread.items():
            device = self._devices[place]
            found = self._store.lines_at(device.name, log, device.logs[log].epoch, list(wanted), archived=True)
            for seq, candidate in wanted.items():
                texts[candidate] = _shown(found[seq], self._request.caller) if seq in found else None
        return ((candidate, texts[candidate]) for candidate in candidates)

    def _log_and_seq(self, candidate: Candidate) -> tuple[LogName, int]:
        seq = int(self._seen[candidate.place].index.rows.column("seq")[candidate.row])
        return ("journal" if candidate.id[0] == "t" else "records"), seq

    def _make_hit(self, candidate: Candidate, line: dict[str, Any], side: WordScores, words: WordScores | None) -> Hit:
        board: BoardRows = side.boards[candidate.place]
        device = self._devices[candidate.place]
        log, seq = self._log_and_seq(candidate)
        state = columns.STATE_NAMES[int(board.column("state")[candidate.row])]
        parts = candidate.confidence_parts
        if log == "records":
            parts = with_record(parts, line)
        return Hit(
            device.name,
            candidate.id,
            seq,
            candidate.at,
            line.get("who", ""),
            _text(line),
            candidate.score,
            cast(Literal["live", "superseded", "earlier version", "archived"], state),
            candidate.coverage,
            candidate.cosine,
            explain(candidate, board, words, self._request.query, parts) if self._request.explain else None,
            str(line.get("path", "")),
            str(line.get("heading", "")),
            document=embedding_text(log, line, device.zone.standard) if self._request.reranked else "",
            is_on_board=state != "archived" and seq >= device.logs[log].oldest,
            confidence=float(value_of(np.array([parts]))[0]),
        )


def _without_days(text: str, request: SearchRequest, zones: Iterable[BoardZone]) -> str:
    """A text without the words that name days by today on a board, which mean other days where they were said."""
    named = [days_named(request, zone) for zone in zones]
    return without_days(text) if any(days and days.by_today for days in named) else text


def _fleet_terms(request: SearchRequest, devices: Sequence[Device]) -> dict[str, bool]:
    """The words of a query that is asked of many boards."""
    if not request.use_words:
        return {}
    return query_terms(_without_days(request.query, request, {device.zone for device in devices}), MOST_TERMS)


def _shown(line: bytes, caller: Caller) -> dict[str, Any] | None:
    """What a line says, if it has a text that who asks may see: it may be another one than when it was indexed."""
    fields = log_line.decode(line)
    has_text = "text" in fields or "content" in fields
    return fields if has_text and access.may_see(caller, fields.get("scope", ALL)) else None


def _word_set(line: dict[str, Any] | None) -> frozenset[str]:
    return frozenset(text.terms(_text(line))) if line else frozenset()


def _text(line: dict[str, Any]) -> str:
    return line["text"] if "text" in line else line["content"]


def _with_times(result: SearchResult, embedding: float, searching: float) -> SearchResult:
    return replace(result, embed_ms=1000 * embedding, search_ms=1000 * searching)
