"""Entries of a board's copy over HTTP: current memories and turns, their history, an export."""

import asyncio
import time
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from engram import log_line
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.entries.reader import LogCopy, ReadEntry, export_lines, log_of_entry
from engram_host.companion.store.replica import MOST_NUMBER, ReplicaReader
from engram_host.companion.types import LogName, SetAsideLine

LINES = "application/x-ndjson"

MOST_AT_ONCE = 2
"""Copies that are read concurrently; each read scans a whole log."""

MOST_EXPORTS = 2
"""Concurrent exports, apart from other reads: a slow client blocks only these."""

_AGAIN_SECONDS = 10

_MOST_ENTRIES = 1000
_LATEST = 1 << 40
_PIECE_LINES = 200

ENTRY_ID = r"^[mt][0-9]{1,10}$"

EntryId = Annotated[str, Path(pattern=ENTRY_ID, description="a memory's or a turn's id, such as m12 or t34")]
Text = Annotated[str, Query(max_length=64)]
Time = Annotated[int, Query(ge=0, le=_LATEST, description="Unix seconds")]
State = Literal["live", "superseded", "expired", "archived"]


class EntryShown(BaseModel):
    """A memory or a turn as it is now."""

    id: str
    state: State
    line: dict[str, Any] = Field(description="as the board wrote it, see docs/reference/formats.md")


class EntriesShown(BaseModel):
    """Some memories or turns, the newest first."""

    total: int = Field(description="how many fit in all")
    archived: int = Field(description="how many else would fit and are archived, where only live ones are wanted")
    entries: list[EntryShown]


class AsideShown(BaseModel):
    """A line that was set aside: no longer part of the copy, and kept."""

    number: int = Field(description="higher for what was set aside later; `before` takes it")
    at: int = Field(description="when it was set aside, in Unix seconds")
    why: str
    log: LogName
    epoch: int
    seq: int
    line: dict[str, Any] = Field(description="as the board wrote it, see docs/reference/formats.md")


class EntryHistory(EntryShown):
    """A memory or a turn with all its versions."""

    device: str
    versions: list[dict[str, Any]] = Field(
        description="oldest first; those of the memory whose place it took come before"
    )


def make_entry_router(store: ReplicaReader) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/devices/{device}", responses=REFUSALS)
    room = asyncio.Semaphore(MOST_AT_ONCE)
    exports = asyncio.Semaphore(MOST_EXPORTS)
    rules: dict[str, Any] = {"responses": NO_DEVICE, "openapi_extra": requires(Role.OPERATOR)}

    @router.get("/entries", **rules)
    async def entries(
        device: DeviceName,
        log: Annotated[LogName, Query(description="memories (records) or turns (journal)")] = "records",
        state: Annotated[State | Literal["all"], Query()] = "live",
        tag: Text = "",
        type: Text = "",
        scope: Text = "",
        session: Text = "",
        speaker: Text = "",
        since: Time = 0,
        until: Time = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_ENTRIES)] = 50,
    ) -> EntriesShown:
        """The memories or turns of a board as they are now, the newest first."""
        wanted = {"type": type, "scope": scope, "sid": session, "who": speaker}

        archived = 0

        def fits(entry: ReadEntry) -> bool:
            nonlocal archived
            if not _fits(entry, tag, {name: value for name, value in wanted.items() if value}, since, until):
                return False
            archived += state == "live" and entry.state == "archived"
            return state in ("all", entry.state)

        async with room:
            page = await asyncio.to_thread(lambda: _copy(store, device, log).newest(fits, limit))
        return EntriesShown(total=page.total, archived=archived, entries=[_shown(entry) for entry in page.entries])

    @router.get("/entries/{entry}", **rules)
    async def entry(device: DeviceName, entry: EntryId) -> EntryHistory:
        """A memory or a turn of a board, with its history."""
        async with room:
            read, versions = await asyncio.to_thread(lambda: _copy(store, device, log_of_entry(entry)).versions(entry))
        return EntryHistory(device=device, versions=versions, id=read.id, state=_shown(read).state, line=read.line)

    @router.get("/aside", **rules)
    async def aside(
        device: DeviceName,
        before: Annotated[int, Query(ge=0, le=MOST_NUMBER, description="the number to go on below")] = MOST_NUMBER,
        limit: Annotated[int, Query(ge=1, le=_MOST_ENTRIES)] = 100,
    ) -> list[AsideShown]:
        """Lines set aside from a board's copies, newest first: the board lost or replaced them."""
        await asyncio.to_thread(store.device, device)
        return [_aside(one) for one in await asyncio.to_thread(store.set_aside_lines, device, limit, before)]

    @router.get(
        "/export",
        response_class=StreamingResponse,
        responses={
            **NO_DEVICE,
            200: {"content": {LINES: {}}, "description": "JSON Lines, see docs/guides/moving.md"},
            429: {**NO_DEVICE[404], "description": f"{MOST_EXPORTS} exports are being written already"},
        },
        openapi_extra=requires(Role.OPERATOR),
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
                copy = await asyncio.to_thread(_copy, store, device, "records")
            # A stream of lines, not a model: an export has no limit, and is written while it is read.
            return _Export(_export_pieces(copy, archived), exports, f"{device}.jsonl")
        except BaseException:
            exports.release()
            raise

    return router


def _aside(one: SetAsideLine) -> AsideShown:
    try:
        line = log_line.decode(one.line)
    except ValueError:
        line = {}  # it was set aside unchanged, readable or not
    return AsideShown(number=one.number, at=one.at, why=one.why, log=one.log, epoch=one.epoch, seq=one.seq, line=line)


def _copy(store: ReplicaReader, device: str, log: LogName) -> LogCopy:
    return LogCopy(store, store.device(device), log, int(time.time()))


class _Export(StreamingResponse):
    """Export that frees its place when it ends, in any way."""

    def __init__(self, pieces: Iterator[str], places: asyncio.Semaphore, name: str):
        super().__init__(pieces, headers={"Content-Disposition": f'attachment; filename="{name}"'}, media_type=LINES)
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


def _fits(entry: ReadEntry, tag: str, wanted: dict[str, str], since: int, until: int) -> bool:
    line = entry.line
    if "gone" in line:
        return False
    if tag and tag not in line.get("tags", ()):
        return False
    at = line.get("created", line.get("at", 0))
    if at < since or (until and at >= until):
        return False
    defaults = {"type": "fact", "scope": "all"}
    return all(line.get(name, defaults.get(name)) == value for name, value in wanted.items())


def _shown(entry: ReadEntry) -> EntryShown:
    return EntryShown.model_validate({"id": entry.id, "state": entry.state, "line": entry.line})
