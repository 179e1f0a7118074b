"""A person's own page: memories, turns by day, and a search on the boards within reach.

Lists show cut texts with links to the whole ones.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from engram_host.companion.api.boards.media import MediaId, media_response
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.media.service import MediaService
from engram_host.companion.memories.recalled import text_of
from engram_host.companion.page.fitting import count_pages
from engram_host.companion.page.page import Page, personal_view
from engram_host.companion.page.views.memories import cut_html
from engram_host.companion.personal.service import PersonalMemory

AT_ONCE = 25
TURNS_AT_ONCE = 40
SHOWN_BYTES = 900

WHOLE_BYTES = 40000

DAYS_SHOWN = 60

_MOST_PAGES = 1000
_DAY_SECONDS = 86400


class PersonalView:
    """A person's views; the operator is redirected to the operator's page."""

    def __init__(self, page: Page, personal: PersonalMemory, media: MediaService):
        self._page = page
        self._media = media
        self._personal = personal

    async def home(self, request: Request, find: str) -> Response:
        if not (principal := self._principal(request)):
            return self._page.to_operator()
        boards = await self._personal.boards(principal)
        found = await self._personal.search(principal, find) if find else None
        hits = found.hits if found else ()
        zones = {name: await self._personal.zone(name) for name in {hit.device for hit in hits} & {*boards}}
        why = found and found.why_empty
        perceiving = await self._personal.boards_with_senses(principal, boards)
        more = {"zones": zones, "why": why, "perceiving": perceiving}
        return self._render(request, "personal.html", boards=boards, find=find, hits=hits, **more)

    async def memories(self, request: Request, device: str, at: int) -> Response:
        if not (principal := self._principal(request)):
            return self._page.to_operator()
        found = await self._personal.memories(principal, device, (at - 1) * AT_ONCE, AT_ONCE)
        pages = count_pages(found.total, AT_ONCE)
        if at > pages:  # some were deleted since
            at = pages
            found = await self._personal.memories(principal, device, (at - 1) * AT_ONCE, AT_ONCE)
        zone = await self._personal.zone(device)
        return self._render(
            request, "personal_memories.html", device=device, found=found, at=at, pages=pages, zone=zone
        )

    async def days(self, request: Request, device: str, day: str, at: int) -> Response:
        if not (principal := self._principal(request)):
            return self._page.to_operator()
        offset = (at - 1) * TURNS_AT_ONCE
        found = await self._personal.days(principal, device, _day_of(day), offset, TURNS_AT_ONCE)
        texts = (turn.line["text"] for turn in found.turns)
        return self._render(
            request,
            "personal_days.html",
            device=device,
            known_media=await self._personal.media_named_in(principal, device, texts),
            found=found,
            days=_around(found.days, found.day),
            at=at,
            pages=count_pages(found.total, TURNS_AT_ONCE),
        )

    async def entry(self, request: Request, device: str, entry: str) -> Response:
        if not (principal := self._principal(request)):
            return self._page.to_operator()
        found = await self._personal.entry(principal, device, entry)
        zone = await self._personal.zone(device)
        text = cut_html(text_of(found), WHOLE_BYTES)
        media = await self._personal.media_named_in(principal, device, [text])
        return self._render(
            request, "personal_entry.html", device=device, found=found, text=text, zone=zone, known_media=media
        )

    async def media(self, request: Request, device: str, media: str) -> Response:
        if not (principal := self._principal(request)):
            return self._page.to_operator()
        return await media_response(self._media, await self._personal.media(principal, device, media))

    def _principal(self, request: Request) -> str:
        return self._page.principal(request)

    def _render(self, request: Request, template: str, **values: object) -> Response:
        return self._page.render(request, template, page_key="mine", cut=cut_html, most=SHOWN_BYTES, **values)


def _around(days: Sequence[tuple[int, int]], shown: int) -> Sequence[tuple[int, int]]:
    newer = sum(day > shown for day, _ in days)
    first = max(0, min(newer - DAYS_SHOWN // 2, len(days) - DAYS_SHOWN))
    return days[first : first + DAYS_SHOWN]


def _day_of(day: str) -> int | None:
    try:
        return int(datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) // _DAY_SECONDS
    except ValueError:
        return None


def make_router(page: Page, personal: PersonalMemory, media: MediaService) -> APIRouter:
    """Make the routes."""
    router = page.router()
    shown = PersonalView(page, personal, media)

    @router.get("/me", openapi_extra=personal_view())
    async def home(request: Request, find: Annotated[str, Query(max_length=500)] = "") -> Response:
        return await shown.home(request, find.strip())

    @router.get("/me/boards/{device}", openapi_extra=personal_view())
    async def memories(
        request: Request, device: DeviceName, at: Annotated[int, Query(ge=1, le=_MOST_PAGES)] = 1
    ) -> Response:
        return await shown.memories(request, device, at)

    @router.get("/me/boards/{device}/days", openapi_extra=personal_view())
    async def days(
        request: Request,
        device: DeviceName,
        day: Annotated[str, Query(max_length=10)] = "",
        at: Annotated[int, Query(ge=1, le=_MOST_PAGES)] = 1,
    ) -> Response:
        return await shown.days(request, device, day, at)

    @router.get("/me/boards/{device}/entries/{entry}", openapi_extra=personal_view())
    async def entry(
        request: Request, device: DeviceName, entry: Annotated[str, Path(pattern=r"^[mt][0-9]{1,9}$")]
    ) -> Response:
        return await shown.entry(request, device, entry)

    @router.get("/me/boards/{device}/media/{media}", openapi_extra=personal_view())
    async def one_media(request: Request, device: DeviceName, media: MediaId) -> Response:
        return await shown.media(request, device, media)

    return router
