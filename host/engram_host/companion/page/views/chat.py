"""Chat with a board: messages and answers, newest last, and a form.

Without the script a message is saved and shown with its state; with it the answer is streamed,
then replaced by the server's rendered Markdown.
"""

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import quote

from fastapi import Form, Query, Request, Response
from fastapi.responses import HTMLResponse

from engram.channels.console.commands import commands
from engram.memory import access
from engram_host.companion.api.chat import ID_PATTERN
from engram_host.companion.api.copies import DeviceName
from engram_host.companion.app import CompanionApp
from engram_host.companion.conversations.service import MOST_CHARACTERS, Answer, Exchange
from engram_host.companion.memories.exchanges import NOTHING, ExchangeMemory
from engram_host.companion.page.formatting import cut_html, part_bytes, take_fitting
from engram_host.companion.page.page import Page, Views, is_part, redirect
from engram_host.companion.page.views.memory_list import new_key
from engram_host.companion.store.boards.table import BoardQuery
from engram_host.companion.store.media import StoredMedia
from engram_host.companion.types import Said

ROOM = "page"
PRINCIPAL = "owner"

AT_ONCE = 30

MOST_BYTES = 36000
"""HTML of a view's messages; the next view has earlier ones."""

_CUT = 4000
"""Characters of an answer in a list; its own view has all."""

_COMMANDS = [(f"/{name}", f"/{name} {usage}".strip(), purpose) for name, usage, purpose in commands()]
_SESSIONS = 20
_SETTLING_SECONDS = 60
_MOST_WHOLE = 20000
_MEMORY_BYTES = 240

FormId = Annotated[str, Form(pattern=ID_PATTERN)]


@dataclass(frozen=True)
class ShownExchange:
    exchange: Exchange
    told: str
    is_cut: bool
    memory: ExchangeMemory
    key: str

    @property
    def is_settling(self) -> bool:
        message = self.exchange.message
        if message.is_open or message.is_push:
            return False
        is_changing = any(each.change and each.change.state == "waiting" for each in self.memory.remembered)
        return is_changing or time.time() - message.changed < _SETTLING_SECONDS


class _Exchanges:
    def __init__(
        self, page: Page, companion: CompanionApp, memory: Mapping[str, ExchangeMemory], media: dict[str, StoredMedia]
    ):
        self._page = page
        self._conversations = companion.conversations
        self._memory = memory
        self._media = media
        self.session = next((each.session for each in memory.values()), "")

    async def render(self, request: Request, exchange: Exchange, most: int = _CUT) -> tuple[str, bool]:
        """Return the HTML of a message with at most so many characters of its answer; True if it is cut."""
        message, answer = exchange.message, exchange.answer
        lines = list(_cut_lines(answer.lines, most))
        is_cut = len(answer.text) > most or len(lines) < len(answer.lines)
        cut = Answer(answer.text[:most], answer.notices[:20], lines, answer.problems[:20], last=answer.last)
        told = await self._conversations.why_waiting(message)
        memory = _cut_memory(self._memory.get(message.said.mid, NOTHING))
        shown = ShownExchange(replace(exchange, answer=cut), told, is_cut, memory, new_key())
        device = message.device
        part = self._page.part(request, "parts/exchange.html", device=device, shown=shown, known_media=self._media)
        return part, is_cut

    async def render_whole(self, request: Request, exchange: Exchange) -> tuple[str, bool]:
        most = _MOST_WHOLE
        while True:
            part, is_cut = await self.render(request, exchange, most)
            if part_bytes(part) <= MOST_BYTES or most <= _CUT:
                return part, is_cut
            most //= 2


def _cut_lines(lines: Iterable[str], most: int) -> Iterator[str]:
    for line in lines:
        most -= len(line) + 1
        if most < 0:
            return
        yield line


def _cut_memory(found: ExchangeMemory) -> ExchangeMemory:
    return replace(
        found,
        recalled=tuple(replace(each, text=cut_html(each.text, _MEMORY_BYTES)) for each in found.recalled),
        remembered=tuple(replace(each, text=cut_html(each.text, _MEMORY_BYTES)) for each in found.remembered),
    )


