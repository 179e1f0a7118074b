"""One search from question to answer: update the indexes, rank, read the hits, explain them.

The indexes of boards are in an LRU cache, bounded in bytes.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from typing import Any, Literal, cast
from weakref import WeakValueDictionary

import numpy as np

from engram import log_line, text
from engram.clock import day_name
from engram.memory import ALL, access, attributes, line_meaning
from engram.memory.access import Caller
from engram.memory.records.fields import stated
from engram.text.light_words import content_terms
from engram.text.times import without_days
from engram_host.companion.errors import StoreUnavailable, UnknownDevice
from engram_host.companion.search.bm25 import WordScores
from engram_host.companion.search.explanation import explain, why_empty
from engram_host.companion.search.fusion import (
    Candidate,
    Confidence,
    days_named,
    fuse,
    on_days,
    value_of,
    vector_weight,
)
from engram_host.companion.search.index import OBJECT_BYTES, DeviceIndex
from engram_host.companion.search.mmr import mmr_order
from engram_host.companion.search.request import REASONS, Hit, Plan, SearchRequest, SearchResult
from engram_host.companion.search.tables import NONE, STATE_NAMES
from engram_host.companion.search.tokenizer import Tokenizer, query_terms
from engram_host.companion.search.view import QueryVector, VectorScores, visible_rows
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.vectors import Identity, VectorTable
from engram_host.companion.types import Device, LogName

MOST_BYTES = 256 << 20
BYTES_OF_A_LINE = 650
_CHANGES_AT_ONCE, _VECTORS_AT_ONCE = 2000, 1000

_QUIET_SECONDS = 0.1
"""Pause after the last search before indexes are made ahead."""


# --- the indexes


class IndexCache:
    """A thread-safe cache of current indexes; two callers of one index wait for each other."""

    def __init__(self, boards: BoardTable, vectors: VectorTable, most_bytes: int = MOST_BYTES):
        self._boards = boards
        self._vectors = vectors
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, DeviceIndex] = OrderedDict()
        self._bytes: dict[str, int] = {}
        self._loading: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._words = Tokenizer()
        self._asked: Counter[str] = Counter()
        """Boards whose indexes searches wait for."""
        self._asked_at = 0.0
        self._closed = threading.Event()

    def get(self, name: str, identity: Identity | None) -> tuple[DeviceIndex, Device]:
        """Return a board's current index and the board; lock the index before use."""
        try:
            device = self._boards.device(name)
        except UnknownDevice:
            self.drop(name)
            raise
        return self.of_device(device, identity), device

    def of_device(self, device: Device, identity: Identity | None) -> DeviceIndex:
        """Return the current index of a board; lock it before use."""
        with self.asking(device.name):
            return self._get(device, identity)

    @contextmanager
    def asking(self, name: str = "") -> Iterator[None]:
        """Keep make_ahead() from work on other boards than the one that a search waits for."""
        with self._lock:
            self._asked[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._asked[name] -= 1
                self._asked += Counter()  # drops zeros
                self._asked_at = time.monotonic()

    def make_ahead(self, devices: Iterable[Device], identity: Identity | None) -> None:
        """Make indexes while there is room, and give way to searches."""
        for device in devices:
            if self.nbytes + _expected_bytes(device) > self._most_bytes:
                return
            with suppress(UnknownDevice):  # erased meanwhile
                self._get(self._boards.device(device.name), identity, is_ahead=True)

    def _get(self, device: Device, identity: Identity | None, *, is_ahead: bool = False) -> DeviceIndex:
        self._check_open()
        with self._lock:
            loading = self._loading.setdefault(device.name, threading.Lock())
        with loading:
            index = self._index(device)
            self._refresh(index, device, identity, is_ahead=is_ahead)
            with index.lock, self._lock:
                if self._indexes.get(device.name) is index:
                    self._indexes.move_to_end(device.name)
                    self._bytes[device.name] = index.nbytes
                    self._evict_oldest()
        return index

    def _take_turn(self, name: str, *, is_ahead: bool) -> None:
        """Wait until no search was at work for a moment, if made ahead: the next one often follows."""
        while is_ahead and not (name in self._asked or self._is_quiet() or self._closed.wait(_QUIET_SECONDS)):
            pass
        self._check_open()

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise StoreUnavailable("the companion is being stopped.")

    def _is_quiet(self) -> bool:
        return not self._asked and time.monotonic() - self._asked_at > _QUIET_SECONDS

    def close(self) -> None:
        """Abort builds in progress by StoreUnavailable."""
        self._closed.set()

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(self._bytes.values())

    @property
    def board_names(self) -> list[str]:
        with self._lock:
            return list(self._indexes)

    def drop(self, name: str) -> None:
        with self._lock:
            self._indexes.pop(name, None)
            self._bytes.pop(name, None)

    def _index(self, device: Device) -> DeviceIndex:
        with self._lock:
            index = self._indexes.get(device.name)
            if index is None or not index.fits(device) or index.is_worn:
                index = self._indexes[device.name] = DeviceIndex(device, self._words)
                self._indexes.move_to_end(device.name)
                self._bytes[device.name] = _expected_bytes(device)
                self._evict_oldest()
        return index

    def _refresh(self, index: DeviceIndex, device: Device, identity: Identity | None, *, is_ahead: bool) -> None:
        """Bring an index up to date, in steps: a search may hold its lock while a turn is awaited."""
        is_new = not index.version
        while index.version < device.version:
            self._take_turn(device.name, is_ahead=is_ahead)
            changes = self._boards.changes(device.name, index.version, _CHANGES_AT_ONCE)
            with index.lock:
                index.apply(changes)
                if len(changes) < _CHANGES_AT_ONCE:
                    # The last change may be gone with its line, so the board's version counts.
                    index.version = max(index.version, device.version)
        with index.lock:
            if is_new:
                index.postings.fold()
            if identity is None:
                return  # no query vector this time; the next query may use them
            index.use_identity(identity)
        while index.vectors_seen < device.version:
            self._take_turn(device.name, is_ahead=is_ahead)
            vectors = self._vectors.vectors(device.name, identity, index.vector_version, _VECTORS_AT_ONCE)
            with index.lock:
                index.apply_vectors(vectors)
                if len(vectors) < _VECTORS_AT_ONCE:
                    index.vectors_seen = device.version  # each vector is a change of its board

    def _evict_oldest(self) -> None:
        total = sum(self._bytes.values())
        while len(self._indexes) > 1 and total > self._most_bytes:
            gone, _ = self._indexes.popitem(last=False)
            total -= self._bytes.pop(gone)


def _expected_bytes(device: Device) -> int:
    return OBJECT_BYTES + BYTES_OF_A_LINE * sum(device.have.values())


# --- a search


MOST_TERMS = 64

LONG_SCAN = 20_000

_scans = ThreadPoolExecutor(2, "scan")

State = Literal["live", "superseded", "earlier version", "archived"]
Fields = dict[str, Any]


class SearchEngine:
    """Search over the boards of a store; calls block and are thread-safe."""

    def __init__(self, boards: BoardTable, vectors: VectorTable, most_bytes: int = MOST_BYTES):
        self._boards = boards
        self._vectors = vectors
        self.indexes = IndexCache(boards, vectors, most_bytes)

    def search(
        self,
        request: SearchRequest,
        caller: Caller,
        sources: Sequence[Device],
        now: int,
        vector: QueryVector | None = None,
    ) -> SearchResult:
        """Search some boards, notes and folders, each once."""
        began = time.perf_counter()
        identity = vector.identity if vector else None
        found = [(self.indexes.of_device(device, identity), device) for device in sources]
        with _held(found):
            ranking = Ranking(self._vectors, request, caller, now, found, vector)
            hits = ranking.read_hits(self._boards)
            empty = "" if hits else ranking.why_empty()
        left = len(ranking.candidates) - len(hits)
        surest = max((one.confidence for one in (*hits, *ranking.candidates)), default=0.0)
        return SearchResult(
            tuple(hits[request.offset :]),
            empty,
            ranking.degraded,
            left_out=(REASONS.say("lower", n=left),) if left > 0 else (),
            confidence=surest if hits else 0.0,
            plan=ranking.plan,
            meaning_weight=ranking.weight,
            shape=ranking.shape,
            search_ms=1000 * (time.perf_counter() - began),
            entries=ranking.entries,
            boards=len(found),
        )

    def read(self, device: str, log: LogName, number: int, caller: Caller, now: int) -> bytes:
        index, known = self.indexes.get(device, None)
        with index.lock:
            row = index.row_of(log, number)
            if row == NONE:
                return b""
            seq, expires = (int(index.rows.column(name)[row]) for name in ("seq", "expires"))
        if 0 < expires <= now:
            return b""
        line = self._boards.lines_at(device, log, known.logs[log].epoch, [seq], archived=True).get(seq, b"")
        return line if line and _shown_fields(line, caller) else b""


@contextmanager
def _held(found: Sequence[tuple[DeviceIndex, Device]]) -> Iterator[None]:
    """Hold the locks of some indexes, ordered by name to avoid deadlocks."""
    with ExitStack() as locks:
        for index, _ in sorted(found, key=lambda pair: pair[0].name):
            locks.enter_context(index.lock)
        yield


class Ranking:
    """The candidates of a search, best first, while the indexes are held."""

    def __init__(
        self,
        vectors: VectorTable,
        request: SearchRequest,
        caller: Caller,
        now: int,
        found: Sequence[tuple[DeviceIndex, Device]],
        query: QueryVector | None,
    ):
        self._request = request
        self._caller = caller
        self._devices = [device for _, device in found]
        self._seen = [visible_rows(index, request, caller, now) for index, _ in found]
        self._days = next(filter(None, (days_named(request, now, index.zone) for index, _ in found)), None)
        asked = without_days(request.query) if self._days and self._days.by_today else request.query
        content = attributes.content(asked)
        self._of_days = of_days = on_days(self._days, self._seen) if self._days and not content else None
        scan = self._start_scan(vectors, None if of_days else query)
        uses_words = request.words is not False and not of_days
        terms = query_terms(asked, MOST_TERMS) if uses_words else {}
        self._side = WordScores(self._seen, terms, [*content, *content_terms(asked)])
        self._words = self._side if uses_words else None
        near = scan() if scan else None
        unembedded = sum(one.live_rows.unembedded for one in self._seen) if near else 0
        self.degraded = REASONS.say("unembedded", n=unembedded) if unembedded else ""
        self._near = near = near if near and near.has_rows else None
        self.weight, self.shape = 0.0, "meaning is not searched"
        if near:
            self.weight, self.shape = vector_weight(request.query, self._words, request.weight)
        self._confidence = sure = Confidence(self._words, near, content, bool(of_days))
        self.candidates = fuse(request, now, self._words, near, self._side.boards, self.weight, sure, of_days)
        self._has_meaning = bool(query) and not self.degraded

    def _start_scan(self, vectors: VectorTable, query: QueryVector | None) -> Callable[[], VectorScores] | None:
        """Return the scan of the vectors, of many beside the search for words."""
        if query is None:
            return None
        if sum(len(one.index.rows) for one in self._seen) < LONG_SCAN:
            return lambda: VectorScores(vectors, self._seen, self._devices, query)
        return _scans.submit(VectorScores, vectors, self._seen, self._devices, query).result

    @property
    def entries(self) -> int:
        return self._side.entries

    @property
    def plan(self) -> Plan:
        days = self._days
        return Plan(day_name(days.first), day_name(days.last)) if days else Plan("", "")

    def why_empty(self) -> str:
        wanted = sum(int(np.count_nonzero(one.wanted)) for one in self._seen)
        return why_empty(self._request.query, self._words, self.entries, wanted, self._has_meaning)

    # --- hits

    def read_hits(self, boards: BoardTable) -> list[Hit]:
        """Read the best entries, without those that are gone or hidden by now."""
        mmr = self._request.mmr
        order = iter(self.candidates if mmr is None else self._varied(boards, mmr))
        hits: list[Hit] = []
        while part := list(islice(order, self._request.offset + self._request.limit - len(hits))):
            lines = self._read_lines(boards, part)
            found = [(one, fields) for one, fields in zip(part, lines, strict=True) if fields]
            hits += [self._hit(*each) for each in found if not self._of_days or content_terms(_text(each[1]))]
        return hits

    def _varied(self, boards: BoardTable, share: float) -> list[Candidate]:
        lines = self._read_lines(boards, self.candidates)
        found = [(one, _text(line)) for one, line in zip(self.candidates, lines, strict=True) if line]
        near = self._near
        vectors = [near.vector(one.place, one.row) if near else np.full(1, np.nan) for one, _ in found]
        words = [frozenset(text.terms(shown)) for _, shown in found]
        order = mmr_order([one.score for one, _ in found], vectors, words, limit=self._request.limit, share=share)
        return [found[at][0] for at in order]

    def _read_lines(self, boards: BoardTable, candidates: Sequence[Candidate]) -> Iterator[Fields | None]:
        wanted: dict[tuple[int, LogName], list[int]] = {}
        for one in candidates:
            wanted.setdefault((one.place, one.log), []).append(one.seq)
        found: dict[tuple[int, LogName], dict[int, bytes]] = {}
        for (place, log), seqs in wanted.items():
            device = self._devices[place]
            found[place, log] = boards.lines_at(device.name, log, device.logs[log].epoch, seqs, archived=True)
        for one in candidates:
            line = found[one.place, one.log].get(one.seq)
            yield _shown_fields(line, self._caller) if line else None

    def _hit(self, candidate: Candidate, line: Fields) -> Hit:
        request, device, board = self._request, self._devices[candidate.place], self._side.boards[candidate.place]
        state = cast(State, STATE_NAMES[int(board.column("state")[candidate.row])])
        parts = self._confidence.with_line(candidate, line, _text(line))
        return Hit(
            device.name,
            candidate.id,
            candidate.seq,
            candidate.at,
            line.get("who", ""),
            _text(line),
            score=candidate.score,
            state=state,
            coverage=candidate.coverage,
            cosine=candidate.cosine,
            explanation=explain(candidate, board, self._words, request.query, parts) if request.explain else None,
            path=str(line.get("path", "")),
            heading=str(line.get("heading", "")),
            is_on_board=state != "archived" and candidate.seq >= device.logs[candidate.log].oldest,
            confidence=float(value_of(np.array([parts]))[0]),
            kind="turn" if candidate.log == "journal" else "memory",
        )


def _text(line: Fields) -> str:
    return line_meaning.attributed_text(line) if "text" in line else stated(line)


def _shown_fields(line: bytes, caller: Caller) -> Fields | None:
    fields = log_line.decode(line)
    has_text = "text" in fields or "content" in fields
    return fields if has_text and access.may_see(caller, fields.get("scope", ALL)) else None
