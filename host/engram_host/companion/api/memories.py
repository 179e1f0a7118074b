"""Memories of a board over HTTP: filtered lists, one with its history, changes on the board, and its trash."""

import asyncio
import secrets
from typing import Annotated, Literal

from fastapi import FastAPI, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from engram_host.companion.api.chat import MessageId
from engram_host.companion.api.copies import DeviceName, Time
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.memories.browse import MemoryDetail, MemoryPage, MemoryQuery, MemorySort, MemoryState
from engram_host.companion.memories.commands import MemoryChange, MemoryEdit, TrashListing
from engram_host.companion.memories.service import MemoryServices

MOST_AT_ONCE = 2

_MOST_CHANGES = 100

MemoryId = Annotated[str, Path(pattern=r"^m[0-9]{1,9}$", description="a memory's id, such as m12")]
Text = Annotated[str, Query(max_length=200)]


class NewChange(BaseModel):
    """A change of a memory."""

    do: Literal["edit", "pin", "unpin", "forget", "merge", "undo"]
    was: int = Field(
        0,
        ge=0,
        description="edit, forget, merge: the seq of the version that was read; 0: the newest one here. undo: the version to "
        "undo, which has to be the newest one here and made on the board itself; 0: whatever the board changed last",
    )
    text: str | None = Field(None, max_length=8000, description="edit, merge: the new text")
    tags: tuple[str, ...] | None = Field(None, max_length=10, description="edit, merge: all its tags from now on")
    keywords: tuple[str, ...] | None = Field(None, max_length=20, description="edit: all its keywords from now on")
    type: str | None = Field(None, max_length=40)
    importance: float | None = Field(None, ge=0, le=1)
    turns: bool = Field(False, description="forget: also the turns that it came from")
    other: str = Field("", pattern=r"^(m[0-9]{1,9})?$", description="merge: the memory that is forgotten then")
    other_was: int = Field(0, ge=0, description="merge: as was, of the other memory")
    key: str = Field("", pattern="^([0-9a-f]{8})?$", description="the same change sent again has the same key")


def add_memory_routes(app: FastAPI, services: MemoryServices) -> None:
    browser = services.browser
    room = asyncio.Semaphore(MOST_AT_ONCE)
    _add_change_routes(app, services)

    @app.get("/v1/boards/{device}/memories")
    async def memories(
        device: DeviceName,
        state: MemoryState = "live",
        tag: Text = "",
        type: Text = "",
        scope: Text = "",
        words: Annotated[str, Query(max_length=200, description="words that it has, all of them")] = "",
        since: Time = 0,
        until: Time = 0,
        pinned: Annotated[bool, Query(description="only pinned ones")] = False,
        sort: Annotated[MemorySort, Query(description="by what; with - before it the other way round")] = "-changed",
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    ) -> MemoryPage:
        """The memories of a board that pass all filters."""
        query = MemoryQuery(
            state=state,
            tag=tag,
            type=type,
            scope=scope,
            words=words,
            since=since,
            until=until,
            is_pinned=pinned,
            sort=sort,
            limit=limit,
            offset=offset,
        )
        async with room:
            return await browser.page(device, query)

    @app.get("/v1/boards/{device}/memories/{entry}")
    async def memory(device: DeviceName, entry: MemoryId) -> MemoryDetail:
        """One memory, with its history and where it came from."""
        return await browser.detail(device, entry)

    @app.get("/v1/boards/{device}/memories/{entry}/similar")
    async def similar(
        device: DeviceName,
        entry: MemoryId,
        words: Annotated[str, Query(max_length=200, description="offer those that these words find instead")] = "",
    ) -> list[ReadEntry]:
        """Memories that one can be merged with, the most similar first; none if it cannot be changed itself."""
        found = await browser.detail(device, entry)
        if not found.is_changeable:
            return []
        async with room:
            return await services.find_similar(device, found.entry, words.strip())

    @app.post("/v1/boards/{device}/memories/{entry}")
    async def change(device: DeviceName, entry: MemoryId, wanted: NewChange) -> MemoryChange:
        """Ask a board for a change of a memory. It is kept until the board has answered, see GET .../changes."""
        return await _ask(services, device, entry, wanted)


def _add_change_routes(app: FastAPI, services: MemoryServices) -> None:
    changes, trash = services.changes, services.trash

    @app.get("/v1/boards/{device}/changes")
    async def list_changes(
        device: DeviceName,
        entry: Annotated[str, Query(pattern=r"^(m[0-9]{1,9})?$", description="only those of this memory")] = "",
        limit: Annotated[int, Query(ge=1, le=_MOST_CHANGES)] = 20,
    ) -> list[MemoryChange]:
        """The newest changes that a board was asked for, as far as they are kept."""
        return await changes.newest(device, limit, entry)

    @app.get("/v1/boards/{device}/changes/{id}")
    async def one_change(device: DeviceName, id: MessageId) -> MemoryChange:
        """Progress of a change."""
        return await changes.find(device, id)

    @app.post("/v1/boards/{device}/changes/{id}/undo")
    async def undo_change(device: DeviceName, id: MessageId) -> MemoryChange:
        """Undo a change, both parts of a merge. Refused if a later change of the memory is known, and by the board if the
        change was not its latest one.
        """
        return await changes.undo(device, id, secrets.token_hex(4))

    @app.delete("/v1/boards/{device}/changes/{id}")
    async def cancel_change(device: DeviceName, id: MessageId) -> MemoryChange:
        """Cancel a change that the board has not made yet."""
        await changes.cancel(device, id)
        return await changes.find(device, id)

    @app.get("/v1/boards/{device}/trash")
    async def read_trash(device: DeviceName) -> TrashListing:
        """The board's last report on its trash."""
        return await trash.latest(device)

    @app.post("/v1/boards/{device}/trash")
    async def ask_trash(device: DeviceName, request: Request) -> TrashListing:
        """Ask a board what its trash has: memories that left for lack of room."""
        await request.body()  # unused, and refused if too long like any other body
        await trash.ask(device, secrets.token_hex(4))
        return await trash.latest(device)


async def _ask(services: MemoryServices, device: str, entry: str, wanted: NewChange) -> MemoryChange:
    changes, key = services.changes, wanted.key or secrets.token_hex(4)
    if wanted.do in ("pin", "unpin"):
        return await changes.pin(device, entry, key, is_pinned=wanted.do == "pin")
    if wanted.do == "undo":
        if wanted.was:
            return await changes.undo_newest(device, entry, wanted.was, key)
        return await changes.undo_entry(device, entry, key)
    was = wanted.was or await _newest(services, device, entry)
    if wanted.do == "forget":
        return await changes.forget(device, entry, was, key, with_turns=wanted.turns)
    edit = MemoryEdit(wanted.text, wanted.tags, wanted.keywords, wanted.type, wanted.importance)
    if wanted.do == "edit":
        if edit == MemoryEdit():
            raise HTTPException(422, "nothing to change is named: give text, tags, keywords, type or importance")
        return await changes.edit(device, entry, was, edit, key)
    if not wanted.other or wanted.text is None:
        raise HTTPException(422, "a merge names the other memory, and the text of both")
    other_was = wanted.other_was or await _newest(services, device, wanted.other)
    return await changes.merge(device, entry, was, wanted.other, other_was, edit, key)


async def _newest(services: MemoryServices, device: str, entry: str) -> int:
    return (await services.browser.detail(device, entry)).entry.line["seq"]
