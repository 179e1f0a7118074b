"""Lists of boards and the overview of one, for the page, the API and the command line."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engram_host.companion.conversations.service import HEARD_SECONDS
from engram_host.companion.entries.kept import KeptOfBoards
from engram_host.companion.entries.scan import day_of
from engram_host.companion.errors import UnknownDevice
from engram_host.companion.overview.figures import BoardFigures, CopyCounts, count_copy
from engram_host.companion.overview.journal import BoardJournal
from engram_host.companion.overview.warnings import find_warnings, status_warnings
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.status import BoardDay, ToldStatus
from engram_host.companion.store.line_quota import DAY_SECONDS
from engram_host.companion.store.page.types import BoardQuery, BoardRow
from engram_host.companion.types import Device
from engram_host.sentences import Sentence
from engram_host.time_zones import BoardZone

BoardState = Literal["connected", "away"]

DAYS = 30
MOST_DAYS = 366  # default and limit of the days with figures
MOST_KEPT = 64  # boards with cached figures: bounds the memory
_EVENTS = 20


@dataclass(frozen=True)
class BoardSummary:
    """A board in a list."""

    row: BoardRow
    state: BoardState
    warnings: tuple[Sentence, ...]
    told: ToldStatus | None = None  # last report of the board, None without any


@dataclass(frozen=True)
class BoardPage:
    """A page of boards, and the total."""

    total: int
    boards: tuple[BoardSummary, ...]


@dataclass(frozen=True)
class BoardOverview:
    """One board: figures of its copy, daily reports, and latest events, newest first."""

    summary: BoardSummary
    device: Device
    figures: BoardFigures
    days: tuple[BoardDay, ...]
    today: int  # the UTC day of the overview, in days since 1970
    events: tuple[tuple[int, str], ...]


class BoardOverviews:
    """Reads lists and overviews of boards."""

    def __init__(self, store: CompanionStore, flash_percent: Callable[[], int] = lambda: 0):
        """flash_percent() returns the bound of a nearly full flash, 0 for none."""
        self._store = store
        self.journal = BoardJournal(store)
        self._flash_percent = flash_percent
        self._kept = KeptOfBoards[CopyCounts](MOST_KEPT)

    async def list(self, query: BoardQuery, state: BoardState | Literal[""] = "") -> BoardPage:
        """List boards by a query and an optional state; may raise StoreUnavailable."""
        return await asyncio.to_thread(self._list, query, state)

    async def summary(self, name: str) -> BoardSummary:
        """Return a board as in a list; raises UnknownDevice or StoreUnavailable."""
        return await asyncio.to_thread(self._summary, name)

    async def zones(self, names: Iterable[str]) -> dict[str, BoardZone]:
        """Return the known time zones of boards; may raise StoreUnavailable."""
        return await asyncio.to_thread(self._zones, [*names])

    async def overview(self, name: str, days: int = DAYS) -> BoardOverview:
        """Return a board with figures of the last days; raises UnknownDevice or StoreUnavailable."""
        return await asyncio.to_thread(self._overview, name, days)

    def _list(self, query: BoardQuery, state: BoardState | Literal[""]) -> BoardPage:
        now = int(time.time())
        if state:
            since = now - HEARD_SECONDS
            query = replace(query, **{"heard_since" if state == "connected" else "silent_since": since})
        total, rows = self._store.list_boards(query)
        return BoardPage(total, tuple(self._summaries(rows, now)))

    def _summary(self, name: str) -> BoardSummary:
        row = self._store.board_row(name)
        if row is None:
            raise UnknownDevice(name)
        return self._summaries([row], int(time.time()))[0]

    def _zones(self, names: Sequence[str]) -> dict[str, BoardZone]:
        rows = (self._store.board_row(name) for name in names)
        return {row.name: row.zone for row in rows if row}

    def _summaries(self, rows: Sequence[BoardRow], now: int) -> Sequence[BoardSummary]:
        damaged: dict[str, int] = {}
        for lines in self._store.damaged():
            damaged[lines.device] = damaged.get(lines.device, 0) + lines.count
        statuses = self._store.statuses_of([row.name for row in rows])
        return [self._summarize(row, statuses.get(row.name), damaged.get(row.name, 0), now) for row in rows]

    def _summarize(self, row: BoardRow, told: ToldStatus | None, damaged: int, now: int) -> BoardSummary:
        warnings = find_warnings(row, damaged, now)
        if told:
            warnings += status_warnings(told.status, self._flash_percent())
        return BoardSummary(row, "connected" if now - row.heard <= HEARD_SECONDS else "away", warnings, told)

    def _overview(self, name: str, days: int) -> BoardOverview:
        summary, device = self._summary(name), self._store.device(name)
        if summary.told is None:
            summary = replace(summary, warnings=summary.warnings + status_warnings(None, 0))
        events = self._store.events(name, _EVENTS)
        today = int(time.time()) // DAY_SECONDS
        reports = self._store.board_days(name, today - days + 1)
        return BoardOverview(summary, device, self._figures(device, days), tuple(reports), today, tuple(events))

    def _figures(self, device: Device, days: int) -> BoardFigures:
        """Return cached figures, renewed for a changed copy or a new hour, since memories expire."""
        now = int(time.time())
        return self._counts(device, now).of_days(day_of(now, device.zone), days)

    def _counts(self, device: Device, now: int) -> CopyCounts:
        key = (device.name, device.generation, device.version, device.zone, now // 3600)
        return self._kept.get(key, lambda: count_copy(self._store, device, now))
