"""Sessions of a board's conversations by the search index: last use, turns and title."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.entries.reader import ReadEntry, read_lines
from engram_host.companion.search.indexes import columns
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.indexes.columns import NONE
from engram_host.companion.search.indexes.index import DeviceIndex
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import Device

TITLE_CHARACTERS = 60

_MOST_DIGITS = 12


@dataclass(frozen=True)
class SessionShown:
    """A session as shown to people."""

    id: str
    title: str
    turns: int
    at: int


@dataclass(frozen=True)
class SessionTurns:
    """Newest turns of a session, newest first, with their total."""

    total: int
    turns: tuple[ReadEntry, ...]


class SessionBrowser:
    """Session queries; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, store: CompanionStore, indexes: IndexCache):
        self._store = store
        self._indexes = indexes

    async def newest(self, device: str, scope: str, limit: int) -> list[SessionShown]:
        """Return a scope's sessions with remembered turns, last used first."""
        return await asyncio.to_thread(self._newest, device, scope, limit)

    async def of_turns(self, device: str, turns: Iterable[str]) -> dict[str, str]:
        return await asyncio.to_thread(self._of_turns, device, [*turns])

    async def turns(self, device: str, session: str, limit: int) -> SessionTurns:
        return await asyncio.to_thread(self._turns, device, session, limit)

    async def titles(self, device: str, sessions: Iterable[str]) -> dict[str, str]:
        """Return titles of sessions, without those that have no remembered turn."""
        return await asyncio.to_thread(self._titles_of, device, set(sessions))

    def _turns(self, name: str, session: str, limit: int) -> SessionTurns:
        index, device = self._indexes.get(name, None)
        with index.lock:
            seqs = np.sort(index.rows.column("seq")[_rows_of_session(index, session)]).tolist()
        newest = list(reversed(seqs[-limit:]))
        lines = read_lines(self._store, device, "journal", newest)
        return SessionTurns(
            len(seqs), tuple(ReadEntry(f"t{seq}", "live", lines[seq]) for seq in newest if seq in lines)
        )

    def _titles_of(self, name: str, sessions: set[str]) -> dict[str, str]:
        index, device = self._indexes.get(name, None)
        with index.lock:
            firsts = {sid: first for sid in sessions if (first := _first_turn(index, sid)) is not None}
        return self._titles(device, firsts)

    def _newest(self, name: str, scope: str, limit: int) -> list[SessionShown]:
        index, device = self._indexes.get(name, None)
        with index.lock:
            found = _count_turns(index, scope, limit)
        titles = self._titles(device, {sid: first for sid, _, _, first in found})
        return [SessionShown(sid, titles.get(sid, ""), turns, at) for sid, turns, at, _ in found]

    def _titles(self, device: Device, firsts: dict[str, int]) -> dict[str, str]:
        lines = read_lines(self._store, device, "journal", [*map(_own_line, firsts), *firsts.values()])
        titles: dict[str, str] = {}
        for sid, first in firsts.items():
            given = lines.get(_own_line(sid), {}).get("title", "")
            said = lines.get(first, {}).get("text", "")
            title = given if isinstance(given, str) and given else said if isinstance(said, str) else ""
            titles[sid] = " ".join(title.split())[:TITLE_CHARACTERS]
        return titles

    def _of_turns(self, name: str, turns: list[str]) -> dict[str, str]:
        index, _ = self._indexes.get(name, None)
        found: dict[str, str] = {}
        with index.lock:
            threads = index.rows.column("thread")
            for turn in turns:
                row = index.rows.row_of("journal", int(turn[1:])) if turn[1:].isdecimal() else NONE
                if row != NONE and threads[row] != NONE:
                    found[turn] = index.threads.texts[threads[row]]
        return found


def _own_line(session: str) -> int:
    number = session[1:]
    return int(number) if number.isascii() and number.isdecimal() and len(number) < _MOST_DIGITS else 0


def _rows_of_session(index: DeviceIndex, session: str) -> NDArray[np.intp]:
    rows, thread = index.rows, index.threads.find(session)
    if thread == NONE:
        return np.zeros(0, np.intp)
    return np.flatnonzero(
        (rows.column("thread") == thread) & rows.column("turn") & (rows.column("state") == columns.LIVE)
    )


def _first_turn(index: DeviceIndex, session: str) -> int | None:
    found = _rows_of_session(index, session)
    return int(index.rows.column("seq")[found].min()) if len(found) else None


def _count_turns(index: DeviceIndex, scope: str, limit: int) -> list[tuple[str, int, int, int]]:
    """Return (id, turns, newest time, first seq) of the last used sessions."""
    rows = index.rows
    wanted = rows.column("turn") & (rows.column("state") == columns.LIVE) & (rows.column("thread") != NONE)
    wanted &= rows.column("scope") == index.scopes.find("@" + scope)
    chosen = np.flatnonzero(wanted)
    if not len(chosen):
        return []
    threads = rows.column("thread")[chosen]
    size = len(index.threads.texts)
    counts = np.bincount(threads, minlength=size)
    newest, first = np.zeros(size, np.int64), np.full(size, np.iinfo(np.int64).max)
    np.maximum.at(newest, threads, rows.column("at")[chosen])
    np.minimum.at(first, threads, rows.column("seq")[chosen].astype(np.int64))
    order = np.lexsort((-first, -newest))
    used = [thread for thread in order.tolist() if counts[thread]][:limit]
    return [(index.threads.texts[at], int(counts[at]), int(newest[at]), int(first[at])) for at in used]
