"""Days of a board: a calendar, and a day with its sessions, notes and memories."""

import calendar
import itertools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from engram.clock import civil, day_name, day_number, days_from_civil
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.entries.scan import day_of
from engram_host.companion.media.service import MediaService
from engram_host.companion.memories.sessions import SessionBrowser
from engram_host.companion.overview.journal import (
    TURNS_AT_ONCE,
    BoardJournal,
    DayMark,
    DayMemory,
    Turn,
)
from engram_host.companion.page.fitting import cut_text, html_bytes, take_fitting
from engram_host.companion.page.media import BYTES as MEDIA_BYTES
from engram_host.companion.page.media import media_in
from engram_host.companion.page.page import Page, view
from engram_host.companion.store.media.table import StoredMedia

_CUT_TURN, _CUT_MEMORY, _CUT_LINE = 1500, 200, 400

_TURNS_BYTES, _WHOLE_BYTES, _NOTE_BYTES, _MEMORIES_BYTES = 24000, 30000, 9000, 6000

_ROW_BYTES = 250

_SEE_OTHER = 303
_MOST_OFFSET = 10_000_000
_LAST_LINE = 1 << 30
_LEVELS = (1, 5, 20, 80)
"""Turns and memories that make a day darker in the calendar."""

TurnId = Annotated[str, Query(pattern=r"^(t[0-9]{1,10})?$")]
Month = Annotated[str, Query(pattern=r"^(\d{4}-\d{2})?$")]


@dataclass(frozen=True)
class CalendarDay:
    """A day of a calendar, with the number 0 outside the month; its counts and shade."""

    number: int
    name: str
    mark: DayMark | None
    level: int


@dataclass(frozen=True)
class Session:
    """Consecutive turns of a session; `title` is "" if unknown."""

    name: str
    title: str
    turns: tuple[tuple[int, Turn, str], ...]
    """(index within the day, turn, shown text) of each."""


