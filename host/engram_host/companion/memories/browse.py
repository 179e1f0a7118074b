"""Browsing of a board's memories by the search index; only shown lines are read."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from engram.memory.records import provenance
from engram.store.types import FORGOTTEN
from engram_host.companion.entries.lines import EntryState, state_name
from engram_host.companion.entries.reader import ReadEntry, read_lines
from engram_host.companion.entries.scan import KeptOfBoards
from engram_host.companion.errors import UnknownEntry
from engram_host.companion.search import tables
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.search.index import PINNED, DeviceIndex
from engram_host.companion.search.tables import NONE, turns_of
from engram_host.companion.search.tokenizer import query_terms, term_id
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.types import Device, LogName

MOST_SCOPES = 100

MOST_OF_TURN = 16

_MOST_WORDS = 16
_MOST_CHAIN = 20  # memories that replaced each other
_ARCHIVES_KEPT = 32  # boards whose archived lines are kept until something changes

Mask = NDArray[np.bool_]


MemoryState = Literal["live", "superseded", "expired", "archived", "all"]
MemorySort = Literal["changed", "-changed", "created", "-created", "importance", "-importance"]
"""Sort key; a leading - reverses it."""

MOST_VERSIONS = 20


@dataclass(frozen=True)
class MemoryQuery:
    """Filters, order and page; all `words` must match."""

    state: MemoryState = "live"
    tag: str = ""
    type: str = ""
    scope: str = ""
    words: str = ""
    since: int = 0
    until: int = 0
    is_pinned: bool = False
    sort: MemorySort = "-changed"
    limit: int = 25
    offset: int = 0


@dataclass(frozen=True)
class MemoryPage:
    """A page of memories, with the total, the archived matches (of live ones) and at most 100 scopes."""

    total: int
    archived: int
    entries: tuple[ReadEntry, ...]
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class EntryHistory(ReadEntry):
    """An entry of a board with its lines, oldest first, after those of memories that it superseded."""

    device: str
    versions: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class SourceTurn:
    """A memory's source turn; `line` is None if the copy lacks it or it was forgotten."""

    id: str
    line: dict[str, Any] | None
    is_coming: bool


def is_changeable(entry: ReadEntry) -> bool:
    return entry.state in ("live", "expired")


@dataclass(frozen=True)
class MemoryDetail:
    """A memory with its versions (newest first), source turns, successors and origin."""

    entry: ReadEntry
    versions: tuple[dict[str, Any], ...]
    has_more: bool
    turns: tuple[SourceTurn, ...]
    successors: tuple[str, ...]
    origin: str

    @property
    def is_changeable(self) -> bool:
        return is_changeable(self.entry)


