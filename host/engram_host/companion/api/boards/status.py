"""Status of boards over HTTP: latest report, advice, and daily figures."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from engram_host.companion.alerts.board_warnings import board_warnings
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.status_table import STATUS_DAYS_KEPT
from engram_host.companion.store.line_quota import DAY_SECONDS


class BoardFigures(BaseModel):
    """A board's report on itself; unreported values are 0 or empty, sizes are bytes."""

    seconds: int = Field(description="since its start, when it told this")
    firmware: str = Field(description="its version")
    mode: str = Field(description="full or lightweight")
    reset: str = Field(description="why it started last: power, reset, watchdog, sleep or soft")
    flash: int = Field(description="used of its file system")
    flash_size: int
    flash_percent: int | None
    records_bytes: int = Field(description="of the log of memories")
    records_cap: int = Field(description="beyond which memories are evicted")
    memories: int
    kept_turns: int = Field(description="turns on its flash")
    heap: int = Field(description="free")
    heap_size: int
    model: str = Field(description="its name; empty without one")
    model_problem: str = Field(description="why the latest request failed; empty if it did not")
    telegram: str = Field(description="off, on, away or stopped")
    telegram_problem: str
    turns: int = Field(description="answered since its start, as all that follows")
    failed: int = Field(description="turns")
    calls: int = Field(description="requests to the model")
    tokens: int = Field(description="of these requests, as far as the model's service counts them")
    searches: int
    searches_empty: int = Field(description="searches that found nothing")
    errors: int = Field(description="in its log")
    pins: dict[str, str | int | None] = Field(description="values of its pins by name; null where one cannot be read")


class BoardStatusShown(BaseModel):
    """Board status."""

    name: str
    heard: int = Field(description="when it last connected or said that it is there, in Unix seconds")
    told: int = Field(description="when it told the figures, in Unix seconds; 0 if it has told none")
    figures: BoardFigures | None
    warnings: list[str] = Field(description="what somebody should do about it, in sentences")


class BoardDayShown(BaseModel):
    """A board on a day: the day's counts, and its last reported sizes and totals."""

    day: str = Field(description="in UTC, such as 2026-01-31")
    flash: int
    flash_most: int
    flash_size: int
    records_bytes: int
    records_most: int
    memories: int
    kept_turns: int
    turns: int
    failed: int
    calls: int
    tokens: int
    searches: int
    searches_empty: int
    errors: int


def make_board_router(store: CompanionStore, flash_percent: Callable[[], int]) -> APIRouter:
    """Make the routes; flash_percent() is the limit of a nearly full flash."""
    router = APIRouter(prefix="/v1/boards", responses=REFUSALS)
    rules: dict[str, Any] = {"responses": NO_DEVICE, "openapi_extra": requires(Role.OPERATOR)}

    @router.get("/{device}/status", **rules)
    async def status(device: DeviceName) -> BoardStatusShown:
        """A board's latest report, sent every ten minutes, with advice."""
        return await asyncio.to_thread(_shown, store, device, flash_percent())

    @router.get("/{device}/days", **rules)
    async def days(
        device: DeviceName,
        days: Annotated[int, Query(ge=1, le=STATUS_DAYS_KEPT, description="the latest so many, today included")] = 90,
    ) -> list[BoardDayShown]:
        """A board's figures of each day, oldest first; days without a report are left out."""
        since = int(time.time()) // DAY_SECONDS - days + 1
        return await asyncio.to_thread(_days, store, device, since)

    return router


def _shown(store: CompanionStore, device: str, flash_percent: int) -> BoardStatusShown:
    known = store.device(device)
    told = store.board_status(device)
    status = told.status if told else None
    figures = None
    if status:
        more = {"flash_percent": status.flash_percent, "pins": status.pin_values}
        figures = BoardFigures.model_validate(asdict(status) | more)
    warnings: list[str] = [*board_warnings(status, flash_percent)]
    return BoardStatusShown(
        name=known.name, heard=known.heard, told=told.at if told else 0, figures=figures, warnings=warnings
    )


def _days(store: CompanionStore, device: str, since: int) -> list[BoardDayShown]:
    store.device(device)
    return [
        BoardDayShown.model_validate(asdict(day) | {"day": _date(day.day)}) for day in store.board_days(device, since)
    ]


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY_SECONDS, UTC).strftime("%Y-%m-%d")
