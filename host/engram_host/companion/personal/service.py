"""Memories, searches and days of one person, by the scope rules of the boards."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.bridge_types import Person
from engram_host.companion.entries.reader import EntryPage, LogCopy, ReadEntry
from engram_host.companion.errors import UnknownDevice
from engram_host.companion.search.request import SearchResult
from engram_host.companion.search_service import SearchService
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.page.types import BoardQuery
from engram_host.companion.types import Device

ROOM = "page"

MOST_BOARDS = 200
"""Boards that a person is shown, by name."""

MOST_TURNS = 200
"""Turns of one day, the newest ones."""

MOST_DAYS = 400
"""Days on which something was said, the newest ones."""

HITS = 20

_DAY_SECONDS = 86400


class Reach(Protocol):
    """Knows which boards people reach through bridges."""

    def boards_of_networks(self, networks: Collection[str]) -> tuple[str, ...] | None:
        """The boards that people of some networks reach, by name; None for all that there are."""
        ...


@dataclass(frozen=True)
class PersonalDays:
    """The days on which something was said, newest first, with how many turns; and the turns of one of them, oldest first."""

    days: tuple[tuple[int, int], ...]
    day: int
    turns: tuple[ReadEntry, ...]
    zone: int


class PersonalMemory:
    """Looks at boards for people. UnknownDevice for a board that the person does not reach; StoreUnavailable."""

    def __init__(self, store: CompanionStore, search: SearchService, reach: Reach):
        self._store = store
        self._search = search
        self._reach = reach

    async def boards(self, principal: str) -> list[str]:
        """The boards that a person reaches."""
        return await asyncio.to_thread(self._boards, principal)

    async def memories(self, principal: str, device: str, offset: int, limit: int) -> EntryPage:
        """The memories of a board that a person may see and nothing took the place of, newest first."""
        return await asyncio.to_thread(self._memories, principal, device, offset, limit)

    async def days(self, principal: str, device: str, day: int | None) -> PersonalDays:
        """What was said with a person on a board, by day: on one day, the latest one if none is given."""
        return await asyncio.to_thread(self._days, principal, device, day)

    async def search(self, principal: str, query: str) -> SearchResult | None:
        """What a person may see of what fits a query, on the boards that they reach; None if there are none."""
        boards = await self.boards(principal)
        if not boards:
            return None
        # Calls of a model are the operator's.
        options: dict[str, Any] = {"query": query, "limit": HITS, "expand": False}
        return await self._search.search(_caller(principal), devices=boards, **options)

    def _boards(self, principal: str) -> list[str]:
        person = self._store.person_of(principal)
        if person is None or person.is_blocked:
            return []
        reached = self._reach.boards_of_networks(_networks(person))
        if reached is None:
            return [row.name for row in self._store.list_boards(BoardQuery(limit=MOST_BOARDS))[1]]
        return [name for name in reached if self._store.board_row(name)][:MOST_BOARDS]

    def _device(self, principal: str, name: str) -> Device:
        person = self._store.person_of(principal)
        reached = self._reach.boards_of_networks(_networks(person)) if person and not person.is_blocked else ()
        if reached is not None and name not in reached:
            raise UnknownDevice(name)
        return self._store.device(name)

    def _memories(self, principal: str, name: str, offset: int, limit: int) -> EntryPage:
        copy = LogCopy(self._store, self._device(principal, name), "records", int(time.time()))
        may_see = _sees(principal)
        found = copy.newest(lambda entry: entry.state in ("live", "archived") and may_see(entry), offset + limit)
        return EntryPage(found.total, found.entries[offset:])

    def _days(self, principal: str, name: str, wanted: int | None) -> PersonalDays:
        device = self._device(principal, name)
        copy, may_see = LogCopy(self._store, device, "journal", int(time.time())), _sees(principal)
        counts, turns = Counter[int](), dict[int, list[ReadEntry]]()
        for entry in copy.oldest_first():
            if not may_see(entry) or not _is_said(entry):
                continue
            day = (entry.line["at"] + device.zone * 60) // _DAY_SECONDS
            counts[day] += 1
            if wanted in (None, day):
                turns.setdefault(day, []).append(entry)
                if wanted is None and len(turns) > 1:
                    del turns[min(turns)]
        day = max(counts, default=0) if wanted is None else wanted
        shown = sorted(counts.items(), reverse=True)[:MOST_DAYS]
        return PersonalDays(tuple(shown), day, tuple(turns.get(day, ())[-MOST_TURNS:]), device.zone)


def _caller(principal: str) -> Caller:
    return Caller(principal, ROOM, False, "")


def _sees(principal: str) -> Callable[[ReadEntry], bool]:
    """Whether a person may see an entry, by the rules that boards have."""
    caller = _caller(principal)
    return lambda entry: access.may_see_line(caller, entry.line)


def _is_said(entry: ReadEntry) -> bool:
    """Whether a turn is one that a person or a board said, no command."""
    line = entry.line
    return isinstance(line.get("text"), str) and isinstance(line.get("at"), int) and not line.get("command")


def _networks(person: Person) -> frozenset[str]:
    return frozenset(ref.partition(":")[0] for ref in person.ids)
