"""Days of a board: a calendar, and a day with its sessions, notes and memories."""

import calendar
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from fastapi import Query, Request, Response
from starlette.exceptions import HTTPException

from engram_host.companion.api.copies import DeviceName
from engram_host.companion.app import CompanionApp
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.overview.journal import TURNS_AT_ONCE, DayMark, Turn
from engram_host.companion.page.formatting import MEDIA_BYTES, cut_text, html_bytes, media_in, parse_day, take_fitting
from engram_host.companion.page.page import Page, Views, redirect
from engram_host.companion.page.views.memory_list import ListedMemory, listed
from engram_host.companion.store.media import StoredMedia

_CUT_TURN, _CUT_WHOLE, _CUT_MEMORY, _CUT_LINE = 1500, 6000, 200, 400
_TURNS_BYTES, _NOTE_BYTES, _MEMORIES_BYTES = 24000, 9000, 6000
_ROW_BYTES = 250

_LEVELS = (1, 5, 20, 80)
"""Turns and memories that make a day darker in the calendar."""


@dataclass(frozen=True)
class CalendarDay:
    day: date | None
    mark: DayMark | None
    level: int


@dataclass(frozen=True)
class Session:
    name: str
    title: str
    turns: tuple[tuple[int, Turn, str], ...]
    """(index within the day, turn, shown text) of each."""


def add_day_views(views: Views, page: Page, companion: CompanionApp) -> None:
    journal = companion.overviews.journal

    @views.get("/boards/{device}/days")
    async def days(
        request: Request,
        device: DeviceName,
        month: Annotated[str, Query(pattern=r"^(\d{4}-\d{2})?$")] = "",
        turn: Annotated[str, Query(pattern=r"^(t[0-9]{1,10})?$")] = "",
    ) -> Response:
        if turn:
            return await day_of_turn(device, turn)
        first = parse_day(f"{month}-01") if month else await latest_month(device)
        last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
        found = await journal.days(device, first, last.day)
        return page.render(
            request,
            "days.html",
            device=device,
            month=_month(first),
            weeks=list(_weeks(first, found.marks)),
            marks=found.marks,
            before=_month(first - timedelta(days=1)) if found.first and found.first < first else "",
            after=_month(last + timedelta(days=1)) if found.last and found.last > last else "",
            is_empty=found.first is None,
        )

    async def latest_month(device: str) -> date:
        found = await journal.days(device, date.min, 0)
        return (found.last or datetime.now(UTC).date()).replace(day=1)

    async def day_of_turn(device: str, turn: str) -> Response:
        place = await journal.place_of_turn(device, turn)
        if place is None:
            raise HTTPException(404, f"{turn} is not in the copy of {device}, or was forgotten")
        day, offset = place
        query = f"?offset={offset - offset % TURNS_AT_ONCE}" if offset >= TURNS_AT_ONCE else ""
        return redirect(f"/boards/{device}/days/{day}{query}#{turn}")

    @views.get("/boards/{device}/days/{day}")
    async def one_day(
        request: Request,
        device: DeviceName,
        day: date,
        principal: Annotated[str, Query(min_length=1, max_length=64)] = "owner",
        offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
        line: Annotated[int, Query(ge=1, le=1 << 30)] = 1,
        one: bool = False,
    ) -> Response:
        """Show a day; with `one` a single turn with all of its text that fits."""
        found = await journal.day(device, day, principal, offset, 1 if one else TURNS_AT_ONCE, line)
        titles = await companion.memories.sessions.titles(device, {turn.session for turn in found.turns})
        media = await companion.media.named_in(device, (turn.text for turn in found.turns))
        turns = _fitting_turns(found.turns, offset, _CUT_WHOLE if one else _CUT_TURN, media)
        lines = (cut_text(each, _CUT_LINE) for each in found.note.lines)
        note = take_fitting(lines, _NOTE_BYTES, lambda each: html_bytes(each) + 20)
        following = found.note.first + len(note)
        next_offset = offset + len(turns)
        return page.render(
            request,
            "day.html",
            device=device,
            day=found,
            name=day.isoformat(),
            month=_month(day),
            sessions=_by_session(turns, titles),
            known_media=media,
            next_offset=next_offset if next_offset < found.turns_total else 0,
            offset=offset,
            page_size=TURNS_AT_ONCE,
            is_one=one,
            note=note,
            next_line=following if note and following <= found.note.total else 0,
            principal=principal,
            memories=_fitting_memories(found.memories),
            made=_fitting_memories(found.made),
            cut=lambda text: cut_text(text, _CUT_MEMORY),
        )


def _month(day: date) -> str:
    return day.isoformat()[:7]


def _fitting_turns(
    turns: Iterable[Turn], offset: int, most: int, media: Mapping[str, StoredMedia]
) -> list[tuple[int, Turn, str]]:
    def size(placed: tuple[int, Turn, str]) -> int:
        _, turn, text = placed
        return html_bytes(text) + html_bytes(turn.who) + _ROW_BYTES + MEDIA_BYTES * len(media_in(turn.text, media))

    placed = ((at, turn, cut_text(turn.text, most)) for at, turn in enumerate(turns, offset))
    return take_fitting(placed, _TURNS_BYTES, size)


def _by_session(turns: Iterable[tuple[int, Turn, str]], titles: Mapping[str, str]) -> list[Session]:
    grouped = itertools.groupby(turns, key=lambda each: each[1].session)
    return [Session(name, titles.get(name, ""), tuple(group)) for name, group in grouped]


def _fitting_memories(entries: Iterable[ReadEntry]) -> list[ListedMemory]:
    memories = (listed(each.id, each.state, each.line) for each in entries)
    return take_fitting(
        memories, _MEMORIES_BYTES, lambda each: html_bytes(cut_text(each.text, _CUT_MEMORY)) + _ROW_BYTES
    )


def _weeks(first: date, marks: Iterable[DayMark]) -> Iterator[list[CalendarDay]]:
    by_day = {mark.day: mark for mark in marks}
    for week in calendar.Calendar().monthdayscalendar(first.year, first.month):
        days: list[CalendarDay] = []
        for number in week:
            day = first.replace(day=number) if number else None
            mark = by_day.get(day) if day else None
            level = sum(mark.turns + mark.memories >= least for least in _LEVELS) if mark else 0
            days.append(CalendarDay(day, mark, level))
        yield days
