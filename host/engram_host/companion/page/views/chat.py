"""Chat with a board: messages and answers, newest last, and a form.

Without the script a message is saved and shown with its state; with it the answer is streamed,
then replaced by the server's rendered Markdown.
"""

import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from engram.channels.console.commands import commands
from engram.memory import access
from engram_host.companion.api.chat import ID_PATTERN
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.conversations.answers import Answer, Exchange
from engram_host.companion.conversations.service import MOST_CHARACTERS, ConversationService
from engram_host.companion.media.service import MediaService
from engram_host.companion.memories.exchanges import NOTHING, ExchangeMemory
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.chat_memory import ShownExchangeMemory, shown_memory_of
from engram_host.companion.page.page import Page, is_part, view
from engram_host.companion.store.media.table import StoredMedia
from engram_host.companion.store.page.types import BoardQuery
from engram_host.companion.types import Said

ROOM = "page"
PRINCIPAL = "owner"

AT_ONCE = 30

MOST_BYTES = 36000
"""HTML of a view's messages; the next view has earlier ones."""

_CUT = 4000
"""Characters of an answer in a list; its own view has all."""

_COMMANDS = [(f"/{name}", f"/{name} {usage}".strip(), purpose) for name, usage, purpose in commands()]
_SEE_OTHER = 303
_SESSIONS = 20
_SETTLING_SECONDS = 60
"""Polling time after an answer: the board learns and copies its memory later."""
_MOST_WHOLE = 20000

FormId = Annotated[str, Form(pattern=ID_PATTERN)]


@dataclass(frozen=True)
class ShownExchange:
    """A message with its shown answer, the reason of its wait, and its memories."""

    exchange: Exchange
    told: str
    is_cut: bool
    memory: ShownExchangeMemory

    @property
    def is_settling(self) -> bool:
        message = self.exchange.message
        if message.is_open or message.is_push:
            return False
        is_changing = any(each.change and each.change.state == "waiting" for each in self.memory.remembered)
        return is_changing or time.time() - message.changed < _SETTLING_SECONDS


class ChatView:
    """Views of conversations with boards."""

    def __init__(
        self,
        page: Page,
        overviews: BoardOverviews,
        conversations: ConversationService,
        memories: MemoryServices,
        media: MediaService,
    ):
        self.page = page
        self._media = media
        self._sessions = memories.sessions
        self._memory = memories.exchanges
        self._overviews = overviews
        self._conversations = conversations

    async def choose(self, request: Request, find: str) -> Response:
        found = await self._overviews.list(BoardQuery(find, "-heard"))
        if found.total == 1 and not find:
            return RedirectResponse(f"/boards/{found.boards[0].row.name}/chat", _SEE_OTHER)
        return self.page.render(request, "chat_boards.html", page_key="chat", found=found, find=find)

    async def conversation(self, request: Request, device: str, before: int) -> Response:
        board = await self._overviews.summary(device)
        found = await self._conversations.exchanges(device, AT_ONCE, before, ROOM)
        memory = await self._memory.of_exchanges(device, found)
        media = await self._media.named_in(device, (each.message.said.text for each in found))
        parts: list[str] = []
        size = 0
        for exchange in found:
            part = self._part(request, device, await self._shown(exchange, _CUT, memory), media)
            size += len(part.encode())
            if parts and size > MOST_BYTES:
                break
            parts.append(part)
        has_older = len(parts) < len(found) or len(found) == AT_ONCE
        return self.page.render(
            request,
            "chat.html",
            page_key="chat",
            board=board,
            device=device,
            parts=list(reversed(parts)),
            older=found[len(parts) - 1].message.number if has_older else 0,
            before=before,
            sessions=await self._sessions.newest(device, access.own_scope(access.OWNER), _SESSIONS),
            session=next((memory[mid].session for each in found if (mid := each.message.said.mid) in memory), ""),
            commands=_COMMANDS,
            new_id=f"page:{secrets.token_hex(8)}",
            most=MOST_CHARACTERS,
        )

    async def message(self, request: Request, device: str, mid: str) -> Response:
        """Show a message with all of its answer that fits; for the script as in the list."""
        exchange = await self._conversations.exchange(device, mid)
        memory = await self._memory.of_exchanges(device, [exchange])
        media = await self._media.named_in(device, [exchange.message.said.text])
        if is_part(request):
            return HTMLResponse(self._part(request, device, await self._shown(exchange, _CUT, memory), media))
        shown, part = await self._whole(request, device, exchange, memory, media)
        return self.page.render(
            request, "chat_message.html", page_key="chat", device=device, part=part, is_cut=shown.is_cut
        )

    async def say(self, device: str, mid: str, text: str) -> None:
        content = text.replace("\r\n", "\n").strip()
        is_command = content.startswith("/") and "\n" not in content
        await self._conversations.say(device, Said(mid, PRINCIPAL, content, ROOM, is_command=is_command))

    async def cancel(self, device: str, mid: str) -> None:
        await self._conversations.cancel(device, mid)

    async def after_form(self, request: Request, device: str, mid: str) -> Response:
        if is_part(request):
            return await self.message(request, device, mid)
        return RedirectResponse(f"/boards/{device}/chat#{quote(mid)}", _SEE_OTHER)

    async def _whole(
        self,
        request: Request,
        device: str,
        exchange: Exchange,
        memory: dict[str, ExchangeMemory],
        media: dict[str, StoredMedia],
    ) -> tuple[ShownExchange, str]:
        most = _MOST_WHOLE
        while True:
            shown = await self._shown(exchange, most, memory)
            part = self._part(request, device, shown, media)
            if len(part.encode()) <= MOST_BYTES or most <= _CUT:
                return shown, part
            most //= 2

    def _part(self, request: Request, device: str, shown: ShownExchange, media: dict[str, StoredMedia]) -> str:
        return self.page.part(request, "parts/exchange.html", device=device, shown=shown, known_media=media)

    async def _shown(self, exchange: Exchange, most: int, memory: dict[str, ExchangeMemory]) -> ShownExchange:
        told = await self._conversations.why_waiting(exchange.message)
        answer = exchange.answer
        lines = list(_cut_lines(answer.lines, most))
        is_cut = len(answer.text) > most or len(lines) < len(answer.lines)
        cut = Answer(answer.text[:most], answer.notices[:20], lines, answer.problems[:20], last=answer.last)
        of_memory = shown_memory_of(memory.get(exchange.message.said.mid, NOTHING))
        return ShownExchange(replace(exchange, answer=cut), told, is_cut, of_memory)


