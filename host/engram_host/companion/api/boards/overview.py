"""Boards over HTTP: lists with states and warnings, and one with daily figures."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.overview.service import DAYS, MOST_DAYS, BoardOverviews, BoardSummary
from engram_host.companion.store.page.types import BoardQuery, BoardSort
from engram_host.sentences import PLURAL, Sentence

_MOST_LISTED = 500
_MOST_OFFSET = 1000000


class WarningShown(BaseModel):
    """Something that is not as it should be."""

    kind: str = Field(description="such as waiting, flash or no_model")
    count: int = Field(description="of how many things; 0 where it is of none")
    sentence: str = Field(description="it, with what to do")


class BoardShown(BaseModel):
    """A board in a list."""

    name: str
    state: Literal["connected", "away"]
    heard: int = Field(description="when it last said something, in Unix seconds")
    records: int = Field(description="its log of memories is copied up to this seq")
    journal: int = Field(description="its log of turns is copied up to this seq")
    missing: int = Field(description="lines that are not copied yet")
    waiting: int = Field(description="messages that it has not answered yet")
    firmware: str = Field(description="its version as the board reported it last, empty if it has not")
    flash_percent: int | None = Field(description="how full its flash is")
    warnings: list[WarningShown]


class BoardsShown(BaseModel):
    """Some boards, and how many fit in all."""

    total: int
    boards: list[BoardShown]


class DayShown(BaseModel):
    """A day of a board, in its own zone."""

    day: int = Field(description="days since 1970")
    memories: int = Field(description="memories that were made on it")
    turns: int


class TagShown(BaseModel):
    """A tag of live memories."""

    tag: str
    memories: int


class OverviewShown(BoardShown):
    """A board, with what its copy has."""

    zone: int = Field(description="of its standard time, minutes east of Greenwich")
    rule: str = Field(description="of its time zone, as POSIX has it; empty without daylight saving")
    memories: dict[str, int] = Field(
        description="how many there are of each state: live, superseded, expired, archived"
    )
    turns: int
    days: list[DayShown]
    tags: list[TagShown] = Field(description="the most frequent ones")


def make_overview_router(overviews: BoardOverviews) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/boards", responses=REFUSALS)

    @router.get("", openapi_extra=requires(Role.OPERATOR))
    async def boards(
        find: Annotated[str, Query(max_length=64, description="only those with this in their names")] = "",
        sort: Annotated[BoardSort, Query(description="by what; with - before it the other way round")] = "name",
        state: Annotated[Literal["", "connected", "away"], Query(description="only those in this state")] = "",
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 50,
        offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET, description="after so many")] = 0,
    ) -> BoardsShown:
        """Boards that have been here, with their states and warnings."""
        found = await overviews.list(BoardQuery(find, sort, limit=limit, offset=offset), state)
        return BoardsShown(total=found.total, boards=[BoardShown(**_fields(each)) for each in found.boards])

    @router.get("/{device}", responses=NO_DEVICE, openapi_extra=requires(Role.OPERATOR))
    async def board(
        device: DeviceName,
        days: Annotated[int, Query(ge=1, le=MOST_DAYS, description="of how many days, today the last")] = DAYS,
    ) -> OverviewShown:
        """One board, with figures of the last days."""
        found = await overviews.overview(device, days)
        figures = found.figures
        return OverviewShown(
            **_fields(found.summary),
            zone=found.device.zone.standard,
            rule=found.device.zone.rule,
            memories=figures.states,
            turns=figures.turns,
            days=[DayShown(**vars(each)) for each in figures.days],
            tags=[TagShown(tag=tag, memories=count) for tag, count in figures.tags],
        )

    return router


def _fields(found: BoardSummary) -> dict[str, Any]:
    row, status = found.row, found.told.status if found.told else None
    return {
        "name": row.name,
        "state": found.state,
        "heard": row.heard,
        "records": row.records,
        "journal": row.journal,
        "missing": row.missing,
        "waiting": row.waiting,
        "firmware": status.firmware if status else "",
        "flash_percent": status.flash_percent if status else None,
        "warnings": [_shown_warning(each) for each in found.warnings],
    }


def _shown_warning(warning: Sentence) -> WarningShown:
    count = warning.values.get(PLURAL, 0)
    return WarningShown(kind=warning.kind, count=int(count), sentence=warning)
