"""The HTTP API: what people, programs and boards ask the companion. It describes itself at /docs and /openapi.json."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any, Literal, Protocol

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from engram import log_line
from engram.errors import EngramError
from engram.link import messages
from engram_host import __version__
from engram_host.companion.api.docs_page import add_docs_route
from engram_host.companion.api.entries import add_entry_routes
from engram_host.companion.api.folders import add_folder_routes
from engram_host.companion.api.gateway import add_gateway_routes
from engram_host.companion.api.search import add_search_route
from engram_host.companion.auth.middleware import AuthMiddleware, HttpAccess, RequestCaller, Role, requires
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.errors import CompanionError, StoreUnavailable, UnknownDevice, UnknownEntry
from engram_host.companion.folders.service import FolderService
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.gateway.request import PREFIX, refusal
from engram_host.companion.metrics import Metrics
from engram_host.companion.replication.protocol import MessageDispatcher, Replication
from engram_host.companion.search_service import SearchService
from engram_host.companion.store import Store
from engram_host.companion.supervisor import State, Supervisor
from engram_host.companion.types import LOGS, Device, Span

DeviceName = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,32}$", description="a board's name")]
BINARY = "application/octet-stream"
METRICS = "text/plain; version=0.0.4; charset=utf-8"

_MOST_LINES = 1000


class ErrorResponse(BaseModel):
    """What went wrong, in one sentence that says what to do."""

    problem: str


class CopyShown(BaseModel):
    """The copy of one log of a board."""

    epoch: int = Field(description="tells a log from one that was reset")
    have: int = Field(description="all lines up to this seq are here")
    oldest: int = Field(description="the board keeps lines from this seq on")
    next: int = Field(description="the seq that the board's next line had, when it last said so")


class DeviceShown(BaseModel):
    """A board."""

    name: str
    heard: int = Field(description="when it last said something, in Unix seconds")
    logs: dict[str, CopyShown]


class DeviceEvent(BaseModel):
    """Something that happened to a board's copies."""

    at: int
    text: str


class LogLine(BaseModel):
    """A line of a log, as the board wrote it."""

    seq: int
    line: dict[str, Any]


class Task(BaseModel):
    """A background task of the companion."""

    name: str
    state: State = Field(description="restarting: it failed, and is started again")
    since: int = Field(description="when that state began, in Unix seconds")
    restarts: int = Field(description="since the companion started")
    error: str = Field(description="what it failed with last, empty if it never did")


class Health(BaseModel):
    """Whether all works; a device is told no more than the status and the version."""

    status: Literal["well", "degraded"]
    version: str
    problems: list[str] | None = None
    store: str | None = None
    mqtt: str | None = None
    meaning: str | None = None
    lines: int | None = Field(default=None, description="lines taken from boards since the start")
    tasks: list[Task] | None = None


class Stats(BaseModel):
    """Figures of the companion; null where there is nothing to be told."""

    up_seconds: float
    lines_taken: int = Field(description="lines of boards since the start")
    refused: int = Field(description="messages that were refused since the start")
    waiting_batches: int
    devices: int | None = None
    index_bytes: int = Field(description="memory of the search indexes, about")
    backlog_lines: int = Field(description="changes of lines that the embedder has still to look at")
    database_bytes: int | None = None
    folder_files: int = Field(description="of Markdown folders")
    folder_passages: int = Field(description="of these files, that searches go through")
    archived_records: int | None = Field(None, description="memories that boards have archived here")
    broker_connected: float | None = None


_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorResponse, "description": "the request cannot be read"},
    401: {"model": ErrorResponse, "description": "a token is asked for"},
    403: {"model": ErrorResponse, "description": "the token, or the page that asks, may not do this"},
    408: {"model": ErrorResponse, "description": "the request took too long to arrive"},
    413: {"model": ErrorResponse, "description": "the request is too long"},
    422: {"model": ErrorResponse, "description": "something in the request is not as it should be"},
    429: {"model": ErrorResponse, "description": "the device's requests come too soon after one another"},
    503: {"model": ErrorResponse, "description": "the database cannot be used now"},
}
_NO_DEVICE: dict[int | str, dict[str, Any]] = {404: {"model": ErrorResponse, "description": "there is no such board"}}

_NO_FILE: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorResponse, "description": "there is no such file in a folder that may be shown"}
}


