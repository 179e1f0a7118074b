"""One memory: text, provenance, history, forms to change it on the board, and its merge with another one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Form, Query, Request, Response

from engram.memory import line_meaning
from engram.memory.records.fields import SOURCES, TYPES
from engram_host.companion.api.chat import ID_PATTERN
from engram_host.companion.api.copies import DeviceName
from engram_host.companion.api.memories import MemoryId
from engram_host.companion.app import CompanionApp
from engram_host.companion.errors import MemoryNotChangeable
from engram_host.companion.memories.browse import MemoryDetail, SourceTurn
from engram_host.companion.memories.commands import MemoryChange, MemoryEdit, is_newest_undoable
from engram_host.companion.page.formatting import Span, cut_html, differences, part_bytes, take_fitting
from engram_host.companion.page.page import Page, Views, redirect
from engram_host.companion.page.views.memory_list import Key, ShownMemory, is_leaving, listed, new_key, shown_memory
from engram_host.time_zones import BoardZone

HISTORY_BYTES = 20000
"""HTML of the versions shown; the API and the command line have earlier ones."""

_TURN_BYTES = 1000
_TURNS = 8
_CHANGES = 8
_MOST_TEXT = 8000
_MOST_FIND = 200
_BASE = "/boards/{device}/memories/{entry}"
Was = Annotated[int, Form(ge=1, le=1 << 40)]
Words = Annotated[str, Form(max_length=1000)]
Text = Annotated[str, Form(max_length=_MOST_TEXT)]


@dataclass(frozen=True)
class ShownTurn:
    id: str
    who: str
    at: int
    text: str
    is_coming: bool


def add_memory_views(views: Views, page: Page, companion: CompanionApp) -> None:
    browser, changes = companion.memories.browser, companion.memories.changes
    _add_changes(views, companion)
    _add_merge(views, page, companion)

    @views.get(_BASE)
    async def memory(request: Request, device: DeviceName, entry: MemoryId) -> Response:
        board = await companion.overviews.summary(device)
        # Changes first: if the copy follows in between it counts as behind, and is polled again.
        asked_for = await changes.newest(device, _CHANGES, entry)
        found = await browser.detail(device, entry)
        conflict = _conflict(asked_for, entry)
        line = shown_memory(found.entry.line)
        versions = take_fitting(_versions(page, request, found, board.zone), HISTORY_BYTES, part_bytes)
        is_behind = any(each.is_behind and each.entry == entry and each.state == "done" for each in asked_for)
        return page.render(
            request,
            "memory.html",
            board=board,
            device=device,
            found=found,
            entry=found.entry,
            line=line,
            versions=versions,
            has_more=len(versions) < len(found.versions) or found.has_more,
            turns=[_shown_turn(turn) for turn in found.turns[:_TURNS]],
            more_turns=max(0, len(found.turns) - _TURNS),
            changes=asked_for,
            conflict=conflict,
            difference=differences(line.content, conflict.text) if conflict else [],
            draft=conflict.text if conflict else line.content,
            is_undoable=is_newest_undoable(found.entry, asked_for),
            is_behind=is_behind or is_leaving(asked_for, entry),
            types=TYPES,
            sources=SOURCES,
            key=new_key(),
            most=_MOST_TEXT,
        )

    @views.form(_BASE + "/edit")
    async def edit(
        device: DeviceName,
        entry: MemoryId,
        key: Key,
        was: Was,
        text: Text = "",
        tags: Words = "",
        keywords: Words = "",
        type: Annotated[str, Form(max_length=40)] = "",
        importance: Annotated[float | None, Form(ge=0, le=1)] = None,
    ) -> Response:
        wanted = MemoryEdit(
            _plain(text), _listed_words(tags) or None, _listed_words(keywords), type or None, importance
        )
        found = await browser.detail(device, entry)
        read = next((line for line in found.versions if line["seq"] == was), None)
        await changes.edit(device, entry, was, _without_unchanged(wanted, shown_memory(read)) if read else wanted, key)
        return _after(device, entry)


def _without_unchanged(edit: MemoryEdit, shown: ShownMemory) -> MemoryEdit:
    """Drop fields unchanged in the form, which may have cut or split keywords."""
    return MemoryEdit(
        None if edit.text == _plain(shown.content) else edit.text,
        None if edit.tags == _listed_words(", ".join(shown.tags)) else edit.tags,
        None if edit.keywords == _listed_words(", ".join(shown.keywords)) else edit.keywords,
        None if edit.type == shown.type else edit.type,
        None if edit.importance == shown.importance else edit.importance,
    )


def _versions(page: Page, request: Request, found: MemoryDetail, zone: BoardZone) -> Iterator[str]:
    versions = [shown_memory(line) for line in found.versions]
    for line, older in zip_longest(versions, versions[1:]):
        spans = differences(older.content, line.content) if older else [Span("same", line.content)]
        changed = _changed_fields(older, line) if older else ()
        yield page.part(request, "parts/version.html", version=line, changed=changed, spans=spans, zone=zone)


def _conflict(changes: Sequence[MemoryChange], entry: str) -> MemoryChange | None:
    """Return the newest change if it is an edit that the board refused for another version."""
    newest = next((change for change in changes if change.entry == entry), None)
    is_one = newest and newest.state == "conflict" and newest.kind in ("edit", "merge")
    return newest if is_one else None


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


def _listed_words(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _after(device: str, entry: str) -> Response:
    return redirect(f"/boards/{device}/memories/{entry}#changes")


def _add_changes(views: Views, companion: CompanionApp) -> None:
    changes = companion.memories.changes

    @views.form(_BASE + "/pin")
    async def pin(
        device: DeviceName, entry: MemoryId, key: Key, pinned: Annotated[str, Form(max_length=10)] = ""
    ) -> Response:
        await changes.pin(device, entry, key, is_pinned=bool(pinned))
        return _after(device, entry)

    @views.form(_BASE + "/forget")
    async def forget(
        device: DeviceName, entry: MemoryId, key: Key, was: Was, turns: Annotated[str, Form(max_length=10)] = ""
    ) -> Response:
        await changes.forget(device, entry, was, key, with_turns=bool(turns))
        return redirect(f"/boards/{device}/memories#changes")

    @views.form(_BASE + "/undo")
    async def undo_entry(
        device: DeviceName,
        entry: MemoryId,
        key: Key,
        was: Was,
        message: Annotated[str, Form(pattern=ID_PATTERN.replace("{1,", "{0,"))] = "",
    ) -> Response:
        await changes.undo_newest(device, entry, was, key)
        return redirect(f"/boards/{device}/chat#{quote(message)}") if message else _after(device, entry)

    @views.form("/boards/{device}/changes/{do}")
    async def change(
        device: DeviceName,
        do: Literal["undo", "cancel"],
        key: Key,
        id: Annotated[str, Form(pattern=ID_PATTERN)],
        back: Annotated[str, Form(pattern=r"^(m[0-9]{1,9})?$")] = "",
    ) -> Response:
        if do == "undo":
            await changes.undo(device, id, key)
        else:
            await changes.cancel(device, id)
        return redirect(f"/boards/{device}/memories{'/' if back else ''}{quote(back)}#changes")


# --- merge


def _add_merge(views: Views, page: Page, companion: CompanionApp) -> None:
    services = companion.memories

    @views.get(_BASE + "/merge")
    async def ask_merge(
        request: Request,
        device: DeviceName,
        entry: MemoryId,
        other: Annotated[str, Query(pattern=r"^ ?(m[0-9]{1,9})? ?$")] = "",
        find: Annotated[str, Query(max_length=_MOST_FIND)] = "",
    ) -> Response:
        kept = await services.browser.detail(device, entry)
        if not other.strip():
            similar = await services.find_similar(device, kept.entry, find.strip()) if kept.is_changeable else []
            return page.render(
                request,
                "memory_merge_pick.html",
                device=device,
                kept=kept,
                line=shown_memory(kept.entry.line),
                find=find.strip(),
                similar=[listed(each.id, each.state, each.line) for each in similar],
                most=_MOST_FIND,
            )
        if entry == other.strip():
            raise MemoryNotChangeable(entry, "same_memory")
        gone = await services.browser.detail(device, other.strip())
        lines = [shown_memory(each.entry.line) for each in (kept, gone)]
        texts = [line.content for line in lines]
        draft = texts[0] if texts[1] in texts[0] else texts[1] if texts[0] in texts[1] else "\n".join(texts)
        return page.render(
            request,
            "memory_merge.html",
            device=device,
            kept=kept,
            gone=gone,
            kept_line=lines[0],
            gone_line=lines[1],
            draft=draft,
            tags=list(dict.fromkeys(lines[0].tags + lines[1].tags))[:3],
            key=new_key(),
            most=_MOST_TEXT,
        )

    @views.form(_BASE + "/merge")
    async def merge(
        device: DeviceName,
        entry: MemoryId,
        key: Key,
        was: Was,
        other: Annotated[str, Form(pattern=r"^m[0-9]{1,9}$")],
        other_was: Was,
        text: Text = "",
        tags: Words = "",
    ) -> Response:
        wanted = MemoryEdit(_plain(text), _listed_words(tags) or None)
        await services.changes.merge(device, entry, was, other, other_was, wanted, key)
        return _after(device, entry)