def add_chat_views(views: Views, page: Page, companion: CompanionApp) -> None:
    conversations, chat = companion.conversations, _Chat(page, companion)
    _add_forms(views, chat, companion)

    @views.get("/chat")
    async def choose(request: Request, find: Annotated[str, Query(max_length=64)] = "") -> Response:
        found = await companion.overviews.list(BoardQuery(find.strip(), "-heard"))
        if found.total == 1 and not find.strip():
            return redirect(f"/boards/{found.boards[0].name}/chat")
        return page.render(request, "chat_boards.html", found=found, find=find.strip())

    @views.get("/boards/{device}/chat")
    async def conversation(
        request: Request, device: DeviceName, before: Annotated[int, Query(ge=0, le=1 << 60)] = 0
    ) -> Response:
        board = await companion.overviews.summary(device)
        found = await conversations.exchanges(device, AT_ONCE, before, ROOM)
        shown = await chat.exchanges(device, found)
        rendered = [(await shown.render(request, exchange))[0] for exchange in found]
        parts = take_fitting(rendered, MOST_BYTES, part_bytes)
        has_older = len(parts) < len(found) or len(found) == AT_ONCE
        return page.render(
            request,
            "chat.html",
            board=board,
            device=device,
            parts=list(reversed(parts)),
            older=found[len(parts) - 1].message.number if has_older else 0,
            before=before,
            sessions=await companion.memories.sessions.newest(device, access.own_scope(access.OWNER), _SESSIONS),
            session=shown.session,
            commands=_COMMANDS,
            new_id=f"page:{secrets.token_hex(8)}",
            most=MOST_CHARACTERS,
        )

    @views.get("/boards/{device}/chat/message")
    async def message(request: Request, device: DeviceName, id: Annotated[str, Query(pattern=ID_PATTERN)]) -> Response:
        return await chat.show_message(request, device, id)


class _Chat:
    def __init__(self, page: Page, companion: CompanionApp):
        self._page = page
        self._companion = companion

    async def exchanges(self, device: str, found: Sequence[Exchange]) -> _Exchanges:
        memory = await self._companion.memories.exchanges.of_exchanges(device, found)
        media = await self._companion.media.named_in(device, (each.message.said.text for each in found))
        return _Exchanges(self._page, self._companion, memory, media)

    async def show_message(self, request: Request, device: str, mid: str) -> Response:
        exchange = await self._companion.conversations.exchange(device, mid)
        shown = await self.exchanges(device, [exchange])
        if is_part(request):
            return HTMLResponse((await shown.render(request, exchange))[0])
        part, is_cut = await shown.render_whole(request, exchange)
        return self._page.render(request, "chat_message.html", device=device, part=part, is_cut=is_cut)

    async def after_form(self, request: Request, device: str, mid: str) -> Response:
        if is_part(request):
            return await self.show_message(request, device, mid)
        return redirect(f"/boards/{device}/chat#{quote(mid)}")


def _add_forms(views: Views, chat: _Chat, companion: CompanionApp) -> None:
    conversations = companion.conversations

    async def put(request: Request, device: str, mid: str, text: str) -> Response:
        content = text.replace("\r\n", "\n").strip()
        is_command = content.startswith("/") and "\n" not in content
        await conversations.say(device, Said(mid, PRINCIPAL, content, ROOM, is_command=is_command))
        return await chat.after_form(request, device, mid)

    @views.form("/boards/{device}/chat")
    async def say(request: Request, device: DeviceName, id: FormId, text: Annotated[str, Form()] = "") -> Response:
        return await put(request, device, id, text)

    @views.form("/boards/{device}/chat/session")
    async def session(
        request: Request,
        device: DeviceName,
        id: FormId,
        to: Annotated[str, Form(pattern=r"^(s[0-9]{1,10})?$")] = "",
        title: Annotated[str, Form(max_length=60)] = "",
    ) -> Response:
        return await put(
            request, device, id, f"/session switch {to}" if to else f"/session new {' '.join(title.split())}"
        )

    @views.form("/boards/{device}/chat/cancel")
    async def cancel(request: Request, device: DeviceName, id: FormId) -> Response:
        await conversations.cancel(device, id)
        return await chat.after_form(request, device, id)
