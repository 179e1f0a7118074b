"""Memories, searches and days of one person, by the scope rules of the boards."""

import asyncio
import functools
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.bridge_types import Person
from engram_host.companion.entries.reader import EntryPage, ReadEntry, read_lines
from engram_host.companion.entries.scan import day_of, scan_entries
from engram_host.companion.errors import UnknownDevice
from engram_host.companion.search.request import SearchResult
from engram_host.companion.search_service import SearchService
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.page.types import BoardQuery
from engram_host.companion.types import Device
from engram_host.time_zones import BoardZone

ROOM = "page"

MOST_BOARDS = 200
"""Boards that a person is shown, by name."""

MOST_TURNS = 200
"""Turns of one day, the newest ones."""

MOST_DAYS = 400
"""Days on which something was said, the newest ones."""

HITS = 20

_SHOWN = frozenset({"live", "archived"})


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
    zone: BoardZone


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
        options: dict[str, Any] = {"query": query, "limit": HITS, "expand": False, "rerank": False}
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
        device, may_see = self._device(principal, name), _sees(principal)
        found = scan_entries(self._store, device, "records", int(time.time()))
        states = {each.seq: each.state for each in found if each.state in _SHOWN and may_see(each.scope)}
        wanted = list(reversed(states))[offset : offset + limit]
        lines = read_lines(self._store, device, "records", wanted)
        return EntryPage(len(states), [ReadEntry("", states[seq], lines[seq]) for seq in wanted if seq in lines])

    def _days(self, principal: str, name: str, wanted: int | None) -> PersonalDays:
        device, may_see = self._device(principal, name), _sees(principal)
        turns: dict[int, list[int]] = {}
        for each in scan_entries(self._store, device, "journal", int(time.time())):
            if not each.is_command and may_see(each.scope):
                turns.setdefault(day_of(each.at, device.zone), []).append(each.seq)
        day = max(turns, default=0) if wanted is None else wanted
        seqs = turns.get(day, [])[-MOST_TURNS:]
        lines = read_lines(self._store, device, "journal", seqs)
        said = tuple(ReadEntry("", "live", lines[seq]) for seq in seqs if "text" in lines.get(seq, ()))
        counts = sorted(((each, len(found)) for each, found in turns.items()), reverse=True)[:MOST_DAYS]
        return PersonalDays(tuple(counts), day, said, device.zone)


def _caller(principal: str) -> Caller:
    return Caller(principal, ROOM, False, "")


def _sees(principal: str) -> Callable[[str], bool]:
    """Whether a person may see what has a scope, by the rules that boards have."""
    caller = _caller(principal)
    return functools.cache(lambda scope: access.may_see(caller, scope))


def _networks(person: Person) -> frozenset[str]:
    return frozenset(ref.partition(":")[0] for ref in person.ids)
