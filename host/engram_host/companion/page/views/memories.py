"""Memories of a board: a filtered list, and its trash."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from engram.memory.records.fields import IMPORTANCE, SOURCES, TYPES
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.memories.changes import KEY_PATTERN
from engram_host.companion.memories.outcome import MemoryChange
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.memories.trash import TrashListing
from engram_host.companion.memories.types import MemoryQuery, MemorySort, MemoryState
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.fitting import count_pages
from engram_host.companion.page.page import Page, view
from engram_host.companion.page.typed_days import day_seconds

AT_ONCE = 25

SHOWN_BYTES = 700

_SETTLING_SECONDS = 60
"""Time in which the copy should follow a change on the board."""

_CHANGES = 8
_MOST_WORDS, _MOST_WORD = 8, 64
_MOST_PAGES = 100000
_SEE_OTHER = 303

Key = Annotated[str, Form(pattern=KEY_PATTERN)]
Text = Annotated[str, Query(max_length=200)]
Day = Annotated[str, Query(pattern=r"^(\d{4}-\d\d-\d\d)?$")]
ListedState = MemoryState | Literal["trash"]


@dataclass(frozen=True)
class ShownMemory:
    """A version of a memory, with validated fields: a board may write anything."""

    id: str
    seq: int
    content: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    notes: tuple[str, ...]
    type: str
    source: str
    scope: str
    importance: float
    created: int
    updated: int
    expires: int
    is_pinned: bool

    @property
    def changed(self) -> int:
        return self.updated or self.created


def shown_memory(line: dict[str, Any]) -> ShownMemory:
    """Convert a line for a view."""
    importance = line.get("importance", IMPORTANCE)
    return ShownMemory(
        id=_text(line, "id"),
        seq=_number(line, "seq"),
        content=_text(line, "content"),
        tags=_words(line, "tags"),
        keywords=_words(line, "keywords"),
        notes=_words(line, "notes"),
        type=_text(line, "type", "fact"),
        source=_text(line, "source", "manual"),
        scope=_text(line, "scope", "all"),
        importance=importance if isinstance(importance, int | float) else IMPORTANCE,
        created=_number(line, "created"),
        updated=_number(line, "updated"),
        expires=_number(line, "expires"),
        is_pinned=line.get("pinned") is True,
    )


def _text(line: dict[str, Any], name: str, default: str = "") -> str:
    value = line.get(name, default)
    return value if isinstance(value, str) else default


def _number(line: dict[str, Any], name: str) -> int:
    value = line.get(name, 0)
    return value if isinstance(value, int) else 0


def _words(line: dict[str, Any], name: str) -> tuple[str, ...]:
    value = line.get(name)
    return (
        tuple(each[:_MOST_WORD] for each in value[:_MOST_WORDS] if isinstance(each, str))
        if isinstance(value, list)
        else ()
    )


@dataclass(frozen=True)
class ListedMemory:
    """A memory in a list; its text may be cut."""

    id: str
    state: str
    text: str
    is_cut: bool
    line: ShownMemory


def listed(id: str, state: str, line: dict[str, Any]) -> ListedMemory:
    """Convert a memory for a list."""
    memory = shown_memory(line)
    shown = cut_html(memory.content, SHOWN_BYTES)
    return ListedMemory(id, state, shown, len(shown) < len(memory.content), memory)


def cut_html(text: str, most: int) -> str:
    """Cut a text to `most` bytes of HTML."""
    size = 0
    for at, letter in enumerate(text):
        size += len(escape(letter).encode("utf-8", "replace"))
        if size > most:
            return text[:at]
    return text


def is_leaving(changes: Sequence[MemoryChange], entry: str) -> bool:
    """True if the board has just forgotten a memory that the copy may still have."""
    newest = next((change for change in changes if change.entry == entry), None)
    # Later the board may have restored it itself, which no change here shows.
    return newest is not None and newest.kind in ("forget", "drop") and is_settling(newest)


def is_settling(change: MemoryChange) -> bool:
    """True if the copy may not have the change yet."""
    return change.state == "done" and time.time() - change.ended < _SETTLING_SECONDS


def new_key() -> str:
    """Return an idempotency key: a form sent twice makes one change."""
    return secrets.token_hex(4)


class MemoryList:
    """Views of lists of memories."""

    def __init__(
        self,
        page: Page,
        overviews: BoardOverviews,
        memories: MemoryServices,
    ):
        self._page = page
        self._overviews = overviews
        self._browser = memories.browser
        self._changes = memories.changes
        self._trash = memories.trash

    async def show(
        self, request: Request, device: str, query: MemoryQuery, days: tuple[str, str], state: ListedState, at: int
    ) -> Response:
        board = await self._overviews.summary(device)
        zone = board.row.zone
        since, until = day_seconds(days[0], zone), day_seconds(days[1], zone, 1)  # inclusive
        query = _with_times(query, since, until, at)
        changes = await self._changes.newest(device, _CHANGES)
        found = await self._browser.page(device, query)
        trash = await self._trash.latest(device) if state == "trash" else TrashListing()
        if state == "trash":
            memories = [listed(str(each.get("id", "")), "trash", each) for each in trash.records]
            total, shown = len(memories), memories[query.offset : query.offset + AT_ONCE]
        else:
            staying = [entry for entry in found.entries if not is_leaving(changes, entry.id)]
            total = found.total - len(found.entries) + len(staying)
            shown = [listed(entry.id, entry.state, entry.line) for entry in staying]
        return self._page.render(
            request,
            "memories.html",
            page_key="boards",
            board=board,
            device=device,
            query=query,
            days=days,
            state=state,
            memories=shown,
            total=total,
            archived=found.archived if state == "live" else 0,
            scopes=found.scopes,
            types=TYPES,
            sources=SOURCES,
            trash=trash,
            changes=changes,
            is_behind=any(is_settling(change) for change in changes),
            key=new_key(),
            at=at,
            pages=count_pages(total, AT_ONCE),
            is_filtered=_is_filtered(query) or state != "live",
            tag_link=lambda tag: f"?{urlencode({'tag': tag})}",
        )

    async def ask_trash(self, device: str, key: str) -> Response:
        await self._trash.ask(device, key)
        return RedirectResponse(f"/boards/{device}/memories?state=trash", _SEE_OTHER)


def _is_filtered(query: MemoryQuery) -> bool:
    filters = query.tag, query.type, query.scope, query.source, query.keyword, query.words
    return any(filters) or bool(query.since or query.until) or query.is_pinned


def _with_times(query: MemoryQuery, since: int, until: int, at: int) -> MemoryQuery:
    return replace(query, since=since, until=until, limit=AT_ONCE, offset=(at - 1) * AT_ONCE)


def make_router(page: Page, overviews: BoardOverviews, services: MemoryServices) -> APIRouter:
    """Make the routes."""
    router = page.router()
    lists = MemoryList(page, overviews, services)

    @router.get("/boards/{device}/memories", openapi_extra=view())
    async def memories(
        request: Request,
        device: DeviceName,
        state: ListedState = "live",
        words: Text = "",
        tag: Text = "",
        type: Text = "",
        scope: Text = "",
        source: Text = "",
        keyword: Text = "",
        since: Day = "",
        until: Day = "",
        pinned: Annotated[str, Query(max_length=10)] = "",
        sort: MemorySort = "-changed",
        at: Annotated[int, Query(ge=1, le=_MOST_PAGES)] = 1,
    ) -> Response:
        query = MemoryQuery(
            "live" if state == "trash" else state,
            tag.strip(),
            type,
            scope.strip(),
            source,
            keyword.strip(),
            words.strip(),
            is_pinned=bool(pinned),
            sort=sort,
        )
        return await lists.show(request, device, query, (since, until), state, at)

    @router.post("/boards/{device}/memories/trash", openapi_extra=view(form=True))
    async def ask_trash(device: DeviceName, key: Key) -> Response:
        return await lists.ask_trash(device, key)

    return router