class Companion(Protocol):
    """What the routes ask of a companion; CompanionApp is one."""

    store: Store
    access: HttpAccess
    metrics: Metrics
    supervisor: Supervisor
    replication: Replication
    dispatcher: MessageDispatcher
    search: SearchService
    embedding: EmbeddingService
    gateway: Gateway
    folders: FolderService

    @property
    def store_name(self) -> str:
        """Which database it is."""
        ...

    @property
    def mqtt_name(self) -> str:
        """Which broker it is, and whether it is reached."""
        ...

    def problems(self) -> list[str]:
        """What does not work now, a sentence each."""
        ...

    def gauges(self) -> dict[str, float]:
        """The figures that stand now, by the names in metrics.GAUGES."""
        ...


def make_app(companion: Companion) -> FastAPI:
    """The API of a running service, behind its guard."""
    app = FastAPI(
        title="Engram companion",
        version=__version__,
        description="Keeps a copy of what boards remember, and finds it again by words and by meaning.",
        responses=_REFUSALS,
        # FastAPI's own pages load their scripts from another site, into this one.
        docs_url=None,
        redoc_url=None,
    )
    _handle_errors(app)
    _add_health(app, companion)
    _add_figures(app, companion)
    _add_devices(app, companion)
    add_entry_routes(app, companion.store, _NO_DEVICE)
    _add_messages(app, companion)
    add_search_route(app, companion.search, _NO_DEVICE)
    add_gateway_routes(app, companion.gateway)
    app.add_middleware(AuthMiddleware, api=app, access=companion.access, refuse=_refuse)
    add_folder_routes(app, companion.folders, _NO_FILE)
    add_docs_route(app)
    return app


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(UnknownDevice)
    @app.exception_handler(UnknownEntry)
    async def no_device(request: Request, problem: Exception) -> Response:
        return _refuse(request.url.path, 404, str(problem))

    @app.exception_handler(StoreUnavailable)
    async def no_store(request: Request, problem: StoreUnavailable) -> Response:
        return _refuse(request.url.path, 503, str(problem), {"Retry-After": "15"})

    @app.exception_handler(CompanionError)
    @app.exception_handler(EngramError)
    async def other(request: Request, problem: Exception) -> Response:
        return _refuse(request.url.path, 422, str(problem))

    @app.exception_handler(HTTPException)
    async def no_request(request: Request, problem: HTTPException) -> Response:
        return _refuse(
            request.url.path, problem.status_code, f"{problem.detail}; see /docs.", dict(problem.headers or {})
        )

    @app.exception_handler(RequestValidationError)
    async def bad_request(request: Request, problem: RequestValidationError) -> Response:
        told = [f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}" for error in problem.errors()[:5]]
        return _refuse(request.url.path, 422, "; ".join(told) + "; see /docs.")


def _refuse(path: str, status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    """The answer to a request that is refused, in the form that clients of the path know."""
    if path.startswith(PREFIX):
        return refusal(status, text, headers, "rate_limit_exceeded" if status == 429 else None)
    return JSONResponse({"problem": text}, status, headers)


def _add_health(app: FastAPI, companion: Companion) -> None:
    @app.get("/v1/health", response_model_exclude_none=True, openapi_extra=requires(Role.DEVICE))
    async def health(caller: RequestCaller) -> Health:
        """Whether all works. The operator is told what does not, too: folders and the broker are named in that."""
        problems = companion.problems()
        status = "degraded" if problems else "well"
        if not companion.access.may_use_all(caller):
            return Health(status=status, version=__version__)
        return Health(
            status=status,
            version=__version__,
            problems=problems,
            store=companion.store_name,
            mqtt=companion.mqtt_name,
            meaning=companion.embedding.status_line(),
            lines=companion.replication.lines,
            tasks=[Task.model_validate(asdict(status)) for status in companion.supervisor.statuses()],
        )


def _add_figures(app: FastAPI, companion: Companion) -> None:
    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {METRICS: {}}, "description": "figures as Prometheus reads them"}},
        openapi_extra=requires(Role.OPERATOR),
    )
    async def metrics() -> Response:
        """What the companion does and how long it takes, for Prometheus; no board is named."""
        return Response(await asyncio.to_thread(companion.metrics.text), media_type=METRICS)

    @app.get("/v1/stats", openapi_extra=requires(Role.OPERATOR))
    async def stats() -> Stats:
        """How much there is: of boards, of lines, of memory and of disk."""
        figures = await asyncio.to_thread(companion.gauges)
        counts = {"lines_taken": companion.replication.lines, "refused": companion.replication.refused}
        return Stats.model_validate(counts | {name.removeprefix("engram_"): value for name, value in figures.items()})


