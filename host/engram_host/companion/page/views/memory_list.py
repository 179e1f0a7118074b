"""Memories of a board: a filtered list, and its trash."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Form, Query, Request, Response

from engram.memory.records.fields import IMPORTANCE, TYPES
from engram.text import part
from engram_host.companion.api.copies import DeviceName
from engram_host.companion.api.memories import Text
from engram_host.companion.app import CompanionApp
from engram_host.companion.memories.browse import MemoryQuery, MemorySort, MemoryState
from engram_host.companion.memories.changes import KEY_PATTERN
from engram_host.companion.memories.commands import MemoryChange, TrashListing
from engram_host.companion.page.formatting import count_pages, cut_html, day_seconds
from engram_host.companion.page.page import Page, Views, redirect

AT_ONCE = 25

SHOWN_BYTES = 700

_SETTLING_SECONDS = 60
"""Time in which the copy should follow a change on the board."""

_CHANGES = 8
_MOST_WORDS, _MOST_WORD = 8, 64

Key = Annotated[str, Form(pattern=KEY_PATTERN)]
Day = Annotated[str, Query(pattern=r"^(\d{4}-\d\d-\d\d)?$")]


@dataclass(frozen=True)
class ShownMemory:
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
    when: int
    until: int
    people: tuple[str, ...]
    where: str
    is_pinned: bool
    evidence: tuple[str, ...]
    percent: int
    """Confidence of a tentative memory, else 0."""

    @property
    def changed(self) -> int:
        return self.updated or self.created


def shown_memory(line: dict[str, Any]) -> ShownMemory:
    importance = line.get("importance", IMPORTANCE)
    return ShownMemory(
        id=part(line, "id", str),
        seq=part(line, "seq", int),
        content=part(line, "content", str),
        tags=_words(line, "tags"),
        keywords=_words(line, "keywords"),
        notes=_words(line, "notes"),
        type=part(line, "type", str) or "fact",
        source=part(line, "source", str) or "manual",
        scope=part(line, "scope", str) or "all",
        importance=importance if isinstance(importance, int | float) else IMPORTANCE,
        created=part(line, "created", int),
        updated=part(line, "updated", int),
        expires=part(line, "expires", int),
        when=part(line, "when", int),
        until=part(line, "until", int),
        people=_words(line, "people"),
        where=part(line, "where", str),
        is_pinned=line.get("pinned") is True,
        evidence=_words(line, "evidence"),
        percent=round(100 * part(line, "confidence", float)),
    )


def _words(line: dict[str, Any], name: str) -> tuple[str, ...]:
    words = part(line, name, list)[:_MOST_WORDS]
    return tuple(each[:_MOST_WORD] for each in words if isinstance(each, str))


@dataclass(frozen=True)
class ListedMemory:
    id: str
    state: str
    text: str
    is_cut: bool
    line: ShownMemory


def listed(id: str, state: str, line: dict[str, Any]) -> ListedMemory:
    memory = shown_memory(line)
    shown = cut_html(memory.content, SHOWN_BYTES)
    return ListedMemory(id, state, shown, len(shown) < len(memory.content), memory)


def is_leaving(changes: Sequence[MemoryChange], entry: str) -> bool:
    newest = next((change for change in changes if change.entry == entry), None)
    # Later the board may have restored it itself, which no change here shows.
    return newest is not None and newest.kind in ("forget", "drop") and is_settling(newest)


def is_settling(change: MemoryChange) -> bool:
    return change.state == "done" and time.time() - change.ended < _SETTLING_SECONDS


def new_key() -> str:
    return secrets.token_hex(4)


def add_memory_list(views: Views, page: Page, companion: CompanionApp) -> None:
    services = companion.memories

    @views.get("/boards/{device}/memories")
    async def memories(
        request: Request,
        device: DeviceName,
        state: MemoryState | Literal["trash"] = "live",
        words: Text = "",
        tag: Text = "",
        type: Text = "",
        scope: Text = "",
        since: Day = "",
        until: Day = "",
        pinned: Annotated[str, Query(max_length=10)] = "",
        sort: MemorySort = "-changed",
        at: Annotated[int, Query(ge=1, le=100000)] = 1,
    ) -> Response:
        board = await companion.overviews.summary(device)
        query = MemoryQuery(
            state="live" if state == "trash" else state,
            tag=tag.strip(),
            type=type,
            scope=scope.strip(),
            words=words.strip(),
            since=day_seconds(since, board.zone),
            until=day_seconds(until, board.zone, 1),  # inclusive
            is_pinned=bool(pinned),
            sort=sort,
            limit=AT_ONCE,
            offset=(at - 1) * AT_ONCE,
        )
        changes = await services.changes.newest(device, _CHANGES)
        found = await services.browser.page(device, query)
        trash = await services.trash.latest(device) if state == "trash" else TrashListing()
        if state == "trash":
            shown = [listed(str(each.get("id", "")), "trash", each) for each in trash.records]
            total, shown = len(shown), shown[query.offset : query.offset + AT_ONCE]
        else:
            staying = [entry for entry in found.entries if not is_leaving(changes, entry.id)]
            total = found.total - len(found.entries) + len(staying)
            shown = [listed(entry.id, entry.state, entry.line) for entry in staying]
        return page.render(
            request,
            "memories.html",
            board=board,
            device=device,
            query=query,
            days=(since, until),
            state=state,
            memories=shown,
            total=total,
            archived=found.archived if state == "live" else 0,
            scopes=found.scopes,
            types=TYPES,
            trash=trash,
            changes=changes,
            is_behind=any(is_settling(change) for change in changes),
            key=new_key(),
            at=at,
            pages=count_pages(total, AT_ONCE),
            is_filtered=any((query.tag, type, query.scope, query.words, since, until, pinned, state != "live")),
            tag_link=lambda tag: f"?{urlencode({'tag': tag})}",
        )

    @views.form("/boards/{device}/memories/trash")
    async def ask_trash(device: DeviceName, key: Key) -> Response:
        await services.trash.ask(device, key)
        return redirect(f"/boards/{device}/memories?state=trash")