class DaysView:
    """Views of a board's days."""

    def __init__(self, page: Page, journal: BoardJournal, sessions: SessionBrowser, media: MediaService):
        self._page = page
        self._media = media
        self._journal = journal
        self._sessions = sessions

    async def month(self, request: Request, device: str, month: str) -> Response:
        year, number = await self._chosen(device, month)
        first = days_from_civil(year, number, 1)
        last = first + calendar.monthrange(year, number)[1] - 1
        found = await self._journal.days(device, first, last)
        return self._page.render(
            request,
            "days.html",
            page_key="boards",
            device=device,
            month=f"{year:04}-{number:02}",
            weeks=list(_weeks(year, number, found.marks)),
            marks=found.marks,
            before=_month_of(first - 1) if found.first is not None and found.first < first else "",
            after=_month_of(last + 1) if found.last is not None and found.last > last else "",
            is_empty=found.first is None,
        )

    async def of_turn(self, device: str, turn: str) -> Response:
        place = await self._journal.place_of_turn(device, turn)
        if place is None:
            raise HTTPException(404, f"{turn} is not in the copy of {device}, or was forgotten")
        day, offset = place
        query = f"?{urlencode({'offset': offset - offset % TURNS_AT_ONCE})}" if offset >= TURNS_AT_ONCE else ""
        return RedirectResponse(f"/boards/{device}/days/{day_name(day)}{query}#{turn}", _SEE_OTHER)

    async def day(
        self, request: Request, device: str, name: str, principal: str, offset: int, line: int, *, is_one: bool
    ) -> Response:
        """Show a day; with `is_one` a single turn with all of its text that fits."""
        limit = 1 if is_one else TURNS_AT_ONCE
        found = await self._journal.day(device, _parse_day(name), principal, offset, limit, line)
        titles = await self._sessions.titles(device, {turn.session for turn in found.turns})
        media = await self._media.named_in(device, (turn.text for turn in found.turns))
        sessions, shown = _sessions(found.turns, titles, offset, _WHOLE_BYTES // 5 if is_one else _CUT_TURN, media)
        note = take_fitting(
            (cut_text(each, _CUT_LINE) for each in found.note.lines), _NOTE_BYTES, lambda each: html_bytes(each) + 20
        )
        following = found.note.first + len(note)
        return self._page.render(
            request,
            "day.html",
            page_key="boards",
            device=device,
            day=found,
            name=name,
            month=name[:7],
            before="" if found.before is None else day_name(found.before),
            after="" if found.after is None else day_name(found.after),
            sessions=sessions,
            known_media=media,
            next_offset=offset + shown if offset + shown < found.turns_total else 0,
            offset=offset,
            page_size=TURNS_AT_ONCE,
            is_one=is_one,
            note=note,
            next_line=following if note and following <= found.note.total else 0,
            principal=principal,
            memories=_fitting_memories(found.memories),
            made=_fitting_memories(found.made),
            cut=lambda text: cut_text(text, _CUT_MEMORY),
        )

    async def _chosen(self, device: str, month: str) -> tuple[int, int]:
        """Return (year, month) to show; raises UnknownDevice, HTTPException."""
        if month:
            year, _, number = month.partition("-")
            _parse_day(f"{month}-01")
            return int(year), int(number)
        found = await self._journal.days(device, 0, 0)
        last = found.last
        if last is None:
            last = day_of(int(time.time()), found.zone)
        year, number, _ = civil(last)
        return year, number


def _parse_day(name: str) -> int:
    try:
        return day_number(name)
    except ValueError:
        raise HTTPException(422, f"there is no day {name}") from None


def _sessions(
    turns: Iterable[Turn], titles: Mapping[str, str], offset: int, most: int, media: Mapping[str, StoredMedia]
) -> tuple[list[Session], int]:
    """Group turns by session up to the size limit, and return their number."""

    def size(placed: tuple[int, Turn, str]) -> int:
        _, turn, text = placed
        return html_bytes(text) + html_bytes(turn.who) + _ROW_BYTES + MEDIA_BYTES * len(media_in(turn.text, media))

    fitting = take_fitting(
        [(offset + at, turn, cut_text(turn.text, most)) for at, turn in enumerate(turns)], _TURNS_BYTES, size
    )
    grouped = itertools.groupby(fitting, key=lambda each: each[1].session)
    return [Session(name, titles.get(name, ""), tuple(group)) for name, group in grouped], len(fitting)


def _fitting_memories(memories: Iterable[DayMemory]) -> list[DayMemory]:
    return take_fitting(
        memories, _MEMORIES_BYTES, lambda each: html_bytes(cut_text(each.content, _CUT_MEMORY)) + _ROW_BYTES
    )


def _weeks(year: int, month: int, marks: Iterable[DayMark]) -> Iterable[list[CalendarDay]]:
    by_day = {mark.day: mark for mark in marks}
    for week in calendar.Calendar().monthdayscalendar(year, month):
        days: list[CalendarDay] = []
        for number in week:
            mark = by_day.get(days_from_civil(year, month, number)) if number else None
            level = sum(mark.turns + mark.memories >= least for least in _LEVELS) if mark else 0
            days.append(CalendarDay(number, f"{year:04}-{month:02}-{number:02}", mark, level))
        yield days


def _month_of(day: int) -> str:
    return day_name(day)[:7]


def make_router(page: Page, journal: BoardJournal, sessions: SessionBrowser, media: MediaService) -> APIRouter:
    """Make the routes."""
    router = page.router()
    shown = DaysView(page, journal, sessions, media)

    @router.get("/boards/{device}/days", openapi_extra=view())
    async def days(request: Request, device: DeviceName, month: Month = "", turn: TurnId = "") -> Response:
        if turn:
            return await shown.of_turn(device, turn)
        return await shown.month(request, device, month)

    @router.get("/boards/{device}/days/{day}", openapi_extra=view())
    async def one_day(
        request: Request,
        device: DeviceName,
        day: Annotated[str, Path(pattern=r"^\d{4}-\d{2}-\d{2}$")],
        principal: Annotated[str, Query(min_length=1, max_length=64)] = "owner",
        offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET)] = 0,
        line: Annotated[int, Query(ge=1, le=_LAST_LINE)] = 1,
        one: bool = False,
    ) -> Response:
        return await shown.day(request, device, day, principal, offset, line, is_one=one)

    return router