def _add_devices(app: FastAPI, companion: Companion) -> None:
    @app.get("/v1/devices", openapi_extra=requires(Role.OPERATOR))
    async def devices() -> list[DeviceShown]:
        """All boards that have been here, by name."""
        return [_shown(device) for device in await asyncio.to_thread(companion.store.devices)]

    @app.get("/v1/devices/{device}", responses=_NO_DEVICE, openapi_extra=requires(Role.OPERATOR))
    async def one_device(device: DeviceName) -> DeviceShown:
        """One board."""
        return _shown(await asyncio.to_thread(companion.store.device, device))

    @app.get("/v1/devices/{device}/events", responses=_NO_DEVICE, openapi_extra=requires(Role.OPERATOR))
    async def events(device: DeviceName, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[DeviceEvent]:
        """What has happened to a board's copies, newest first."""
        await asyncio.to_thread(companion.store.device, device)
        found = await asyncio.to_thread(companion.store.events, device, limit)
        return [DeviceEvent(at=at, text=text) for at, text in found]

    @app.get("/v1/devices/{device}/lines", responses=_NO_DEVICE, openapi_extra=requires(Role.OPERATOR))
    async def lines(
        device: DeviceName,
        log: Annotated[Literal["records", "journal"], Query(description="which log")],
        after: Annotated[int, Query(ge=0, le=log_line.MAX_SEQ)] = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_LINES)] = 100,
    ) -> list[LogLine]:
        """The lines of a board's log after a seq, as the board wrote them."""
        return await asyncio.to_thread(_read_lines, companion, device, log, after, limit)

    @app.get("/v1/devices/{device}/archive", responses=_NO_DEVICE, openapi_extra=requires(Role.OPERATOR))
    async def archive(
        device: DeviceName,
        after: Annotated[int, Query(ge=0, le=log_line.MAX_SEQ)] = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_LINES)] = 100,
    ) -> list[LogLine]:
        """The memories that the board has archived here, as it wrote them, by the seq of the line."""
        await asyncio.to_thread(companion.store.device, device)
        found = await asyncio.to_thread(companion.store.archived, device, after, limit)
        return [LogLine(seq=seq, line=log_line.decode(line)) for seq, line in found]


def _read_lines(
    companion: Companion, name: str, log: Literal["records", "journal"], after: int, limit: int
) -> list[LogLine]:
    device = companion.store.device(name)
    found: list[LogLine] = []
    reading = companion.store.lines(Span(name, log, device.logs[log].epoch, after, log_line.MAX_SEQ))
    for seq, line in reading:
        found.append(LogLine(seq=seq, line=log_line.decode(line)))
        if len(found) == limit:
            break
    return found


def _add_messages(app: FastAPI, companion: Companion) -> None:
    @app.post(
        "/v1/devices/{device}/messages",
        response_class=Response,
        responses={
            200: {"content": {BINARY: {}}, "description": "the answers, one after the other; none to what came late"},
        },
        openapi_extra=requires(Role.OWN_DEVICE)
        | {"requestBody": {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}},
    )
    async def message(device: DeviceName, request: Request, caller: RequestCaller) -> Response:
        """A message of a board, as docs/reference/messages.md describes it."""
        if not caller.device:  # else the guard has taken its turn
            companion.access.check_rate(device)
        if request.headers.get("content-type", BINARY).split(";")[0].strip() != BINARY:
            return _refuse(request.url.path, 400, f"the content type must be {BINARY}.")
        data = bytearray()
        async for piece in request.stream():
            data += piece
            if len(data) > messages.MOST_BYTES:
                return _refuse(request.url.path, 413, f"a message has at most {messages.MOST_BYTES} bytes.")
        try:
            answers = await companion.dispatcher.answers(device, bytes(data))
        except messages.BadMessage as problem:
            return _refuse(request.url.path, 400, str(problem))
        return Response(b"".join(answers), media_type=BINARY)


def _shown(device: Device) -> DeviceShown:
    logs = {}
    for name in LOGS:
        state = device.logs.get(name)
        if state:
            logs[name] = CopyShown(epoch=state.epoch, have=device.have[name], oldest=state.oldest, next=state.next)
    return DeviceShown(name=device.name, heard=device.heard, logs=logs)
