"""What the copy of a board says, over HTTP: its memories and turns as they are now, their history, an export."""

import asyncio
import time
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from engram_host.companion.copy.export import export
from engram_host.companion.copy.reading import CopyOfLog, Read, log_of
from engram_host.companion.model import LogName
from engram_host.companion.security.rules import Who, may
from engram_host.companion.store.base import Store

LINES = "application/x-ndjson"

MOST_AT_ONCE = 2
"""Copies that are read at the same time: each reads a whole log."""

_MOST_ENTRIES = 1000
_LATEST = 1 << 40
_PIECE_LINES = 200

DeviceName = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,32}$", description="a board's name")]
EntryId = Annotated[
    str, Path(pattern=r"^[mt][0-9]{1,10}$", description="a memory's or a turn's id, such as m12 or t34")
]
Text = Annotated[str, Query(max_length=64)]
Time = Annotated[int, Query(ge=0, le=_LATEST, description="Unix seconds")]


class Entry(BaseModel):
    """A memory or a turn as it is now."""

    id: str
    state: Literal["live", "superseded", "expired"]
    line: dict[str, Any] = Field(description="as the board wrote it, see docs/formats.md")


class Entries(BaseModel):
    """Some memories or turns, the newest first."""

    total: int = Field(description="how many fit in all")
    entries: list[Entry]


class History(Entry):
    """A memory or a turn with all its versions."""

    device: str
    versions: list[dict[str, Any]] = Field(
        description="oldest first; those of the memory whose place it took come before"
    )


def add_copy(app: FastAPI, store: Store, not_found: dict[int | str, dict[str, Any]]) -> None:
    """Add the routes; `not_found` describes the answer for what is not known."""
    room = asyncio.Semaphore(MOST_AT_ONCE)
    rules: dict[str, Any] = {"responses": not_found, "openapi_extra": may(Who.OPERATOR)}

    @app.get("/v1/devices/{device}/entries", **rules)
    async def entries(
        device: DeviceName,
        log: Annotated[LogName, Query(description="memories (records) or turns (journal)")] = "records",
        state: Annotated[Literal["live", "superseded", "expired", "all"], Query()] = "live",
        tag: Text = "",
        type: Text = "",
        scope: Text = "",
        session: Text = "",
        speaker: Text = "",
        since: Time = 0,
        until: Time = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_ENTRIES)] = 50,
    ) -> Entries:
        """The memories or turns of a board as they are now, the newest first."""
        wanted = {"type": type, "scope": scope, "sid": session, "who": speaker}

        def fits(entry: Read) -> bool:
            return _fits(entry, state, tag, {name: value for name, value in wanted.items() if value}, since, until)

        async with room:
            page = await asyncio.to_thread(lambda: _copy(store, device, log).newest(fits, limit))
        return Entries(total=page.total, entries=[_shown(entry) for entry in page.entries])

    @app.get("/v1/devices/{device}/entries/{entry}", **rules)
    async def entry(device: DeviceName, entry: EntryId) -> History:
        """A memory or a turn of a board, with its history."""
        async with room:
            read, versions = await asyncio.to_thread(lambda: _copy(store, device, log_of(entry)).versions(entry))
        return History(device=device, versions=versions, id=read.id, state=_shown(read).state, line=read.line)

    @app.get(
        "/v1/devices/{device}/export",
        response_class=StreamingResponse,
        responses={**not_found, 200: {"content": {LINES: {}}, "description": "JSON Lines, see docs/formats.md"}},
        openapi_extra=may(Who.OPERATOR),
    )
    async def exported(device: DeviceName) -> StreamingResponse:
        """All memories of a board's copy, in the form that /import of a board takes."""
        async with room:
            copy = await asyncio.to_thread(_copy, store, device, "records")
        return StreamingResponse(_pieces(copy), media_type=LINES)


def _copy(store: Store, device: str, log: LogName) -> CopyOfLog:
    return CopyOfLog(store, store.device(device), log, int(time.time()))


def _pieces(copy: CopyOfLog):
    """Some lines at a time; read in a thread, as fast as they are taken."""
    lines: list[str] = []
    for line in export(copy, int(time.time())):
        lines.append(line + "\n")
        if len(lines) == _PIECE_LINES:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def _fits(entry: Read, state: str, tag: str, wanted: dict[str, str], since: int, until: int) -> bool:
    line = entry.line
    if state not in ("all", entry.state) or "gone" in line:
        return False
    if tag and tag not in line.get("tags", ()):
        return False
    at = line.get("created", line.get("at", 0))
    if at < since or (until and at >= until):
        return False
    defaults = {"type": "fact", "scope": "all"}
    return all(line.get(name, defaults.get(name)) == value for name, value in wanted.items())


def _shown(entry: Read) -> Entry:
    return Entry.model_validate({"id": entry.id, "state": entry.state, "line": entry.line})
