"""One person's view over HTTP, for the operator: boards, memories, turns by day, and a search.

People have a page of their own, see docs/design/page.md.
"""

import asyncio
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from engram.clock import day_name, day_number
from engram_host.companion.api.boards.senses import (
    SenseName,
    SenseShown,
    SeriesShown,
    Since,
    Until,
    show_sense,
    show_series,
    span,
)
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.entries import EntryShown
from engram_host.companion.api.errors import REFUSALS, ErrorResponse, responses
from engram_host.companion.api.search import SearchAnswer, show_answer
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.memories.turns import MOST_DAYS, MOST_TURNS
from engram_host.companion.personal.service import HITS, PersonalMemory
from engram_host.companion.search.request import MOST_QUERY
from engram_host.companion.senses.service import MOST_POINTS, POINTS, Level

MOST_AT_ONCE = 2

_MOST_LISTED = 1000
_MOST_OFFSET = 1_000_000
_LONGEST = 200

# A name, or an id such as @ann/home:example.org, may have a slash: the routes take it as a path.
Who = Annotated[str, Path(max_length=_LONGEST, description="an id such as telegram:12345, a principal, or a name")]

_RULES: dict[str, Any] = {
    "responses": responses(ErrorResponse, {404: "nobody is called so, or they reach no such board"}),
    "openapi_extra": requires(Role.OPERATOR),
}


class BoardsShown(BaseModel):
    """The boards that a person reaches through bridges."""

    principal: str = Field(description="what memories know them by")
    boards: list[str]


class PersonalMemories(BaseModel):
    """Some memories that a person sees, live or archived."""

    total: int = Field(description="how many there are in all")
    entries: list[EntryShown]


class DayShown(BaseModel):
    """A day, and how much was said on it."""

    day: str
    turns: int


class PersonalDays(BaseModel):
    """Turns with a person, without commands."""

    zone: int = Field(description="of the board's standard time, minutes east of Greenwich")
    rule: str = Field(description="of its time zone, as POSIX has it; empty without daylight saving")
    days: list[DayShown] = Field(description=f"days on which something was said, the newest {MOST_DAYS} at most")
    day: str = Field(description="the day of the turns; empty if nothing was ever said")
    total: int = Field(description="how many turns the day has")
    turns: list[EntryShown] = Field(
        description=f"oldest first, the newest {MOST_TURNS} of the day after `offset` at most"
    )


def make_personal_router(people: PeopleService, personal: PersonalMemory) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/people/{who:path}", responses=REFUSALS)
    room = asyncio.Semaphore(MOST_AT_ONCE)

    @router.get("/boards", **_RULES)
    async def boards(who: Who) -> BoardsShown:
        """The boards that a person reaches."""
        principal = await _principal(people, who)
        return BoardsShown(principal=principal, boards=await personal.boards(principal))

    @router.get("/boards/{device}/memories", **_RULES)
    async def memories(
        who: Who,
        device: DeviceName,
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 50,
        offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET)] = 0,
    ) -> PersonalMemories:
        """The memories of a board that a person sees: their own and those of all, the one that changed last first."""
        principal = await _principal(people, who)
        async with room:
            found = await personal.memories(principal, device, offset, limit)
        return PersonalMemories(total=found.total, entries=[_shown(entry) for entry in found.entries])

    @router.get("/boards/{device}/days", **_RULES)
    async def days(
        who: Who,
        device: DeviceName,
        day: Annotated[date | None, Query(description="in the board's zone; without it, the latest one")] = None,
        offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET, description="newest turns of the day to pass over")] = 0,
    ) -> PersonalDays:
        """Turns with a person on a board, by day."""
        wanted = day_number(day.isoformat()) if day else None
        found = await personal.days(await _principal(people, who), device, wanted, offset)
        return PersonalDays(
            zone=found.zone.standard,
            rule=found.zone.rule,
            days=[DayShown(day=day_name(number), turns=turns) for number, turns in found.days],
            day=day_name(found.day) if found.days or day else "",
            total=found.total,
            turns=[_shown(turn) for turn in found.turns],
        )

    @router.get("/boards/{device}/senses", **_RULES)
    async def senses(who: Who, device: DeviceName) -> list[SenseShown]:
        """The senses of a board that a person sees: those that its settings share, for the owner all."""
        return [show_sense(each) for each in await personal.senses(await _principal(people, who), device)]

    @router.get("/boards/{device}/senses/{sense:path}/readings", **_RULES)
    async def readings(
        who: Who,
        device: DeviceName,
        sense: SenseName,
        since: Since = 0,
        until: Until = 0,
        level: Level | None = None,
        points: Annotated[int, Query(ge=1, le=MOST_POINTS, description="maximum number of points")] = POINTS,
    ) -> SeriesShown:
        """Readings of a sense that a person sees, without events."""
        begin, end = span(since, until)
        found = await personal.series(await _principal(people, who), device, sense, begin, end, level, points)
        return show_series(found)

    @router.get("/search", **_RULES)
    async def search(
        who: Who, query: Annotated[str, Query(min_length=1, max_length=MOST_QUERY, pattern=r"\S")]
    ) -> SearchAnswer:
        """Hits of a search that a person may see, on the boards within reach."""
        principal = await _principal(people, who)
        found = await personal.search(principal, query)
        if found is None:
            raise HTTPException(404, f"{principal} reaches no board: no bridge of their networks leads to one")
        return show_answer(found, HITS)

    return router


async def _principal(people: PeopleService, who: str) -> str:
    return (await people.find_for_page(who)).principal


def _shown(entry: object) -> EntryShown:
    return EntryShown.model_validate(entry, from_attributes=True)
