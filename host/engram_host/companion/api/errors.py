"""Refusals of the HTTP API: their JSON, statuses, and the errors that cause them."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from engram.errors import EngramError, NotFound
from engram_host.companion.auth.identity import STRANGER, ApiCaller
from engram_host.companion.auth.middleware import MakeRefusal
from engram_host.companion.errors import (
    CompanionError,
    NoSuchFile,
    StoreUnavailable,
    TooManyWaiting,
    UnknownConversation,
    UnknownDevice,
    UnknownEntry,
    UnknownImport,
    UnknownMedia,
    UnknownSense,
)
from engram_host.companion.gateway.dialects import PREFIX, refuse_in_form_of

_MOST_PROBLEMS = 5

_RETRY_SECONDS = "15"

Responses = dict[int | str, dict[str, Any]]


class ErrorResponse(BaseModel):
    """A problem, in one sentence that says what to do."""

    problem: str


_SCHEMAS = "#/components/schemas/"


def responses(model: type[BaseModel], descriptions: dict[int | str, str]) -> Responses:
    """Describe statuses that share a schema by reference: FastAPI would build a slow validator for
    each."""
    content = {"application/json": {"schema": {"$ref": _SCHEMAS + model.__name__}}}
    return {status: {"content": content, "description": description} for status, description in descriptions.items()}


REFUSALS = responses(
    ErrorResponse,
    {
        400: "the request cannot be read",
        401: "a token is asked for",
        403: "the token, or the page that asks, may not do this",
        408: "the request took too long to arrive",
        413: "the request is too long",
        422: "something in the request is not as it should be",
        429: "the device's requests come too soon after one another",
        503: "the database cannot be used now",
    },
)

NO_DEVICE = responses(ErrorResponse, {404: "there is no such board"})
NO_FILE = responses(ErrorResponse, {404: "there is no such file in a folder that may be shown"})


class DescribedApi(FastAPI):
    """FastAPI with the schemas of refusals in its description."""

    def __init__(self, *, refused_as: Sequence[type[BaseModel]], **rest: Any):
        super().__init__(**rest)
        self._refused_as = refused_as

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        _, forms = models_json_schema(
            [(model, "serialization") for model in self._refused_as],
            ref_template=_SCHEMAS + "{model}",
        )
        described["components"]["schemas"] |= forms["$defs"]
        return described


def refuse(path: str, status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return the response to a refused request, in the form of the path's clients."""
    if path.startswith(PREFIX):
        return refuse_in_form_of(path, status, sentence, headers)
    return JSONResponse({"problem": sentence}, status, headers)


def handle_errors(app: FastAPI, refuse: MakeRefusal) -> None:
    """Turn errors of routes into refusals."""

    @app.exception_handler(UnknownDevice)
    @app.exception_handler(UnknownEntry)
    @app.exception_handler(UnknownConversation)
    @app.exception_handler(UnknownImport)
    @app.exception_handler(UnknownMedia)
    @app.exception_handler(UnknownSense)
    @app.exception_handler(NoSuchFile)
    @app.exception_handler(NotFound)
    async def not_found(request: Request, problem: Exception) -> Response:
        return refuse(request.scope, 404, str(problem), {})

    @app.exception_handler(TooManyWaiting)
    async def too_many(request: Request, problem: TooManyWaiting) -> Response:
        return refuse(request.scope, 429, str(problem), {"Retry-After": _RETRY_SECONDS})

    @app.exception_handler(StoreUnavailable)
    async def no_store(request: Request, problem: StoreUnavailable) -> Response:
        # The database's host or path is for the operator; boards use no operator route.
        caller: ApiCaller = getattr(request.state, "caller", STRANGER)
        sentence = problem.public if caller.device else str(problem)
        return refuse(request.scope, 503, sentence, {"Retry-After": _RETRY_SECONDS})

    @app.exception_handler(CompanionError)
    @app.exception_handler(EngramError)
    async def other(request: Request, problem: Exception) -> Response:
        return refuse(request.scope, 422, str(problem), {})

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
