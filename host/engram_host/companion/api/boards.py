"""Boards over HTTP: lists with states and warnings, one with daily figures, its days, and its settings."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal

from fastapi import FastAPI, Path, Query, Request
from pydantic import BaseModel, Field

from engram_host.companion.api.copies import DeviceName
from engram_host.companion.board_settings import BoardSettings, BoardSettingsService
from engram_host.companion.overview.journal import TURNS_AT_ONCE, Day, Days
from engram_host.companion.overview.service import (
    DAYS,
    MOST_DAYS,
    BoardOverview,
    BoardOverviews,
    BoardPage,
    BoardSummary,
)
from engram_host.companion.store.boards.status import STATUS_DAYS_KEPT, BoardDay
from engram_host.companion.store.boards.table import BoardQuery, BoardSort
from engram_host.companion.types import Conversation


class SettingChange(BaseModel):
    """A setting or a secret, and its value."""

    name: str = Field(max_length=40)
    value: str = Field(max_length=4000, description="a text as it is, all else as JSON has it; empty for an empty text")


def add_board_routes(app: FastAPI, overviews: BoardOverviews, settings: BoardSettingsService) -> None:
    _add_journal_routes(app, overviews)
    _add_settings_routes(app, settings)

    @app.get("/v1/boards")
    async def boards(
        find: Annotated[str, Query(max_length=64, description="only those with this in their names")] = "",
        sort: Annotated[BoardSort, Query(description="by what; with - before it the other way round")] = "name",
        state: Annotated[Literal["", "connected", "away"], Query(description="only those in this state")] = "",
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        offset: Annotated[int, Query(ge=0, le=1_000_000, description="after so many")] = 0,
    ) -> BoardPage:
        """Boards that have been here, with their states, warnings and latest reports."""
        return await overviews.list(BoardQuery(find, sort, limit=limit, offset=offset), state)

    @app.get("/v1/boards/{device}")
    async def board(
        device: DeviceName,
        days: Annotated[int, Query(ge=1, le=MOST_DAYS, description="of how many days, today the last")] = DAYS,
    ) -> BoardOverview:
        """One board, with figures of its copy and its reports of the last days."""
        return await overviews.overview(device, days)

    @app.get("/v1/boards/{device}/status")
    async def status(device: DeviceName) -> BoardSummary:
        """A board's latest report, sent every ten minutes, with warnings."""
        return await overviews.summary(device)

    @app.get("/v1/boards/{device}/days")
    async def days(
        device: DeviceName,
        days: Annotated[int, Query(ge=1, le=STATUS_DAYS_KEPT, description="the latest so many, today included")] = 90,
    ) -> Sequence[BoardDay]:
        """A board's figures of each day in UTC, oldest first; days without a report are left out."""
        return await overviews.reports(device, days)


def _add_journal_routes(app: FastAPI, overviews: BoardOverviews) -> None:
    journal = overviews.journal

    @app.get("/v1/boards/{device}/journal")
    async def days(
        device: DeviceName,
        first: Annotated[date, Query(description="from this day on, in the board's zone")],
        days: Annotated[int, Query(ge=1, le=366, description="of so many days")] = 31,
    ) -> Days:
        """The days of a board that have something: turns, memories, notes."""
        return await journal.days(device, first, days)

    @app.get("/v1/boards/{device}/journal/{day}")
    async def day(
        device: DeviceName,
        day: Annotated[date, Path(description="a day in the board's zone")],
        principal: Annotated[str, Query(min_length=1, max_length=64, description="whose note")] = "owner",
        offset: Annotated[int, Query(ge=0, le=10_000_000, description="turns to leave out")] = 0,
        limit: Annotated[int, Query(ge=1, le=500, description="turns at most")] = TURNS_AT_ONCE,
        line: Annotated[int, Query(ge=1, le=1 << 30, description="of the note, from this line on")] = 1,
    ) -> Day:
        """Turns, notes and memories of a day, and the memories made from its note."""
        return await journal.day(device, day, principal, offset, limit, line)


def _add_settings_routes(app: FastAPI, settings: BoardSettingsService) -> None:
    @app.get("/v1/boards/{device}/settings")
    async def show(device: DeviceName) -> BoardSettings:
        """The settings that a board said are set, a secret as null, and the latest changes, newest first."""
        return await settings.find(device)

    @app.post("/v1/boards/{device}/settings")
    async def change(device: DeviceName, change: SettingChange) -> Conversation:
        """Ask a board to change a setting, after the firmware's own rules have been asked; it waits while the board is away."""
        return await settings.change(device, change.name, change.value)

    @app.post("/v1/boards/{device}/settings/read")
    async def read(request: Request, device: DeviceName) -> Conversation:
        """Ask a board to list its settings."""
        await request.body()  # unused, and refused if too long like any other body
        return await settings.read(device)
