"""Memories of a board over HTTP: filtered lists, one with its history, and changes on the board."""

import asyncio
import secrets
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from engram_host.companion.api.chat import ID_PATTERN
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS, ErrorResponse, responses
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.memories.changes import MemoryChanges
from engram_host.companion.memories.commands import MemoryEdit
from engram_host.companion.memories.outcome import ChangeKind, ChangeState, MemoryChange
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.memories.trash import TrashReader
from engram_host.companion.memories.types import MemoryQuery, MemorySort, MemoryState
from engram_host.companion.memories.undo_order import is_newest_undoable

MOST_AT_ONCE = 2

_MOST_LISTED = 1000
_MOST_OFFSET = 1000000
_MOST_CHANGES = 100
_LATEST = 1 << 40
_MOST_TEXT = 8000

MemoryId = Annotated[str, Path(pattern=r"^m[0-9]{1,9}$", description="a memory's id, such as m12")]
ChangePath = Annotated[str, Path(pattern=ID_PATTERN, description="a change's id")]
Text = Annotated[str, Query(max_length=200)]
Time = Annotated[int, Query(ge=0, le=_LATEST, description="Unix seconds")]

_CHANGES = responses(
    ErrorResponse,
    {
        404: "there is no such board, memory or change",
        429: "so many messages wait for the board that it is given no more",
    },
)

_RULES: dict[str, Any] = {"responses": NO_DEVICE, "openapi_extra": requires(Role.OPERATOR)}
_CHANGING: dict[str, Any] = {"responses": _CHANGES, "openapi_extra": requires(Role.OPERATOR)}


class MemoryShown(BaseModel):
    """A memory as it is now."""

    id: str
    state: Literal["live", "superseded", "expired", "archived"]
    line: dict[str, Any] = Field(description="as the board wrote it, see docs/reference/formats.md")


class MemoriesShown(BaseModel):
    """Some memories."""

    total: int = Field(description="how many fit in all")
    archived: int = Field(description="how many else would fit and are archived, where only live ones are wanted")
    scopes: list[str] = Field(description="scopes that the board has, at most 100")
    entries: list[MemoryShown]


class ChangeShown(BaseModel):
    """A change that a board was asked for."""

    id: str
    kind: ChangeKind = Field(description="forget takes the turns with it that the memory came from, drop does not")
    entry: str
    other: str = Field(description="the memory that a merge takes in; empty for other changes")
    at: int = Field(description="when it was asked for, in Unix seconds")
    state: ChangeState = Field(
        description="conflict: the board had another version by then, or none; nothing was changed"
    )
    text: str = Field(description="the text that an edit asks for")
    sentence: str = Field(description="what the board said of it")
    told: str = Field(description="why it waits, in a sentence; empty for nothing unusual")
    behind: bool = Field(
        description="whether the copy of the board does not have what it made yet: what the board changed since is not known"
    )


class TurnShown(BaseModel):
    """A turn that a memory came from."""

    id: str
    line: dict[str, Any] | None = Field(description="null if the copy has it no more or not yet, or it was forgotten")
    coming: bool = Field(description="whether the copy has not come to it yet")


class MemoryHistory(MemoryShown):
    """A memory with its history and where it came from."""

    origin: str = Field(description="by which an import knows it")
    versions: list[dict[str, Any]] = Field(description="newest first, with those of the memory whose place it took")
    more: bool = Field(description="whether there are earlier versions")
    turns: list[TurnShown]
    successors: list[str] = Field(description="the memories that took its place")
    changes: list[ChangeShown] = Field(description="that the board was asked for lately, newest first")
    undoable: bool = Field(description="whether the newest version can be undone as a change of the board's own")


class TrashShown(BaseModel):
    """The board's last report on its trash."""

    at: int = Field(description="when it answered, in Unix seconds; 0 if it was never asked")
    waiting: bool = Field(description="whether it has not answered yet")
    told: str = Field(description="why that takes long, in a sentence; empty for nothing unusual")
    problem: str
    records: list[dict[str, Any]] = Field(description="as an export has them, the newest first")


