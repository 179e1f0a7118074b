"""One memory: text, provenance, history, and forms to change it on the board."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import RedirectResponse

from engram.memory import line_meaning
from engram.memory.records.fields import SOURCES, TYPES
from engram_host.companion.api.chat import ID_PATTERN
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.memories.changes import MemoryChanges
from engram_host.companion.memories.commands import MemoryEdit
from engram_host.companion.memories.differences import Span, differences
from engram_host.companion.memories.outcome import MemoryChange
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.memories.types import MemoryDetail, SourceTurn
from engram_host.companion.memories.undo_order import is_newest_undoable
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.fitting import take_fitting
from engram_host.companion.page.page import Page, view
from engram_host.companion.page.views.memories import Key, ShownMemory, cut_html, is_leaving, new_key, shown_memory
from engram_host.time_zones import BoardZone

HISTORY_BYTES = 20000
"""HTML of the versions shown; the API and the command line have earlier ones."""

_TURN_BYTES = 1000
_TURNS = 8
_CHANGES = 8
MOST_TEXT = 8000
_SEE_OTHER = 303
_BASE = "/boards/{device}/memories/{entry}"
EntryId = Annotated[str, Path(pattern=r"^m[0-9]{1,9}$")]
Was = Annotated[int, Form(ge=1, le=1 << 40)]
Words = Annotated[str, Form(max_length=1000)]
Text = Annotated[str, Form(max_length=MOST_TEXT)]


@dataclass(frozen=True)
class ShownTurn:
    """A turn that a memory came from; without a text it is deleted or not copied yet."""

    id: str
    who: str
    at: int
    text: str
    is_coming: bool


class MemoryView:
    """Views and forms of one memory."""

    def __init__(self, page: Page, overviews: BoardOverviews, services: MemoryServices):
        self._page = page
        self._overviews = overviews
        self._browser = services.browser
        self._changes = services.changes

    async def show(self, request: Request, device: str, entry: str) -> Response:
        board = await self._overviews.summary(device)
        # Changes first: if the copy follows in between it counts as behind, and is polled again.
        changes = await self._changes.newest(device, _CHANGES, entry)
        found = await self._browser.detail(device, entry)
        conflict = _conflict(changes, entry)
        line = shown_memory(found.entry.line)
        versions, is_cut = self._versions(request, found, board.row.zone)
        return self._page.render(
            request,
            "memory.html",
            page_key="boards",
            board=board,
            device=device,
            found=found,
            entry=found.entry,
            line=line,
            versions=versions,
            has_more=is_cut or found.has_more,
            turns=[_shown_turn(turn) for turn in found.turns[:_TURNS]],
            more_turns=max(0, len(found.turns) - _TURNS),
            changes=changes,
            conflict=conflict,
            difference=differences(line.content, conflict.text) if conflict else [],
            draft=conflict.text if conflict else line.content,
            is_undoable=is_newest_undoable(found.entry, changes),
            is_behind=any(change.is_behind and change.entry == entry and change.state == "done" for change in changes)
            or is_leaving(changes, entry),
            types=TYPES,
            sources=SOURCES,
            key=new_key(),
            most=MOST_TEXT,
        )

    def _versions(self, request: Request, found: MemoryDetail, zone: BoardZone) -> tuple[Sequence[str], bool]:
        versions = [shown_memory(line) for line in found.versions]
        rendered: Iterator[str] = (
            self._page.part(
                request,
                "parts/version.html",
                version=line,
                changed=_changed_fields(older, line) if older else (),
                spans=_spans(older, line),
                zone=zone,
            )
            for line, older in zip_longest(versions, versions[1:])
        )
        parts = take_fitting(rendered, HISTORY_BYTES, lambda part: len(part.encode("utf-8", "replace")))
        return parts, len(parts) < len(versions)

    async def without_unchanged(self, device: str, entry: str, was: int, edit: MemoryEdit) -> MemoryEdit:
        """Drop fields unchanged in the form, which may have cut or split keywords."""
        found = await self._browser.detail(device, entry)
        line = next((each for each in found.versions if each["seq"] == was), None)
        if line is None:
            return edit
        shown = shown_memory(line)
        return MemoryEdit(
            None if edit.text == plain_text(shown.content) else edit.text,
            None if edit.tags == listed_words(", ".join(shown.tags)) else edit.tags,
            None if edit.keywords == listed_words(", ".join(shown.keywords)) else edit.keywords,
            None if edit.type == shown.type else edit.type,
            None if edit.importance == shown.importance else edit.importance,
        )

    def after(self, device: str, entry: str) -> Response:
        return RedirectResponse(f"/boards/{device}/memories/{entry}#changes", _SEE_OTHER)


def _conflict(changes: list[MemoryChange], entry: str) -> MemoryChange | None:
    """Return the newest change if it is an edit that the board refused for another version."""
    newest = next((change for change in changes if change.entry == entry), None)
    is_one = newest and newest.state == "conflict" and newest.kind in ("edit", "merge")
    return newest if is_one else None


def _spans(older: ShownMemory | None, line: ShownMemory) -> list[Span]:
    return differences(older.content, line.content) if older else [Span("same", line.content)]


_SHOWN_FIELDS = ("tags", "keywords", "type", "importance", "scope", "is_pinned", "expires")


def _changed_fields(older: ShownMemory, line: ShownMemory) -> list[tuple[str, str]]:
    return [
        (name, _value(getattr(line, name))) for name in _SHOWN_FIELDS if getattr(older, name) != getattr(line, name)
    ]


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(each) for each in value) or "–"
    return ("+" if value else "–") if isinstance(value, bool) else str(value)


def _shown_turn(turn: SourceTurn) -> ShownTurn:
    line = turn.line
    if line is None:
        return ShownTurn(turn.id, "", 0, "", turn.is_coming)
    at = line.get("at", 0)
    text = cut_html(line_meaning.attributed_text(line), _TURN_BYTES)
    return ShownTurn(turn.id, str(line.get("who", "")), at if isinstance(at, int) else 0, text, is_coming=False)


def listed_words(words: str) -> tuple[str, ...]:
    """Split a form field at its commas."""
    return tuple(word.strip() for word in words.split(",") if word.strip())


def plain_text(text: str) -> str:
    """Normalize the text of a form field for a memory."""
    return text.replace("\r\n", "\n").strip()


def make_router(page: Page, overviews: BoardOverviews, services: MemoryServices) -> APIRouter:
    """Make the routes."""
    changes = services.changes
    router = page.router()
    memories = MemoryView(page, overviews, services)

    @router.get(_BASE, openapi_extra=view())
    async def memory(request: Request, device: DeviceName, entry: EntryId) -> Response:
        return await memories.show(request, device, entry)

    @router.post(_BASE + "/edit", openapi_extra=view(form=True))
    async def edit(
        device: DeviceName,
        entry: EntryId,
        key: Key,
        was: Was,
        text: Text = "",
        tags: Words = "",
        keywords: Words = "",
        type: Annotated[str, Form(max_length=40)] = "",
        importance: Annotated[float | None, Form(ge=0, le=1)] = None,
    ) -> Response:
        wanted = MemoryEdit(
            plain_text(text), listed_words(tags) or None, listed_words(keywords), type or None, importance
        )
        await changes.edit(device, entry, was, await memories.without_unchanged(device, entry, was, wanted), key)
        return memories.after(device, entry)

    @router.post(_BASE + "/pin", openapi_extra=view(form=True))
    async def pin(
        device: DeviceName, entry: EntryId, key: Key, pinned: Annotated[str, Form(max_length=10)] = ""
    ) -> Response:
        await changes.pin(device, entry, key, is_pinned=bool(pinned))
        return memories.after(device, entry)

    @router.post(_BASE + "/forget", openapi_extra=view(form=True))
    async def forget(
        device: DeviceName, entry: EntryId, key: Key, was: Was, turns: Annotated[str, Form(max_length=10)] = ""
    ) -> Response:
        await changes.forget(device, entry, was, key, with_turns=bool(turns))
        return RedirectResponse(f"/boards/{device}/memories#changes", _SEE_OTHER)

    _add_undoing(router, memories, changes)
    return router


def _add_undoing(router: APIRouter, memories: MemoryView, changes: MemoryChanges) -> None:
    @router.post(_BASE + "/undo-newest", openapi_extra=view(form=True))
    async def undo_newest(device: DeviceName, entry: EntryId, key: Key, was: Was) -> Response:
        await changes.undo_newest(device, entry, was, key)
        return memories.after(device, entry)

    @router.post(_BASE + "/undo", openapi_extra=view(form=True))
    async def undo_entry(
        device: DeviceName, entry: EntryId, key: Key, was: Was, message: Annotated[str, Form(pattern=ID_PATTERN)]
    ) -> Response:
        await changes.undo_newest(device, entry, was, key)
        return RedirectResponse(f"/boards/{device}/chat#{quote(message)}", _SEE_OTHER)

    @router.post("/boards/{device}/changes/{do}", openapi_extra=view(form=True))
    async def change(
        device: DeviceName,
        do: Annotated[str, Path(pattern="^(undo|cancel)$")],
        key: Key,
        id: Annotated[str, Form(pattern=ID_PATTERN)],
        back: Annotated[str, Form(pattern=r"^(m[0-9]{1,9})?$")] = "",
    ) -> Response:
        if do == "undo":
            await changes.undo(device, id, key)
        else:
            await changes.cancel(device, id)
        return RedirectResponse(f"/boards/{device}/memories{'/' if back else ''}{quote(back)}#changes", _SEE_OTHER)
