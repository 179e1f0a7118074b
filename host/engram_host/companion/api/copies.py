"""Copies of boards over HTTP: boards, lines and entries, an export; and POST .../messages for boards themselves."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from engram import log_line
from engram.link import messages
from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.access import RequestCaller, Role, requires
from engram_host.companion.entries.reader import EntryPage, LogCopy, ReadEntry, export_lines
from engram_host.companion.memories.browse import EntryHistory
from engram_host.companion.store.boards.table import MOST_NUMBER, BoardTable
from engram_host.companion.store.rows import fields_of
from engram_host.companion.types import DEVICE_NAME, Device, LogName, SeqRange

BINARY = "application/octet-stream"
JSON_LINES = "application/x-ndjson"

MOST_AT_ONCE = 2
"""Copies that are read concurrently; each read scans a whole log."""

MOST_EXPORTS = 2
"""Concurrent exports, apart from other reads: a slow client blocks only these."""

ENTRY_ID = r"^[mt][0-9]{1,10}$"
DeviceName = Annotated[str, Path(pattern=f"^{DEVICE_NAME}$", description="a board's name")]
Time = Annotated[int, Query(ge=0, le=1 << 40, description="Unix seconds")]

_AGAIN_SECONDS = 10
_PIECE_LINES = 200

_After = Annotated[int, Query(ge=0, le=log_line.MAX_SEQ)]
_Limit = Annotated[int, Query(ge=1, le=1000)]
_State = Literal["live", "superseded", "expired", "archived", "all"]
_BODY = {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}


@dataclass(frozen=True)
class LogLine:
    """A line of a log, as the board wrote it."""

    seq: int
    line: dict[str, Any]


@dataclass(frozen=True)
class AsideLine(LogLine):
    """A line that was set aside at a Unix time: no longer part of the copy, and kept."""

    number: int
    at: int
    why: str
    log: LogName
    epoch: int


def add_copy_routes(app: FastAPI, companion: CompanionApp) -> None:
    boards, room = companion.boards, asyncio.Semaphore(MOST_AT_ONCE)
    _add_line_routes(app, boards)
    _add_export_route(app, boards, room)

    @app.post(
        "/v1/devices/{device}/messages",
        response_class=Response,
        responses={
            200: {"content": {BINARY: {}}, "description": "the answers, one after the other; none to what came late"}
        },
        openapi_extra=requires(Role.OWN_DEVICE) | {"requestBody": _BODY},
    )
    async def message(device: DeviceName, request: Request, caller: RequestCaller) -> Response:
        """A message of a board, as docs/reference/messages.md describes it."""
        if not caller.device:  # else the guard has counted it
            companion.access.check_rate(device)
        if request.headers.get("content-type", BINARY).split(";")[0].strip() != BINARY:
            raise HTTPException(400, f"the content type must be {BINARY}")
        data = await read_body(request, messages.MOST_BYTES)
        if data is None:
            raise HTTPException(413, f"a message has at most {messages.MOST_BYTES} bytes")
        try:
            answers = await companion.dispatcher.answers(device, data)
        except messages.BadMessage as problem:
            raise HTTPException(400, str(problem)) from None
        return Response(b"".join(answers), media_type=BINARY)

    @app.get("/v1/devices/{device}/entries")
    async def entries(
        device: DeviceName,
        log: Annotated[LogName, Query(description="memories (records) or turns (journal)")] = "records",
        state: _State = "live",
        speaker: Annotated[str, Query(max_length=64, description="only turns of this speaker")] = "",
        since: Time = 0,
        until: Time = 0,
        limit: _Limit = 50,
    ) -> EntryPage:
        """The memories or turns of a board as they are now, the newest first."""

        def fits(entry: ReadEntry) -> bool:
            at = entry.line.get("created", entry.line.get("at", 0))
            is_in_time = at >= since and not (until and at >= until)
            return is_in_time and "gone" not in entry.line and speaker in ("", entry.line.get("who"))

        async with room:
            return await asyncio.to_thread(lambda: _copy(boards, device, log).newest(fits, state, limit))

    @app.get("/v1/devices/{device}/entries/{entry}")
    async def entry(
        device: DeviceName,
        entry: Annotated[str, Path(pattern=ENTRY_ID, description="a memory's or a turn's id, such as m12 or t34")],
    ) -> EntryHistory:
        """A memory or a turn of a board, with its history."""
        return await companion.memories.browser.history(device, entry)


async def read_body(request: Request, most: int) -> bytes | None:
    """Read a request's body, None if it has more than `most` bytes.

    It stops at the first chunk beyond the limit: a body parameter would be read whole before its length is known.
    """
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > most:
            return None
    return bytes(data)


def _add_line_routes(app: FastAPI, boards: BoardTable) -> None:
    @app.get("/v1/devices")
    async def devices(
        after: Annotated[str, Query(max_length=64, description="the name to go on after")] = "", limit: _Limit = 100
    ) -> list[Device]:
        """Boards that have been here, by name, with the state of their copies."""
        return await asyncio.to_thread(boards.devices_after, after, limit)

    @app.get("/v1/devices/{device}")
    async def one_device(device: DeviceName) -> Device:
        """One board."""
        return await asyncio.to_thread(boards.device, device)

    @app.get("/v1/devices/{device}/events")
    async def events(device: DeviceName, limit: _Limit = 100) -> list[tuple[int, str]]:
        """Events of a board's copies, newest first: when in Unix seconds, and a sentence."""
        await asyncio.to_thread(boards.device, device)
        return await asyncio.to_thread(boards.events, device, limit)

    @app.get("/v1/devices/{device}/lines")
    async def lines(
        device: DeviceName,
        log: Annotated[LogName, Query(description="which log")],
        after: _After = 0,
        limit: _Limit = 100,
    ) -> list[LogLine]:
        """The lines of a board's log after a seq, as the board wrote them."""
        return await asyncio.to_thread(_read_lines, boards, device, log, after, limit)

    @app.get("/v1/devices/{device}/archive")
    async def archive(device: DeviceName, after: _After = 0, limit: _Limit = 100) -> list[LogLine]:
        """The memories that the board has archived here, as it wrote them, by the seq of the line."""
        await asyncio.to_thread(boards.device, device)
        found = await asyncio.to_thread(boards.archived, device, after, limit)
        return [LogLine(seq, fields) for seq, line in found if (fields := fields_of(line))]

    @app.get("/v1/devices/{device}/aside")
    async def aside(
        device: DeviceName,
        before: Annotated[int, Query(ge=0, le=MOST_NUMBER, description="the number to go on below")] = MOST_NUMBER,
        limit: _Limit = 100,
    ) -> list[AsideLine]:
        """Lines set aside from a board's copies, newest first: the board lost or replaced them."""
        await asyncio.to_thread(boards.device, device)
        found = await asyncio.to_thread(boards.set_aside_lines, device, limit, before)
        return [
            AsideLine(one.seq, fields_of(one.line), one.number, one.at, one.why, one.log, one.epoch) for one in found
        ]


