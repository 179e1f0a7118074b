"""Memories, searches and days of one person, by the scope rules of the boards."""

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import date
from typing import Any, Protocol

from engram.memory import ALL, access
from engram.memory.access import Caller
from engram_host.companion.bridge_types import Person
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.errors import UnknownDevice, UnknownEntry, UnknownSense
from engram_host.companion.media.service import MediaService
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.memories.sessions import MOST_TURNS, TurnsByDay
from engram_host.companion.memories.types import MemoryPage, MemoryQuery
from engram_host.companion.search.request import SearchResult
from engram_host.companion.search_service import SearchService
from engram_host.companion.senses.service import POINTS, Level, ReadingService, Series
from engram_host.companion.store.boards.table import BoardQuery, BoardTable
from engram_host.companion.store.bridges.people import PeopleTable
from engram_host.companion.store.media import StoredMedia
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.senses.types import StoredSense
from engram_host.companion.types import Device
from engram_host.time_zones import BoardZone

ROOM = "page"

MOST_BOARDS = 200

HITS = 20


class Reach(Protocol):
    def boards_of_networks(self, networks: Collection[str]) -> tuple[str, ...] | None:
        """Return the boards by name; None for all."""
        ...


class PersonalMemory:
    """Boards as a person sees them; raises UnknownDevice if out of reach, StoreUnavailable."""

    def __init__(
        self,
        *,
        boards: BoardTable,
        people: PeopleTable,
        senses: SenseTable,
        search: SearchService,
        memories: MemoryServices,
        media: MediaService,
        readings: ReadingService,
        reach: Reach,
    ):
        self._boards = boards
        self._people = people
        self._senses = senses
        self._search = search
        self._memories = memories
        self._media = media
        self._readings = readings
        self._reach = reach

    async def boards(self, principal: str) -> list[str]:
        return await asyncio.to_thread(self._reached, principal)

    async def memories(self, principal: str, device: str, offset: int, limit: int) -> MemoryPage:
        await asyncio.to_thread(self._check_reached, principal, device)
        query = MemoryQuery("current", caller=_caller(principal), offset=offset, limit=limit)
        return await self._memories.browser.page(device, query)

    async def days(
        self, principal: str, device: str, day: date | None, offset: int = 0, limit: int = MOST_TURNS
    ) -> TurnsByDay:
        await asyncio.to_thread(self._check_reached, principal, device)
        return await self._memories.turns.by_day(device, _caller(principal), day, offset, limit)

    async def entry(self, principal: str, device: str, entry: str) -> ReadEntry:
        await asyncio.to_thread(self._check_reached, principal, device)
        found = (await self._memories.browser.entries(device, [entry])).get(entry)
        is_current = found is not None and found.state in ("live", "archived") and "command" not in found.line
        if found is None or not is_current or not access.may_see(_caller(principal), found.line.get("scope", ALL)):
            raise UnknownEntry(entry, "not_copied", board=device)
        return found

    async def media_named_in(self, principal: str, device: str, texts: Iterable[str]) -> dict[str, StoredMedia]:
        await asyncio.to_thread(self._check_reached, principal, device)
        return await self._media.named_in(device, texts, _caller(principal))

    async def media(self, principal: str, device: str, media: str) -> StoredMedia:
        await asyncio.to_thread(self._check_reached, principal, device)
        return await self._media.find(device, media, _caller(principal))

    async def senses(self, principal: str, device: str) -> list[StoredSense]:
        await asyncio.to_thread(self._check_reached, principal, device)
        found = await self._readings.senses(device)
        return [sense for sense in found if _may_see(principal, sense)]

    async def boards_with_senses(self, principal: str, boards: Collection[str]) -> set[str]:
        found = await asyncio.to_thread(self._senses.senses_of_boards)
        return {name for name in boards if any(_may_see(principal, sense) for sense in found.get(name, ()))}

    async def series(
        self,
        principal: str,
        device: str,
        name: str,
        since: int,
        until: int,
        level: Level | None = None,
        most: int = POINTS,
    ) -> Series:
        """Return a series without events, whose audience is unknown; raises UnknownSense."""
        await asyncio.to_thread(self._check_reached, principal, device)
        sense = await asyncio.to_thread(self._readings.find, device, name)
        if not _may_see(principal, sense):
            raise UnknownSense(name)
        return replace(await self._readings.series(device, name, since, until, level, most), events=())

    async def device(self, principal: str, device: str) -> Device:
        await asyncio.to_thread(self._check_reached, principal, device)
        return await asyncio.to_thread(self._boards.device, device)

    async def zone(self, device: str) -> BoardZone:
        return (await asyncio.to_thread(self._boards.device, device)).zone

    async def search(self, principal: str, query: str) -> SearchResult | None:
        boards = await self.boards(principal)
        if not boards:
            return None
        # Model calls are for the operator.
        options: dict[str, Any] = {"query": query, "limit": HITS, "expand": False, "rerank": False}
        return await self._search.search(_caller(principal), devices=boards, **options)

    def _reached(self, principal: str) -> list[str]:
        person = self._people.person_of(principal)
        if person is None or person.is_blocked:
            return []
        reached = self._reach.boards_of_networks(_networks(person))
        if reached is None:
            return [row.name for row in self._boards.list_boards(BoardQuery(limit=MOST_BOARDS))[1]]
        return [name for name in reached if self._boards.board_row(name)][:MOST_BOARDS]

    def _check_reached(self, principal: str, name: str) -> None:
        person = self._people.person_of(principal)
        reached = self._reach.boards_of_networks(_networks(person)) if person and not person.is_blocked else ()
        if reached is not None and name not in reached:
            raise UnknownDevice(name)


def _may_see(principal: str, sense: StoredSense) -> bool:
    return access.may_see(_caller(principal), ALL if sense.shared else access.own_scope(access.OWNER))


def _caller(principal: str) -> Caller:
    return Caller(principal, ROOM, False, "")


def _networks(person: Person) -> frozenset[str]:
    return frozenset(ref.partition(":")[0] for ref in person.ids)
