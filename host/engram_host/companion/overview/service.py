"""Lists of boards with their warnings, and the overview of one, for the page, the API and the command line."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engram_host.companion.alerts.board_warnings import board_warnings
from engram_host.companion.conversations.service import HEARD_SECONDS
from engram_host.companion.errors import UnknownDevice
from engram_host.companion.overview.journal import BoardFigures, BoardJournal
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.line_quota import DAY_SECONDS
from engram_host.companion.store.boards.status import BoardDay, BoardStatusTable, ToldStatus
from engram_host.companion.store.boards.table import BoardQuery, BoardRow, BoardTable
from engram_host.sentences import Sentence, SentenceTable
from engram_host.time_zones import BoardZone

BoardState = Literal["connected", "away"]

DAYS = 30
MOST_DAYS = 366  # default and limit of the days with figures
_EVENTS = 20
LONG_SECONDS = 86400  # age of an undelivered message or of uncopied lines that is worth a warning
_CLOCK_SECONDS = 300
COPY_WARNINGS = SentenceTable("copy_warning")


@dataclass(frozen=True)
class BoardSummary(BoardRow):
    """A board in a list; `told` is its last report, None without any."""

    state: BoardState
    warnings: tuple[str, ...]
    told: ToldStatus | None


@dataclass(frozen=True)
class BoardPage:
    """A page of boards, and the total."""

    total: int
    boards: tuple[BoardSummary, ...]


@dataclass(frozen=True)
class BoardOverview:
    """One board: figures of its copy, reports by UTC day, and latest events, newest first."""

    board: BoardSummary
    figures: BoardFigures
    reports: tuple[BoardDay, ...]
    events: tuple[tuple[int, str], ...]


class BoardOverviews:
    """Reads lists and overviews of boards; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(
        self,
        *,
        boards: BoardTable,
        status: BoardStatusTable,
        notes: NoteFileTable,
        flash_percent: Callable[[], int] = lambda: 0,
    ):
        self._boards = boards
        self._status = status
        self.journal = BoardJournal(boards, notes)
        self._flash_percent = flash_percent

    async def list(self, query: BoardQuery, state: BoardState | Literal[""] = "") -> BoardPage:
        return await asyncio.to_thread(self._list, query, state)

    async def summary(self, name: str) -> BoardSummary:
        return await asyncio.to_thread(self._summary, name)

    async def zones(self, names: Iterable[str]) -> dict[str, BoardZone]:
        return await asyncio.to_thread(self._zones, [*names])

    async def overview(self, name: str, days: int = DAYS) -> BoardOverview:
        return await asyncio.to_thread(self._overview, name, days)

    async def reports(self, name: str, days: int) -> Sequence[BoardDay]:
        return await asyncio.to_thread(self._reports, name, days)

    def _list(self, query: BoardQuery, state: BoardState | Literal[""]) -> BoardPage:
        if state:
            since = int(time.time()) - HEARD_SECONDS
            query = replace(query, **{"heard_since" if state == "connected" else "silent_since": since})
        total, rows = self._boards.list_boards(query)
        return BoardPage(total, self._summaries(rows))

    def _summary(self, name: str) -> BoardSummary:
        row = self._boards.board_row(name)
        if row is None:
            raise UnknownDevice(name)
        return self._summaries([row])[0]

    def _zones(self, names: Sequence[str]) -> dict[str, BoardZone]:
        rows = (self._boards.board_row(name) for name in names)
        return {row.name: row.zone for row in rows if row}

    def _summaries(self, rows: Sequence[BoardRow]) -> tuple[BoardSummary, ...]:
        now = int(time.time())
        damaged = Counter[str]()
        for lines in self._boards.damaged():
            damaged[lines.device] += lines.count
        statuses = self._status.statuses_of([row.name for row in rows])
        return tuple(self._summarize(row, statuses.get(row.name), damaged[row.name], now) for row in rows)

    def _summarize(self, row: BoardRow, told: ToldStatus | None, damaged: int, now: int) -> BoardSummary:
        warnings = [*find_warnings(row, damaged, now)]
        if told:
            warnings += board_warnings(told.status, self._flash_percent())
        state = "connected" if now - row.heard <= HEARD_SECONDS else "away"
        return BoardSummary(**vars(row), state=state, warnings=tuple(warnings), told=told)

    def _overview(self, name: str, days: int) -> BoardOverview:
        board = self._summary(name)
        if board.told is None:
            board = replace(board, warnings=(*board.warnings, *board_warnings(None, 0)))
        figures = self.journal.figures(self._boards.device(name), days)
        events = tuple(self._boards.events(name, _EVENTS))
        return BoardOverview(board, figures, tuple(self._reports(name, days)), events)

    def _reports(self, name: str, days: int) -> Sequence[BoardDay]:
        self._boards.device(name)
        return self._status.board_days(name, int(time.time()) // DAY_SECONDS - days + 1)


def find_warnings(row: BoardRow, damaged: int, now: int) -> tuple[Sentence, ...]:
    """List a board's warnings; `damaged` counts bad lines of its copy."""
    found: list[Sentence] = []
    if damaged:
        found.append(COPY_WARNINGS.say("damaged", n=damaged))
    if row.waiting and now - row.waiting_since > LONG_SECONDS:
        found.append(COPY_WARNINGS.say("waiting", n=row.waiting))
    if row.missing and now - row.heard > LONG_SECONDS:
        found.append(COPY_WARNINGS.say("uncopied", n=row.missing))
    if row.heard > now + _CLOCK_SECONDS:
        found.append(COPY_WARNINGS.say("clock"))
    return tuple(found)
