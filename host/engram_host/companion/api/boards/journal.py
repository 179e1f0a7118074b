"""Days of a board over HTTP: those with entries, and the turns, notes and memories of one."""

from dataclasses import asdict
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from engram.clock import day_name
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.overview.journal import MOST_MEMORIES, TURNS_AT_ONCE, BoardJournal, DayMark

_DAYS, _MOST_DAYS = 31, 366
_MOST_TURNS = 500
_MOST_OFFSET = 10_000_000
_LAST_LINE = 1 << 30

_EPOCH = date(1970, 1, 1)


class MarkShown(BaseModel):
    """A day, and how much it has."""

    day: str
    turns: int
    memories: int
    notes: int = Field(description="how many people have a note of it")


class DaysShown(BaseModel):
    """Days of a board that have something."""

    zone: int = Field(description="of the board's standard time, minutes east of Greenwich")
    rule: str = Field(description="of its time zone, as POSIX has it; empty without daylight saving")
    first: str = Field(description="the first day that has something; empty if none has")
    last: str
    days: list[MarkShown]


class TurnShown(BaseModel):
    """Something that was said."""

    id: str
    session: str
    role: str
    who: str
    at: int = Field(description="in Unix seconds")
    text: str
    is_command: bool


class DayMemoryShown(BaseModel):
    """A memory of a day."""

    id: str
    state: str
    content: str
    tags: list[str]
    source: str
    created: int


class NoteShown(BaseModel):
    """A note of the day."""

    name: str
    principal: str
    first: int = Field(description="the number of the first line here, from 1")
    lines: list[str]
    total: int = Field(description="lines of the note; 0 if there is none")


class DayShown(BaseModel):
    """A day of a board."""

    zone: int
    rule: str
    mark: MarkShown
    before: str = Field(description="the day before it that has something; empty if none has")
    after: str
    turns: list[TurnShown] = Field(description="those of a session together, sessions by their first turn")
    turns_total: int
    offset: int
    memories: list[DayMemoryShown] = Field(
        description=f"made on that day, and not of its note; {MOST_MEMORIES} at most"
    )
    note: NoteShown
    made: list[DayMemoryShown] = Field(description=f"distilled from notes of that day; {MOST_MEMORIES} at most")
    made_total: int
    principals: list[str] = Field(description="who has a note of that day")


def make_journal_router(journal: BoardJournal) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/boards/{device}/journal", responses=REFUSALS | NO_DEVICE)

    @router.get("", openapi_extra=requires(Role.OPERATOR))
    async def days(
        device: DeviceName,
        first: Annotated[date, Query(description="from this day on, in the board's zone")],
        days: Annotated[int, Query(ge=1, le=_MOST_DAYS, description="of so many days")] = _DAYS,
    ) -> DaysShown:
        """The days of a board that have something: turns, memories, notes."""
        begin = _number(first)
        found = await journal.days(device, begin, begin + days - 1)
        return DaysShown(
            zone=found.zone.standard,
            rule=found.zone.rule,
            first=_name(found.first),
            last=_name(found.last),
            days=[_mark(each) for each in found.marks],
        )

    @router.get("/{day}", openapi_extra=requires(Role.OPERATOR))
    async def day(
        device: DeviceName,
        day: Annotated[date, Path(description="a day in the board's zone")],
        principal: Annotated[str, Query(min_length=1, max_length=64, description="whose note")] = "owner",
        offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET, description="turns to leave out")] = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_TURNS, description="turns at most")] = TURNS_AT_ONCE,
        line: Annotated[int, Query(ge=1, le=_LAST_LINE, description="of the note, from this line on")] = 1,
    ) -> DayShown:
        """Turns, notes and memories of a day, and the memories made from its note."""
        found = await journal.day(device, _number(day), principal, offset, limit, line)
        named: dict[str, Any] = {"zone": found.zone.standard, "rule": found.zone.rule, "mark": _mark(found.mark)}
        named |= {"before": _name(found.before), "after": _name(found.after)}
        return DayShown(**asdict(found) | named)

    return router


def _number(day: date) -> int:
    return (day - _EPOCH).days


def _name(day: int | None) -> str:
    return "" if day is None else day_name(day)


def _mark(mark: DayMark) -> MarkShown:
    return MarkShown(day=day_name(mark.day), turns=mark.turns, memories=mark.memories, notes=mark.notes)