class NewChange(BaseModel):
    """A change of a memory."""

    do: Literal["edit", "pin", "unpin", "forget", "merge", "undo"]
    was: int = Field(
        0,
        ge=0,
        description="edit, forget, merge: the seq of the version that was read; 0: the newest one here. undo: the version to "
        "undo, which has to be the newest one here and made on the board itself; 0: whatever the board changed last",
    )
    text: str | None = Field(None, max_length=_MOST_TEXT, description="edit, merge: the new text")
    tags: list[str] | None = Field(None, max_length=10, description="edit, merge: all its tags from now on")
    keywords: list[str] | None = Field(None, max_length=20, description="edit: all its keywords from now on")
    type: str | None = Field(None, max_length=40)
    importance: float | None = Field(None, ge=0, le=1)
    turns: bool = Field(False, description="forget: also the turns that it came from")
    other: str = Field("", pattern=r"^(m[0-9]{1,9})?$", description="merge: the memory that is forgotten then")
    other_was: int = Field(0, ge=0, description="merge: as was, of the other memory")
    key: str = Field("", pattern="^([0-9a-f]{8})?$", description="the same change sent again has the same key")


def make_memory_router(services: MemoryServices) -> APIRouter:
    """Make the routes."""
    browser, changes = services.browser, services.changes
    router = APIRouter(prefix="/v1/boards/{device}", responses=REFUSALS)
    room = asyncio.Semaphore(MOST_AT_ONCE)

    @router.get("/memories", **_RULES)
    async def memories(
        device: DeviceName,
        state: MemoryState = "live",
        tag: Text = "",
        type: Text = "",
        scope: Text = "",
        source: Text = "",
        keyword: Annotated[str, Query(max_length=200, description="one of its keywords, in any case")] = "",
        words: Annotated[str, Query(max_length=200, description="words that it has, all of them")] = "",
        since: Time = 0,
        until: Time = 0,
        pinned: Annotated[bool, Query(description="only pinned ones")] = False,
        sort: Annotated[MemorySort, Query(description="by what; with - before it the other way round")] = "-changed",
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 50,
        offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET)] = 0,
    ) -> MemoriesShown:
        """The memories of a board that pass all filters."""
        filters = state, tag, type, scope, source, keyword, words
        query = MemoryQuery(*filters, since, until, is_pinned=pinned, sort=sort, limit=limit, offset=offset)
        async with room:
            found = await browser.page(device, query)
        entries = [_shown(entry) for entry in found.entries]
        return MemoriesShown(total=found.total, archived=found.archived, scopes=list(found.scopes), entries=entries)

    @router.get("/memories/{entry}", **_RULES)
    async def memory(device: DeviceName, entry: MemoryId) -> MemoryHistory:
        """One memory, with its history and where it came from."""
        found = await browser.detail(device, entry)
        asked_for = await changes.newest(device, _MOST_CHANGES, entry)
        return MemoryHistory(
            **_shown(found.entry).model_dump(),
            origin=found.origin,
            versions=list(found.versions),
            more=found.has_more,
            turns=[TurnShown(id=turn.id, line=turn.line, coming=turn.is_coming) for turn in found.turns],
            successors=list(found.successors),
            changes=[show_change(each) for each in asked_for],
            undoable=is_newest_undoable(found.entry, asked_for),
        )

    @router.get("/memories/{entry}/similar", **_RULES)
    async def similar(
        device: DeviceName,
        entry: MemoryId,
        words: Annotated[str, Query(max_length=200, description="offer those that these words find instead")] = "",
    ) -> list[MemoryShown]:
        """Memories that one can be merged with, the most similar first; none if it cannot be changed itself."""
        found = await browser.detail(device, entry)
        if not found.is_changeable:
            return []
        async with room:
            return [_shown(each) for each in await services.similar.find(device, found.entry, words.strip())]

    @router.post("/memories/{entry}", **_CHANGING)
    async def change(device: DeviceName, entry: MemoryId, wanted: NewChange) -> ChangeShown:
        """Ask a board for a change of a memory. It is kept until the board has answered, see GET .../changes."""
        return show_change(await _ask(browser, changes, device, entry, wanted))

    return router


