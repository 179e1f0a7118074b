"""All routes of the page, and the refusals that a browser gets."""

from typing import Protocol
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException
from starlette.types import Scope

from engram_host.companion.auth.middleware import MakeRefusal, Role, requires
from engram_host.companion.board_settings.service import BoardSettingsService
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.imports.service import ImportService
from engram_host.companion.media.service import MediaService
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.overview.absence import AbsenceFinder
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.page import Page, wants_page
from engram_host.companion.page.senses.view import make_router as make_sense_router
from engram_host.companion.page.views import (
    board,
    boards,
    chat,
    days,
    health,
    imports,
    memories,
    memory,
    merge,
    people,
    personal,
    search,
    settings,
    sign_in,
)
from engram_host.companion.personal.service import PersonalMemory
from engram_host.companion.search_service import SearchService
from engram_host.companion.senses.service import ReadingService

_PROGRAMS = ("/v1/", "/gateway/", "/metrics", "/openapi.json")
_KEPT = "public, max-age=31536000, immutable"


class PageBackend(health.HealthBackend, Protocol):
    """Companion as the page needs it; implemented by CompanionApp."""

    overviews: BoardOverviews
    conversations: ConversationService
    memories: MemoryServices
    search: SearchService
    absences: AbsenceFinder
    imports: ImportService
    people: PeopleService
    board_settings: BoardSettingsService
    personal: PersonalMemory
    readings: ReadingService
    media: MediaService


def make_page_routers(page: Page, companion: PageBackend) -> list[APIRouter]:
    """Make the routes of all views."""
    return [
        boards.make_router(page, companion.overviews),
        board.make_router(page, companion.overviews, companion.bridges),
        chat.make_router(page, companion.overviews, companion.conversations, companion.memories, companion.media),
        memories.make_router(page, companion.overviews, companion.memories),
        memory.make_router(page, companion.overviews, companion.memories),
        merge.make_router(page, companion.overviews, companion.memories),
        imports.make_router(page, companion.imports, companion.overviews),
        days.make_router(page, companion.overviews.journal, companion.memories.sessions, companion.media),
        search.make_router(page, companion.search, companion.absences, companion.overviews),
        make_sense_router(page, companion.readings, companion.personal),
        settings.make_router(page, companion.overviews, companion.board_settings),
        people.make_router(page, companion.people),
        personal.make_router(page, companion.personal, companion.media),
        health.make_router(page, companion),
        sign_in.make_router(page),
        _make_static_router(page),
    ]


def _make_static_router(page: Page) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/static/{name}", openapi_extra=requires(Role.ANYBODY))
    async def static(name: str) -> Response:
        if name not in page.assets.files:
            raise HTTPException(404, "there is no such file")
        content, media = page.assets.files[name]
        return Response(
            content, media_type=media, headers={"Cache-Control": _KEPT, "X-Content-Type-Options": "nosniff"}
        )

    return router


def make_refusal(page: Page, otherwise: MakeRefusal) -> MakeRefusal:
    """Refuse browsers with a page or a redirect to the sign-in, programs by `otherwise`."""

    def refuse(scope: Scope, status: int, sentence: str, headers: dict[str, str]) -> Response:
        request = Request(scope)
        if not wants_page(request) or request.url.path.startswith(_PROGRAMS):
            return otherwise(scope, status, sentence, headers)
        if status == 401 and request.method == "GET":
            wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            to = "/signin" if wanted == "/" else f"/signin?next={quote(wanted[:500])}"
            return RedirectResponse(to, 303, {"Cache-Control": "no-store"})
        session = getattr(request.state, "session", None)
        if status == 403 and session and session.caller.principal and request.url.path == "/":
            return RedirectResponse("/me", 303, {"Cache-Control": "no-store"})
        answer = page.refuse(request, status, sentence)
        answer.headers.update({name: value for name, value in headers.items() if name != "WWW-Authenticate"})
        return answer

    return refuse
