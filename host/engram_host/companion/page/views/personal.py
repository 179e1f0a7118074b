"""A person's own page: memories, turns by day, and a search on the boards within reach.

Lists show cut texts with links to the whole ones.
"""

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from fastapi import Path, Query, Request, Response

from engram_host.companion.api.backend import Backend
from engram_host.companion.api.copies import DeviceName
from engram_host.companion.api.media import MediaId, media_response
from engram_host.companion.memories.exchanges import text_of
from engram_host.companion.page.formatting import count_pages, cut_html
from engram_host.companion.page.page import Page, PagePrincipal, Views

AT_ONCE = 25
TURNS_AT_ONCE = 40
SHOWN_BYTES = 900

WHOLE_BYTES = 40000

DAYS_SHOWN = 60

At = Annotated[int, Query(ge=1, le=1000)]


def add_personal_views(views: Views, page: Page, companion: Backend) -> None:
    personal = companion.personal

    def render(request: Request, template: str, **values: object) -> Response:
        return page.render(request, template, cut=cut_html, most=SHOWN_BYTES, **values)

    @views.personal("/me")
    async def home(
        request: Request, principal: PagePrincipal, find: Annotated[str, Query(max_length=500)] = ""
    ) -> Response:
        boards = await personal.boards(principal)
        found = await personal.search(principal, find.strip()) if find.strip() else None
        hits = found.hits if found else ()
        return render(
            request,
            "personal.html",
            boards=boards,
            find=find.strip(),
            hits=hits,
            zones={name: await personal.zone(name) for name in {hit.device for hit in hits} & {*boards}},
            why=found and found.why_empty,
            perceiving=await personal.boards_with_senses(principal, boards),
        )

    @views.personal("/me/boards/{device}")
    async def memories(request: Request, device: DeviceName, principal: PagePrincipal, at: At = 1) -> Response:
        found = await personal.memories(principal, device, (at - 1) * AT_ONCE, AT_ONCE)
        pages = count_pages(found.total, AT_ONCE)
        if at > pages:  # some were deleted since
            at = pages
            found = await personal.memories(principal, device, (at - 1) * AT_ONCE, AT_ONCE)
        zone = await personal.zone(device)
        return render(request, "personal_memories.html", device=device, found=found, at=at, pages=pages, zone=zone)

    @views.personal("/me/boards/{device}/days")
    async def days(
        request: Request,
        device: DeviceName,
        principal: PagePrincipal,
        day: Annotated[str, Query(max_length=10)] = "",
        at: At = 1,
    ) -> Response:
        found = await personal.days(principal, device, _day_of(day), (at - 1) * TURNS_AT_ONCE, TURNS_AT_ONCE)
        texts = (turn.line["text"] for turn in found.turns)
        return render(
            request,
            "personal_days.html",
            device=device,
            known_media=await personal.media_named_in(principal, device, texts),
            found=found,
            days=_around(found.days, found.day),
            at=at,
            pages=count_pages(found.total, TURNS_AT_ONCE),
        )

    @views.personal("/me/boards/{device}/entries/{entry}")
    async def entry(
        request: Request,
        device: DeviceName,
        entry: Annotated[str, Path(pattern=r"^[mt][0-9]{1,9}$")],
        principal: PagePrincipal,
    ) -> Response:
        found = await personal.entry(principal, device, entry)
        text = cut_html(text_of(found), WHOLE_BYTES)
        media = await personal.media_named_in(principal, device, [text])
        zone = await personal.zone(device)
        return render(
            request, "personal_entry.html", device=device, found=found, text=text, zone=zone, known_media=media
        )

    @views.personal("/me/boards/{device}/media/{media}")
    async def one_media(device: DeviceName, media: MediaId, principal: PagePrincipal) -> Response:
        return await media_response(companion.media, await personal.media(principal, device, media))


def _around(days: Sequence[tuple[date, int]], shown: date | None) -> Sequence[tuple[date, int]]:
    newer = sum(day > shown for day, _ in days) if shown else 0
    first = max(0, min(newer - DAYS_SHOWN // 2, len(days) - DAYS_SHOWN))
    return days[first : first + DAYS_SHOWN]


def _day_of(day: str) -> date | None:
    try:
        return date.fromisoformat(day)
    except ValueError:
        return None