def make_change_router(services: MemoryServices) -> APIRouter:
    """Make the routes of changes and of the trash."""
    changes, trash = services.changes, services.trash
    router = APIRouter(prefix="/v1/boards/{device}", responses=REFUSALS)

    @router.get("/changes", **_RULES)
    async def list_changes(
        device: DeviceName, limit: Annotated[int, Query(ge=1, le=_MOST_CHANGES)] = 20
    ) -> list[ChangeShown]:
        """The newest changes that a board was asked for, as far as they are kept."""
        return [show_change(each) for each in await changes.newest(device, limit)]

    @router.get("/changes/{id}", **_CHANGING)
    async def one_change(device: DeviceName, id: ChangePath) -> ChangeShown:
        """Progress of a change."""
        return show_change(await changes.find(device, id))

    @router.post("/changes/{id}/undo", **_CHANGING)
    async def undo_change(device: DeviceName, id: ChangePath) -> ChangeShown:
        """Undo a change, both parts of a merge. Refused if a later change of the memory is known, and by the board if the
        change was not its latest one.
        """
        return show_change(await changes.undo(device, id, secrets.token_hex(4)))

    @router.delete("/changes/{id}", **_CHANGING)
    async def cancel_change(device: DeviceName, id: ChangePath) -> ChangeShown:
        """Cancel a change that the board has not made yet."""
        await changes.cancel(device, id)
        return show_change(await changes.find(device, id))

    @router.get("/trash", **_RULES)
    async def read_trash(device: DeviceName) -> TrashShown:
        """The board's last report on its trash."""
        return await _trash(trash, device)

    @router.post("/trash", **_CHANGING)
    async def ask_trash(device: DeviceName, request: Request) -> TrashShown:
        """Ask a board what its trash has: memories that left for lack of room."""
        await request.body()  # unused, and refused if too long like any other body
        await trash.ask(device, secrets.token_hex(4))
        return await _trash(trash, device)

    return router


async def _trash(trash: TrashReader, device: str) -> TrashShown:
    found = await trash.latest(device)
    return TrashShown(
        at=found.at, waiting=found.is_waiting, told=found.told, problem=found.problem, records=list(found.records)
    )


async def _ask(
    browser: MemoryBrowser, changes: MemoryChanges, device: str, entry: str, wanted: NewChange
) -> MemoryChange:
    key = wanted.key or secrets.token_hex(4)
    if wanted.do in ("pin", "unpin"):
        return await changes.pin(device, entry, key, is_pinned=wanted.do == "pin")
    if wanted.do == "undo":
        if wanted.was:
            return await changes.undo_newest(device, entry, wanted.was, key)
        return await changes.undo_entry(device, entry, key)
    was = wanted.was or await _newest(browser, device, entry)
    if wanted.do == "forget":
        return await changes.forget(device, entry, was, key, with_turns=wanted.turns)
    edit = MemoryEdit(wanted.text, _tuple(wanted.tags), _tuple(wanted.keywords), wanted.type, wanted.importance)
    if wanted.do == "edit":
        if edit == MemoryEdit():
            raise HTTPException(422, "nothing to change is named: give text, tags, keywords, type or importance")
        return await changes.edit(device, entry, was, edit, key)
    if not wanted.other or wanted.text is None:
        raise HTTPException(422, "a merge names the other memory, and the text of both")
    other_was = wanted.other_was or await _newest(browser, device, wanted.other)
    return await changes.merge(device, entry, was, wanted.other, other_was, edit, key)


async def _newest(browser: MemoryBrowser, device: str, entry: str) -> int:
    return (await browser.detail(device, entry)).entry.line["seq"]


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _shown(entry: ReadEntry) -> MemoryShown:
    return MemoryShown.model_validate({"id": entry.id, "state": entry.state, "line": entry.line})


def show_change(change: MemoryChange) -> ChangeShown:
    """Convert a change for the API."""
    return ChangeShown.model_validate(vars(change) | {"behind": change.is_behind})
