"""Sessions of a board's conversations, by the search index."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engram_host.companion.entries.reader import read_lines
from engram_host.companion.search import tables
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.search.index import DeviceIndex
from engram_host.companion.search.tables import NONE
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.types import Device

TITLE_CHARACTERS = 60
_MOST_DIGITS = 12


@dataclass(frozen=True)
class SessionSummary:
    id: str
    title: str
    turns: int
    at: int


class SessionBrowser:
    """Session queries; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, boards: BoardTable, indexes: IndexCache):
        self._boards = boards
        self._indexes = indexes

    async def newest(self, device: str, scope: str, limit: int) -> list[SessionSummary]:
        return await asyncio.to_thread(self._newest, device, scope, limit)

    async def of_turns(self, device: str, turns: Iterable[str]) -> dict[str, str]:
        return await asyncio.to_thread(self._of_turns, device, [*turns])

    async def titles(self, device: str, sessions: Iterable[str]) -> dict[str, str]:
        return await asyncio.to_thread(self._titles_of, device, set(sessions))

    def _titles_of(self, name: str, sessions: set[str]) -> dict[str, str]:
        index, device = self._indexes.get(name, None)
        with index.lock:
            firsts = {sid: first for sid in sessions if (first := _first_turn(index, sid)) is not None}
        return self._titles(device, firsts)

    def _newest(self, name: str, scope: str, limit: int) -> list[SessionSummary]:
        index, device = self._indexes.get(name, None)
        with index.lock:
            found = _count_turns(index, scope, limit)
        titles = self._titles(device, {sid: first for sid, _, _, first in found})
        return [SessionSummary(sid, titles.get(sid, ""), turns, at) for sid, turns, at, _ in found]

    def _titles(self, device: Device, firsts: dict[str, int]) -> dict[str, str]:
        lines = read_lines(self._boards, device, "journal", [*map(_own_line, firsts), *firsts.values()])
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


def _first_turn(index: DeviceIndex, session: str) -> int | None:
    rows, thread = index.rows, index.threads.find(session)
    if thread == NONE:
        return None
    is_of_session = (rows.column("thread") == thread) & rows.column("turn") & (rows.column("state") == tables.LIVE)
    found = rows.column("seq")[is_of_session]
    return int(found.min()) if len(found) else None


def _count_turns(index: DeviceIndex, scope: str, limit: int) -> list[tuple[str, int, int, int]]:
    rows = index.rows
    wanted = rows.column("turn") & (rows.column("state") == tables.LIVE) & (rows.column("thread") != NONE)
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