class MemoryBrowser:
    """Memory queries; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, boards: BoardTable, indexes: IndexCache, clock: Callable[[], float] = time.time):
        self._boards = boards
        self._indexes = indexes
        self._clock = clock
        self._archives = KeptOfBoards[NDArray[np.int64]](_ARCHIVES_KEPT)

    async def page(self, device: str, query: MemoryQuery) -> MemoryPage:
        return await asyncio.to_thread(self.read_page, device, query)

    async def detail(self, device: str, entry_id: str) -> MemoryDetail:
        """Return one memory. Raise UnknownEntry if it is missing or forgotten."""
        return await asyncio.to_thread(self._detail, device, entry_id)

    async def history(self, device: str, entry_id: str) -> EntryHistory:
        """Return a memory or a turn with its versions. Raise UnknownEntry if it is missing or forgotten."""
        if entry_id[0] == "m":
            found = await self.detail(device, entry_id)
            return EntryHistory(**vars(found.entry), device=device, versions=found.versions[::-1])
        entry = (await self.entries(device, [entry_id])).get(entry_id)
        if entry is None:
            raise UnknownEntry(entry_id, board=device)
        return EntryHistory(**vars(entry), device=device, versions=(entry.line,))

    async def ids_of_turns(self, device: str, turns: Iterable[str]) -> dict[str, list[str]]:
        return await asyncio.to_thread(self._ids_of_turns, device, [*turns])

    async def entries(self, device: str, ids: Iterable[str]) -> dict[str, ReadEntry]:
        return await asyncio.to_thread(self._entries, device, [*ids])

    # --- lists

    def read_page(self, name: str, query: MemoryQuery) -> MemoryPage:
        index, device = self._indexes.get(name, None)
        archived = self._archived(device)
        with index.lock:
            found = _Selection(index, query, archived, int(self._clock()))
            rows = found.page()
            numbers, seqs = index.rows.column("number")[rows].tolist(), index.rows.column("seq")[rows].tolist()
            states = [found.state(row) for row in rows.tolist()]
            scopes = sorted(text[1:] for text in index.scopes.texts)[:MOST_SCOPES]
        lines = read_lines(self._boards, device, "records", seqs)
        entries = (
            ReadEntry(f"m{number}", state, lines[seq])
            for number, seq, state in zip(numbers, seqs, states, strict=True)
            if seq in lines
        )
        return MemoryPage(found.total, found.archived, tuple(entries), tuple(scopes))

    def _archived(self, device: Device) -> NDArray[np.int64]:
        key = (device.name, device.generation, device.version)
        return self._archives.get(key, lambda: np.array(self._boards.archived_seqs(device.name), np.int64))

    # --- one

    def _detail(self, name: str, entry_id: str) -> MemoryDetail:
        number = int(entry_id[1:])
        index, device = self._indexes.get(name, None)
        archived = self._archived(device)
        with index.lock:
            state = index.entry_state("records", number)
            successors = index.successors(number)
        if state is None or state.state == FORGOTTEN:
            raise UnknownEntry(entry_id, board=name)
        versions, has_more = self._versions(index, device, state)
        latest = versions[0] if versions else {}
        if not latest:
            raise UnknownEntry(entry_id, board=name)
        entry = ReadEntry(entry_id, _state_name(state, latest, archived, int(self._clock())), latest)
        replaced = tuple(f"m{other}" for other in successors) if entry.state == "superseded" else ()
        turns = self._source_turns(index, device, latest)
        origin = provenance.origin_of({"id": entry_id, **latest}, device.logs["records"].epoch)
        return MemoryDetail(entry, tuple(versions), has_more, turns, replaced, origin)

    def _versions(self, index: DeviceIndex, device: Device, state: EntryState) -> tuple[list[dict[str, Any]], bool]:
        found: list[dict[str, Any]] = []
        seen: set[int] = set()
        chain: EntryState | None = state
        while chain and len(seen) < _MOST_CHAIN and len(found) <= MOST_VERSIONS:
            seqs = [*reversed(chain.versions)][: MOST_VERSIONS + 1 - len(found)]
            lines = read_lines(self._boards, device, "records", seqs)
            found += [lines[seq] for seq in seqs if seq in lines]
            seen.add(chain.versions[0])
            older = _number_of(found[-1].get("supersedes")) if found else NONE
            chain = None
            if older != NONE and older not in seen:
                with index.lock:
                    before = index.entry_state("records", older)
                chain = before if before and before.state != FORGOTTEN else None
        return found[:MOST_VERSIONS], len(found) > MOST_VERSIONS

    def _source_turns(self, index: DeviceIndex, device: Device, line: dict[str, Any]) -> tuple[SourceTurn, ...]:
        seqs = turns_of(line)
        with index.lock:
            there = [seq for seq in seqs if _is_there(index.entry_state("journal", seq))]
        lines = read_lines(self._boards, device, "journal", there)
        copied = device.have["journal"]
        return tuple(SourceTurn(f"t{seq}", lines.get(seq), seq > copied) for seq in seqs)

    # --- by turn and by id

    def _ids_of_turns(self, name: str, turns: list[str]) -> dict[str, list[str]]:
        index, _ = self._indexes.get(name, None)
        found: dict[str, list[str]] = {}
        with index.lock:
            numbers = index.rows.column("number")
            for turn in turns:
                rows = reversed(index.links.records_of(_number_of(turn, "t"))[-4 * MOST_OF_TURN :])
                known = dict.fromkeys(int(numbers[row]) for row in rows if numbers[row] != NONE)
                found[turn] = [f"m{number}" for number in known][:MOST_OF_TURN]
        return found

    def _entries(self, name: str, ids: list[str]) -> dict[str, ReadEntry]:
        index, device = self._indexes.get(name, None)
        archived, now = self._archived(device), int(self._clock())
        found: dict[str, ReadEntry] = {}
        # A board archives memories, never turns.
        logs: tuple[tuple[str, LogName, NDArray[np.int64]], ...] = (
            ("m", "records", archived),
            ("t", "journal", archived[:0]),
        )
        for letter, log, away in logs:
            states: dict[str, EntryState] = {}
            with index.lock:
                for each in ids:
                    number = _number_of(each, letter)
                    state = index.entry_state(log, number) if number != NONE else None
                    if state and state.state != FORGOTTEN:
                        states[each] = state
            lines = read_lines(self._boards, device, log, [state.latest for state in states.values()])
            for each, state in states.items():
                if line := lines.get(state.latest):
                    found[each] = ReadEntry(each, _state_name(state, line, away, now), line)
        return found


def _is_there(state: EntryState | None) -> bool:
    return state is not None and state.state != FORGOTTEN


def _number_of(ref: object, letter: str = "m") -> int:
    is_id = isinstance(ref, str) and ref[:1] == letter and ref[1:].isascii() and ref[1:].isdigit() and len(ref) < 12
    return int(str(ref)[1:]) if is_id else NONE


def _state_name(state: EntryState, line: dict[str, Any], archived: NDArray[np.int64], now: int) -> str:
    return state_name(state.state, line.get("expires"), now, is_archived=bool(np.any(archived == state.latest)))


class _Selection:
    def __init__(self, index: DeviceIndex, query: MemoryQuery, archived: NDArray[np.int64], now: int):
        self._index = index
        self._query = query
        rows = index.rows
        states, expires = rows.column("state"), rows.column("expires")
        current = (states == tables.LIVE) | (states == tables.ARCHIVED)
        expired = current & (expires > 0) & (expires <= now)
        away = current & ~expired & ((states == tables.ARCHIVED) | np.isin(rows.column("seq"), archived))
        self._masks: dict[str, Mask] = {
            "superseded": states == tables.SUPERSEDED,
            "expired": expired,
            "archived": away,
            "live": current & ~expired & ~away,
        }
        fitting = self._fitting()
        names = self._masks if query.state == "all" else (query.state,)
        wanted = np.logical_or.reduce([self._masks[name] for name in names])
        self._found = np.flatnonzero(fitting & wanted)
        self.total = len(self._found)
        self.archived = int(np.count_nonzero(fitting & away)) if query.state == "live" else 0

    def page(self) -> NDArray[np.intp]:
        query, rows = self._query, self._index.rows
        name = {"changed": "seq", "created": "at", "importance": "importance"}[query.sort.lstrip("-")]
        # Ties put the last changed first.
        seqs, values = rows.column("seq")[self._found], rows.column(name)[self._found].astype(np.int64)
        order = np.lexsort((-seqs.astype(np.int64), -values if query.sort.startswith("-") else values))
        return self._found[order][query.offset : query.offset + query.limit]

    def state(self, row: int) -> str:
        return next(name for name, mask in self._masks.items() if mask[row])

    def _fitting(self) -> Mask:
        query, rows = self._query, self._index.rows
        at = rows.column("at")
        fitting: Mask = ~rows.column("turn")
        if query.since:
            fitting &= at >= query.since
        if query.until:
            fitting &= at < query.until
        if query.scope:
            scope = self._index.scopes.find("@" + query.scope)
            fitting &= (rows.column("scope") == scope) & (scope != NONE)
        for label, is_wanted in (
            ("#" + query.tag, query.tag),
            ("!" + query.type, query.type),
            (PINNED, query.is_pinned),
        ):
            if is_wanted:
                fitting &= self._having(label)
        for term, is_beside in query_terms(query.words, _MOST_WORDS).items():
            if not is_beside:
                fitting &= self._having(term)
        return fitting

    def _having(self, term: str) -> Mask:
        found = np.zeros(len(self._index.rows), np.bool_)
        found[self._index.postings.find(term_id(term))[0]] = True
        return found
