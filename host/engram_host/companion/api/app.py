"""The HTTP API of the companion, described at /docs and /openapi.json: its routes and its refusals."""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import Scope

from engram.errors import EngramError, NotFound
from engram_host import __version__
from engram_host.companion.api.boards import add_board_routes
from engram_host.companion.api.chat import add_chat_routes
from engram_host.companion.api.copies import add_copy_routes
from engram_host.companion.api.gateway import add_gateway_routes
from engram_host.companion.api.health import add_health_routes
from engram_host.companion.api.imports import add_import_routes
from engram_host.companion.api.media import add_media_routes
from engram_host.companion.api.memories import add_memory_routes
from engram_host.companion.api.people import add_people_routes
from engram_host.companion.api.search import add_search_routes
from engram_host.companion.api.senses import add_sense_routes
from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.access import STRANGER, ApiCaller
from engram_host.companion.auth.middleware import AuthMiddleware, MakeRefusal
from engram_host.companion.errors import CompanionError, Missing, StoreUnavailable, TooManyWaiting
from engram_host.companion.gateway.dialects import PREFIX, refuse_in_form_of

_MOST_PROBLEMS = 5
_RETRY_SECONDS = "15"


class ErrorResponse(BaseModel):
    """A problem, in one sentence that says what to do."""

    problem: str


_STATUSES = {
    400: "the request cannot be read",
    401: "a token is asked for",
    403: "the token, or the page that asks, may not do this",
    404: "there is no such board, file or person, or nothing of that id",
    408: "the request took too long to arrive",
    413: "the request is too long",
    429: "the device's requests come too soon after one another, or too much is under way or waits for a board",
    503: "the database cannot be used now, or the companion is busy",
}
# The other statuses refer to its schema: FastAPI would build a slow validator for each.
_CONTENT = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorResponse.__name__}"}}}
REFUSALS: dict[int | str, dict[str, Any]] = {
    **{status: {"content": _CONTENT, "description": text} for status, text in _STATUSES.items()},
    422: {"model": ErrorResponse, "description": "something in the request is not as it should be"},
}


def make_app(
    companion: CompanionApp,
    more: Sequence[APIRouter] = (),
    refuse_otherwise: Callable[[MakeRefusal], MakeRefusal] = lambda refusal: refusal,
) -> FastAPI:
    """Make the API with its guard and `more` routes, which may replace its refusals."""
    app = FastAPI(
        title="Engram companion",
        version=__version__,
        description="Keeps a copy of what boards remember, and finds it again by words and by meaning.",
        responses=REFUSALS,
        # FastAPI's own pages load scripts from another site.
        docs_url=None,
        redoc_url=None,
    )
    refusal = refuse_otherwise(_refuse)
    _handle_errors(app, refusal)
    # Routes are tried in order: those of boards come first.
    add_copy_routes(app, companion)
    add_search_routes(app, companion)
    add_health_routes(app, companion)
    add_board_routes(app, companion.overviews, companion.board_settings)
    add_memory_routes(app, companion.memories)
    add_sense_routes(app, companion.readings)
    add_media_routes(app, companion.media)
    add_import_routes(app, companion.imports)
    add_chat_routes(app, companion.conversations)
    add_gateway_routes(app, companion.gateway)
    add_people_routes(app, companion.people)
    for router in more:
        # An included router would be one entry, and make each of its routes again: most of a start's time.
        app.router.routes.extend(router.routes)
    app.add_middleware(AuthMiddleware, api=app, access=companion.access, refuse=refusal)
    return app


def status_of(problem: Exception) -> int:
    if isinstance(problem, (NotFound, Missing)):
        return 404
    if isinstance(problem, TooManyWaiting):
        return 429
    return 503 if isinstance(problem, StoreUnavailable) else 422


def _refuse(scope: Scope, status: int, sentence: str, headers: dict[str, str]) -> Response:
    if scope["path"].startswith(PREFIX):
        return refuse_in_form_of(scope["path"], status, sentence, headers)
    return JSONResponse({"problem": sentence}, status, headers)


def _handle_errors(app: FastAPI, refuse: MakeRefusal) -> None:
    @app.exception_handler(CompanionError)
    @app.exception_handler(EngramError)
    async def refused(request: Request, problem: Exception) -> Response:
        status = status_of(problem)
        caller: ApiCaller = getattr(request.state, "caller", STRANGER)
        # The database's host or path is for the operator; boards use no operator route.
        sentence = problem.public if caller.device and isinstance(problem, StoreUnavailable) else str(problem)
        headers = {"Retry-After": _RETRY_SECONDS} if status in (429, 503) else {}
        return refuse(request.scope, status, sentence, headers)

    @app.exception_handler(HTTPException)
    async def no_request(request: Request, problem: HTTPException) -> Response:
        sentence = f"{problem.detail}; see /docs."
        return refuse(request.scope, problem.status_code, sentence, dict(problem.headers or {}))

    @app.exception_handler(RequestValidationError)
    async def bad_request(request: Request, problem: RequestValidationError) -> Response:
        problems = [
            f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}"
            for error in problem.errors()[:_MOST_PROBLEMS]
        ]
        return refuse(request.scope, 422, "; ".join(problems) + "; see /docs.", {})
