"""One search from the question to the answer: update the indexes, rank, read what is shown, explain it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from engram_host.companion.search import columns, filters, vector_search
from engram_host.companion.search.bm25 import BoardRows, WordScores, walk_threads
from engram_host.companion.search.cache import IndexCache
from engram_host.companion.search.columns import NONE
from engram_host.companion.search.confidence import parts_shown, value_of, with_record
from engram_host.companion.search.fusion import Candidate, days_named, fuse, mmr_order, vector_weight
from engram_host.companion.search.index import DeviceIndex
from engram_host.companion.search.request import REASONS, Explanation, Hit, Part, SearchRequest, SearchResult
from engram_host.companion.search.tokenizer import query_terms, query_words
from engram_host.companion.search.vector_search import ExactVectors, VectorScores, VectorSource
from engram_host.companion.types import Device, LogName
from engram_host.companion.vector_types import Identity, Vector
from engram_host.sentences import Sentence

_SHOWN_WORDS = 8


def explain(
    candidate: Candidate, board: BoardRows, words: WordScores | None, query: str, parts: Sequence[float]
) -> Explanation:
    """The points of each part of a candidate's score, and the parts of its confidence; its words are named as the query has
    them.
    """
    named: list[Part] = []
    beside: list[Part] = []
    session = 0.0
    if words and candidate.words:
        turn = bool(board.column("turn")[candidate.row])
        # What the words side gave in all is shared out as it came together.
        scale = candidate.words / float(board.scores[candidate.row])
        factor = scale * words.factors[turn]
        named = [(name, factor * part) for name, part in _own_words(candidate.row, board, words, query)]
        beside = [(id, factor * part) for id, part in _neighbour_parts(candidate.row, board, words)]
        if turn:
            thread = int(board.column("thread")[candidate.row])
            session = scale * words.session_factor * float(board.sessions[thread])
    return Explanation(
        tuple(named),
        tuple(beside),
        session,
        candidate.meaning,
        candidate.speaker,
        candidate.reply,
        candidate.importance,
        candidate.dates,
        candidate.cosine,
        expansion=candidate.expansion,
        confidence=parts_shown(parts),
    )


def _own_words(row: int, board: BoardRows, words: WordScores, query: str) -> list[Part]:
    named = query_words(query)
    parts: dict[str, float] = {}
    for term in words.terms:
        found, counts = board.found[term]
        at = int(np.searchsorted(found, row))
        if at < len(found) and found[at] == row:
            part = words.saturated(board, counts[at : at + 1], found[at : at + 1])
            name = named.get(term, term)
            parts[name] = parts.get(name, 0.0) + words.idf[term] * float(part[0])
    return list(parts.items())


def _neighbour_parts(row: int, board: BoardRows, words: WordScores) -> list[Part]:
    parts = []
    opposite = {"following": "previous", "previous": "following"}
    for (way, distance), share in words.steps():
        giver = int(walk_threads(board, np.array([row]), (opposite[way], distance))[0])
        if giver != NONE and board.seen.live[giver] and board.own[giver] > 0:
            parts.append((f"t{int(board.column('number')[giver])}", share * float(board.own[giver])))
    return parts


def why_empty(
    request: SearchRequest, words: WordScores | None, entries: int, boards: list[BoardRows], degraded: str
) -> Sentence:
    """Why nothing was found, in one sentence that mentions nothing the caller may not see."""
    if not entries:
        return REASONS.say("nothing_stored")
    wanted = sum(int(np.count_nonzero(board.seen.wanted)) for board in boards)
    if not wanted:
        return REASONS.say("filtered", n=entries)
    by_meaning = request.use_meaning and not degraded
    if not words:
        return REASONS.say("none_near" if by_meaning else "no_vectors")
    return _why_no_word(request, words, "_nor_near" if by_meaning else "")


def _why_no_word(request: SearchRequest, words: WordScores, more: str) -> Sentence:
    """Why the words of a query find nothing; `more` is the end of the kind."""
    if not words.terms:
        return REASONS.say("only_common" + more)
    named = query_words(request.query)
    distinct = dict.fromkeys(named.get(term, term) for term in words.terms)
    shown = ", ".join(list(distinct)[:_SHOWN_WORDS])
    if not any(words.having[term] for term in words.terms):
        return REASONS.say("no_word" + more, words=shown)
    if words.top and request.min_words:
        return REASONS.say("too_few" + more, words=shown)
    return REASONS.say("words_filtered" + more, words=shown)


# --- searches


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
        with ExitStack() as locks:
            # In the order of names, so that two searches never wait for each other.
            for index, _ in sorted(found, key=lambda pair: pair[0].name):
                locks.enter_context(index.lock)
            result = _Search(self._store, request, found, query, degraded).run()
        done = time.perf_counter()
        return _with_times(result, embedded - begin, done - embedded)

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
    ):
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
        side = WordScores(self._seen, terms, request.weights)
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
        left = len(candidates) - min(len(hits), request.limit)
        left_out = (REASONS.say("lower", n=left),) if left > 0 else ()
        surest = max((hit.confidence for hit in hits), default=0.0)
        others = max((one.confidence for one in candidates), default=0.0) if hits else 0.0
        return SearchResult(
            tuple(hits),
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
        named = [days_named(self._request, one.index.zone) for one in self._seen]
        return without_days(text) if any(days and days.by_today for days in named) else text

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

        def scan() -> VectorScores:
            return vector_search.vector_scores(self._seen, query.vector, query.unrelated, exact)

        if sum(len(one.index.rows) for one in self._seen) < LONG_SCAN:
            return scan
        return _scans.submit(scan).result

    def _vector_scores(self, scan: Callable[[], VectorScores] | None) -> VectorScores | None:
        if scan is None:
            return None
        near = scan()
        lacking = vector_search.count_unembedded(self._seen)
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
