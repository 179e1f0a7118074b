"""All routes of the page, and the refusals that a browser gets."""

from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException
from starlette.types import Scope

from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.access import Role, requires
from engram_host.companion.auth.middleware import MakeRefusal
from engram_host.companion.page.page import STATIC, Page, wants_page
from engram_host.companion.page.views.boards import add_board_views
from engram_host.companion.page.views.chat import add_chat_views
from engram_host.companion.page.views.days import add_day_views
from engram_host.companion.page.views.health import add_health_views
from engram_host.companion.page.views.imports import add_import_views
from engram_host.companion.page.views.memories import add_memory_views
from engram_host.companion.page.views.memory_list import add_memory_list
from engram_host.companion.page.views.people import add_people_views
from engram_host.companion.page.views.search import add_search_views
from engram_host.companion.page.views.senses import add_sense_views
from engram_host.companion.page.views.settings import add_settings_views
from engram_host.companion.page.views.sign_in import add_sign_in_views

_PROGRAMS = ("/v1/", "/gateway/", "/metrics", "/openapi.json")
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


def make_page_routers(page: Page, companion: CompanionApp) -> list[APIRouter]:
    views = page.router()
    add_board_views(views, page, companion)
    add_chat_views(views, page, companion)
    add_memory_list(views, page, companion)
    add_memory_views(views, page, companion)
    add_import_views(views, page, companion)
    add_day_views(views, page, companion)
    add_search_views(views, page, companion)
    add_sense_views(views, page, companion.readings)
    add_settings_views(views, page, companion)
    add_people_views(views, page, companion.people)
    add_health_views(views, page, companion)
    add_sign_in_views(views, page)
    static = APIRouter(include_in_schema=False)

    @static.get(STATIC + "{name}", openapi_extra=requires(Role.ANYBODY))
    async def file(name: str) -> Response:
        if name not in page.assets.files:
            raise HTTPException(404, "there is no such file")
        content, media = page.assets.files[name]
        return Response(content, media_type=media, headers=_KEPT)

    return [views, static]


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
        answer = page.refuse(request, status, sentence)
        answer.headers.update({name: value for name, value in headers.items() if name != "WWW-Authenticate"})
        return answer

    return refuse