def _cut_lines(lines: Iterable[str], most: int) -> Iterator[str]:
    for line in lines:
        most -= len(line) + 1
        if most < 0:
            return
        yield line


def make_router(
    page: Page,
    overviews: BoardOverviews,
    conversations: ConversationService,
    memories: MemoryServices,
    media: MediaService,
) -> APIRouter:
    """Make the routes."""
    router = page.router()
    chat = ChatView(page, overviews, conversations, memories, media)

    @router.get("/chat", openapi_extra=view())
    async def choose(request: Request, find: Annotated[str, Query(max_length=64)] = "") -> Response:
        return await chat.choose(request, find.strip())

    @router.get("/boards/{device}/chat", openapi_extra=view())
    async def conversation(
        request: Request, device: DeviceName, before: Annotated[int, Query(ge=0, le=1 << 60)] = 0
    ) -> Response:
        return await chat.conversation(request, device, before)

    @router.post("/boards/{device}/chat", openapi_extra=view(form=True))
    async def say(request: Request, device: DeviceName, id: FormId, text: Annotated[str, Form()] = "") -> Response:
        await chat.say(device, id, text)
        return await chat.after_form(request, device, id)

    @router.post("/boards/{device}/chat/session", openapi_extra=view(form=True))
    async def session(
        request: Request,
        device: DeviceName,
        id: FormId,
        to: Annotated[str, Form(pattern=r"^(s[0-9]{1,10})?$")] = "",
        title: Annotated[str, Form(max_length=60)] = "",
    ) -> Response:
        await chat.say(device, id, f"/session switch {to}" if to else f"/session new {' '.join(title.split())}".strip())
        return await chat.after_form(request, device, id)

    @router.post("/boards/{device}/chat/cancel", openapi_extra=view(form=True))
    async def cancel(request: Request, device: DeviceName, id: FormId) -> Response:
        await chat.cancel(device, id)
        return await chat.after_form(request, device, id)

    @router.get("/boards/{device}/chat/message", openapi_extra=view())
    async def message(request: Request, device: DeviceName, id: Annotated[str, Query(pattern=ID_PATTERN)]) -> Response:
        return await chat.message(request, device, id)

    return router
