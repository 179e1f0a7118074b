"""Boards over HTTP: lists, events and lines of their copies; and POST .../messages for boards
themselves.
"""

import asyncio
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from engram import log_line
from engram.link import messages
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS, refuse
from engram_host.companion.auth.middleware import HttpAccess, RequestCaller, Role, requires
from engram_host.companion.replication.protocol import MessageDispatcher
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.status import BoardStatus, ToldStatus
from engram_host.companion.store.replica import ReplicaReader
from engram_host.companion.store.row_types import fields_of
from engram_host.companion.types import DEVICE_NAME, LOGS, Device, LogName, SeqRange

_MOST_LINES = 1000

DeviceName = Annotated[str, Path(pattern=f"^{DEVICE_NAME}$", description="a board's name")]
After = Annotated[int, Query(ge=0, le=log_line.MAX_SEQ)]
Limit = Annotated[int, Query(ge=1, le=_MOST_LINES)]


class CopyShown(BaseModel):
    """The copy of one log of a board."""

    epoch: int = Field(description="changes when the log is reset")
    have: int = Field(description="all lines up to this seq are here")
    oldest: int = Field(description="the board keeps lines from this seq on")
    next: int = Field(description="the seq that the board's next line had, when it last said so")


class DeviceShown(BaseModel):
    """A board."""

    name: str
    heard: int = Field(description="when it last said something, in Unix seconds")
    logs: dict[str, CopyShown]
    firmware: str = Field(description="its version; empty if the board does not tell it")
    flash_percent: int | None = Field(description="how full its flash is; null if the board does not tell it")
    problem: str = Field(description="what its model, or Telegram, failed with last; empty if neither did")


class DeviceEvent(BaseModel):
    """Something that happened to a board's copies."""

    at: int
    text: str


class LogLine(BaseModel):
    """A line of a log, as the board wrote it."""

    seq: int
    line: dict[str, Any]


def make_device_router(store: CompanionStore) -> APIRouter:
    """Make the routes of boards and of their copies' lines."""
    router = APIRouter(prefix="/v1/devices", responses=REFUSALS)
    rules: dict[str, Any] = {"responses": NO_DEVICE, "openapi_extra": requires(Role.OPERATOR)}

    @router.get("", openapi_extra=requires(Role.OPERATOR))
    async def devices(
        request: Request,
        response: Response,
        after: Annotated[str, Query(max_length=64, description="the name to go on after")] = "",
        limit: Limit = 100,
    ) -> list[DeviceShown]:
        """Boards that have been here, by name. The header Link names the next page, if there is one."""
        found = await asyncio.to_thread(store.devices_after, after, limit + 1)
        if len(found) > limit:
            following = urlencode({"after": found[limit - 1].name, "limit": limit})
            response.headers["Link"] = f'<{request.url.path}?{following}>; rel="next"'
        told = await asyncio.to_thread(store.board_statuses, found[0].name, found[-1].name) if found else {}
        return [_shown(device, told.get(device.name)) for device in found[:limit]]

    @router.get("/{device}", **rules)
    async def one_device(device: DeviceName) -> DeviceShown:
        """One board."""
        found = await asyncio.to_thread(store.device, device)
        return _shown(found, await asyncio.to_thread(store.board_status, device))

    @router.get("/{device}/events", **rules)
    async def events(device: DeviceName, limit: Limit = 100) -> list[DeviceEvent]:
        """Events of a board's copies, newest first."""
        await asyncio.to_thread(store.device, device)
        found = await asyncio.to_thread(store.events, device, limit)
        return [DeviceEvent(at=at, text=text) for at, text in found]

    @router.get("/{device}/lines", **rules)
    async def lines(
        device: DeviceName,
        log: Annotated[Literal["records", "journal"], Query(description="which log")],
        after: After = 0,
        limit: Limit = 100,
    ) -> list[LogLine]:
        """The lines of a board's log after a seq, as the board wrote them."""
        return await asyncio.to_thread(_read_lines, store, device, log, after, limit)

    @router.get("/{device}/archive", **rules)
    async def archive(device: DeviceName, after: After = 0, limit: Limit = 100) -> list[LogLine]:
        """The memories that the board has archived here, as it wrote them, by the seq of the line."""
        await asyncio.to_thread(store.device, device)
        found = await asyncio.to_thread(store.archived, device, after, limit)
        return [LogLine(seq=seq, line=fields) for seq, line in found if (fields := fields_of(line))]

    return router


def _read_lines(store: ReplicaReader, name: str, log: LogName, after: int, limit: int) -> list[LogLine]:
    device = store.device(name)
    found: list[LogLine] = []
    for seq, line in store.lines(SeqRange(name, log, device.logs[log].epoch, after, log_line.MAX_SEQ)):
        if fields := fields_of(line):
            found.append(LogLine(seq=seq, line=fields))
        if len(found) == limit:
            break
    return found


def _shown(device: Device, told: ToldStatus | None) -> DeviceShown:
    logs = {}
    for name in LOGS:
        state = device.logs.get(name)
        if state:
            logs[name] = CopyShown(epoch=state.epoch, have=device.have[name], oldest=state.oldest, next=state.next)
    status = told.status if told else BoardStatus()
    figures = {"flash_percent": status.flash_percent, "problem": status.problem}
    return DeviceShown.model_validate(vars(status) | vars(device) | {"logs": logs} | figures)


# --- messages from boards


BINARY = "application/octet-stream"

_BODY = {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}


def make_message_router(dispatcher: MessageDispatcher, access: HttpAccess) -> APIRouter:
    """Make the route of boards' own messages."""
    router = APIRouter(responses=REFUSALS)

    @router.post(
        "/v1/devices/{device}/messages",
        response_class=Response,
        responses={
            200: {"content": {BINARY: {}}, "description": "the answers, one after the other; none to what came late"},
        },
        openapi_extra=requires(Role.OWN_DEVICE) | {"requestBody": _BODY},
    )
    async def message(device: DeviceName, request: Request, caller: RequestCaller) -> Response:
        """A message of a board, as docs/reference/messages.md describes it."""
        if not caller.device:  # else the guard has counted it
            access.check_rate(device)
        if request.headers.get("content-type", BINARY).split(";")[0].strip() != BINARY:
            return refuse(request.url.path, 400, f"the content type must be {BINARY}.")
        # No model: a message is in the project's own format, and a body parameter would be read whole before
        # its length is known. This stops at the first chunk beyond the limit.
        data = bytearray()
        async for piece in request.stream():
            data += piece
            if len(data) > messages.MOST_BYTES:
                return refuse(request.url.path, 413, f"a message has at most {messages.MOST_BYTES} bytes.")
        try:
            answers = await dispatcher.answers(device, bytes(data))
        except messages.BadMessage as problem:
            return refuse(request.url.path, 400, str(problem))
        return Response(b"".join(answers), media_type=BINARY)

    return router
