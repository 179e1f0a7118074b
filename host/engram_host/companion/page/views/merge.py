"""Merge of two memories: a list of candidates, both side by side, and a form for the merged text."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.errors import UnknownEntry
from engram_host.companion.memories.commands import MemoryEdit
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.page import Page, view
from engram_host.companion.page.views.memories import Key, listed, new_key, shown_memory
from engram_host.companion.page.views.memory import MOST_TEXT, EntryId, Text, Was, Words, listed_words, plain_text

_SEE_OTHER = 303
_MOST_FIND = 200

OtherId = Annotated[str, Query(pattern=r"^ ?(m[0-9]{1,9})? ?$")]


class MergeView:
    """Views of candidates and of the merge."""

    def __init__(self, page: Page, overviews: BoardOverviews, services: MemoryServices):
        self._page = page
        self._overviews = overviews
        self._browser = services.browser
        self._similar = services.similar

    async def pick(self, request: Request, device: str, entry: str, find: str) -> Response:
        board = await self._overviews.summary(device)
        kept = await self._browser.detail(device, entry)
        similar = await self._similar.find(device, kept.entry, find) if kept.is_changeable else []
        return self._page.render(
            request,
            "memory_merge_pick.html",
            page_key="boards",
            board=board,
            device=device,
            kept=kept,
            line=shown_memory(kept.entry.line),
            find=find,
            similar=[listed(each.id, each.state, each.line) for each in similar],
            most=_MOST_FIND,
        )

    async def show(self, request: Request, device: str, entry: str, other: str) -> Response:
        if entry == other:
            raise UnknownEntry(other, "same_memory")
        board = await self._overviews.summary(device)
        kept, gone = await self._browser.detail(device, entry), await self._browser.detail(device, other)
        lines = [shown_memory(each.entry.line) for each in (kept, gone)]
        texts = [line.content for line in lines]
        draft = texts[0] if texts[1] in texts[0] else texts[1] if texts[0] in texts[1] else "\n".join(texts)
        tags = dict.fromkeys(lines[0].tags + lines[1].tags)
        return self._page.render(
            request,
            "memory_merge.html",
            page_key="boards",
            board=board,
            device=device,
            kept=kept,
            gone=gone,
            kept_line=lines[0],
            gone_line=lines[1],
            draft=draft,
            tags=list(tags)[:3],
            key=new_key(),
            most=MOST_TEXT,
        )


def make_router(page: Page, overviews: BoardOverviews, services: MemoryServices) -> APIRouter:
    """Make the routes."""
    router = page.router()
    merges = MergeView(page, overviews, services)
    base = "/boards/{device}/memories/{entry}/merge"

    @router.get(base, openapi_extra=view())
    async def ask_merge(
        request: Request,
        device: DeviceName,
        entry: EntryId,
        other: OtherId = "",
        find: Annotated[str, Query(max_length=_MOST_FIND)] = "",
    ) -> Response:
        if other.strip():
            return await merges.show(request, device, entry, other.strip())
        return await merges.pick(request, device, entry, find.strip())

    @router.post(base, openapi_extra=view(form=True))
    async def merge(
        device: DeviceName,
        entry: EntryId,
        key: Key,
        was: Was,
        other: Annotated[str, Form(pattern=r"^m[0-9]{1,9}$")],
        other_was: Was,
        text: Text = "",
        tags: Words = "",
    ) -> Response:
        wanted = MemoryEdit(plain_text(text), listed_words(tags) or None)
        await services.changes.merge(device, entry, was, other, other_was, wanted, key)
        return RedirectResponse(f"/boards/{device}/memories/{entry}#changes", _SEE_OTHER)

    return router