def _read_lines(boards: BoardTable, name: str, log: LogName, after: int, limit: int) -> list[LogLine]:
    device = boards.device(name)
    found: list[LogLine] = []
    for seq, line in boards.lines(SeqRange(name, log, device.logs[log].epoch, after, log_line.MAX_SEQ)):
        if fields := fields_of(line):
            found.append(LogLine(seq, fields))
        if len(found) == limit:
            break
    return found


def _copy(boards: BoardTable, device: str, log: LogName) -> LogCopy:
    return LogCopy(boards, boards.device(device), log, int(time.time()))


# --- export


def _add_export_route(app: FastAPI, boards: BoardTable, room: asyncio.Semaphore) -> None:
    exports = asyncio.Semaphore(MOST_EXPORTS)

    @app.get(
        "/v1/devices/{device}/export",
        response_class=StreamingResponse,
        responses={200: {"content": {JSON_LINES: {}}, "description": "JSON Lines, see docs/guides/moving.md"}},
    )
    async def exported(
        device: DeviceName, archived: Annotated[bool, Query(description="with those that are archived")] = True
    ) -> StreamingResponse:
        """All memories of a board's copy, in the form that /import of a board takes."""
        if exports.locked():
            problem = f"{MOST_EXPORTS} exports are being written already: try again later"
            raise HTTPException(429, problem, {"Retry-After": str(_AGAIN_SECONDS)})
        await exports.acquire()
        try:
            async with room:
                copy = await asyncio.to_thread(_copy, boards, device, "records")
            # A stream of lines, not a model: an export has no limit, and is written while it is read.
            return _Export(_export_pieces(copy, archived), exports, f"{device}.jsonl")
        except BaseException:
            exports.release()
            raise


class _Export(StreamingResponse):
    def __init__(self, pieces: Iterator[str], places: asyncio.Semaphore, name: str):
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        super().__init__(pieces, headers=headers, media_type=JSON_LINES)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._places.release()


def _export_pieces(copy: LogCopy, archived: bool) -> Iterator[str]:
    lines: list[str] = []
    for line in export_lines(copy, int(time.time()), archived):
        lines.append(line + "\n")
        if len(lines) == _PIECE_LINES:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)
