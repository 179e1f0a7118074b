"""Delivery of an answer to a chat: streams it while it is made and retries until it arrives."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from engram_host.companion.bridge_types import Delivery, DeliveryEnd
from engram_host.companion.bridges.errors import SendFailed, SendRefused, SendUncertain, SlowDown
from engram_host.companion.bridges.network import Features
from engram_host.companion.conversations.outlet import TYPING_SECONDS, Outlet
from engram_host.companion.conversations.rendering.answer_text import CANCELLED, GONE, NOTHING, AnswerText
from engram_host.companion.conversations.rendering.display import Display, Dropped
from engram_host.companion.conversations.service import ConversationService, Progress
from engram_host.companion.conversations.wakers import wait_for_event
from engram_host.companion.errors import UnknownConversation
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.types import Conversation, Piece

_log = logging.getLogger("engram.bridges")

FIRST_SECONDS = 0.7

GROUP_TIMES = 3
"""Factor for edit intervals in groups, where networks have lower limits."""

PARAGRAPH_SECONDS = 1.0

RETRY_SECONDS = 5.0

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0

FOREVER = 1e9


class RetryWait(Protocol):
    async def __call__(self, seconds: float) -> None: ...


class Deliverer:
    def __init__(
        self,
        store: DeliveryTable,
        conversations: ConversationService,
        outlet: Outlet,
        features: Features,
        delivery: Delivery,
        wait_to_retry: RetryWait,
        may_send: Callable[[], Awaitable[bool]],
        tail_of: Callable[[Conversation], str] = lambda conversation: "",
    ):
        self._store = store
        self._conversations = conversations
        self._outlet = outlet
        self._features = features
        self._delivery = delivery
        self._wait_to_retry = wait_to_retry
        self._may_send = may_send
        self._tail_of = tail_of
        self._text = AnswerText()
        self._changed = asyncio.Event()
        self._ended: Conversation | None = None
        self._away = ""
        self._is_dirty = False
        self._show_at = self._type_at = 0.0
        self._has_typed = False

    async def run(self) -> DeliveryEnd | None:
        """Deliver and return the outcome, or None on shutdown. Raise StoreUnavailable."""
        try:
            if self._delivery.text:
                return await self._deliver_text(self._delivery.text)
            return await self._deliver_answer()
        except UnknownConversation:
            return await self._deliver_gone()
        except SendRefused as problem:
            _log.warning("%s will not take an answer: %s", self._delivery.place.bridge, problem)
            return "refused"
        except Dropped as problem:
            _log.info("the bridge %s drops what a chat was owed: %s", self._delivery.place.bridge, problem)
            return "dropped"

    async def _deliver_text(self, text: str) -> DeliveryEnd:
        display = self._display(is_plain=False)
        await self._finish(display, text.encode())
        return "done"

    async def _deliver_gone(self) -> DeliveryEnd:
        _log.info("an answer was not kept until it could be delivered")
        if not self._delivery.shown.messages:
            return await self._deliver_text(GONE)
        try:
            await self._display(is_plain=True).tell(GONE)
        except SendFailed as problem:
            _log.info("a chat was not told so: %s", problem)
        return "done"

    def _display(self, *, is_plain: bool) -> Display:
        return Display(self._store, self._outlet, self._features, self._delivery, self._may_send, is_plain=is_plain)

    async def _deliver_answer(self) -> DeliveryEnd | None:
        found = await self._conversations.find(self._delivery.device, self._delivery.mid)
        display = self._display(is_plain=found.said.is_command)
        reader = asyncio.create_task(self._read(display))
        try:
            await self._stream(display, reader)
            await reader
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
            await self._stop_typing(display)
        if self._ended is None:
            return None
        self._text.end(self._tail_of(self._ended), CANCELLED if self._ended.state == "cancelled" else NOTHING)
        await self._finish(display, bytes(self._text.data))
        return "done"

    # --- while the answer is made

    async def _read(self, display: Display) -> None:
        try:
            async for event in self._conversations.follow_patiently(self._delivery.device, self._delivery.mid):
                if isinstance(event, Piece):
                    self._text.add(event)
                    if event.kind == "again":
                        display.begin_again()
                    self._is_dirty = True
                elif isinstance(event, Progress):
                    self._away = event.told if event.is_away else ""
                    self._ended = None if event.conversation.is_open else event.conversation
                self._changed.set()
        finally:
            self._changed.set()

    async def _stream(self, display: Display, reader: asyncio.Task[None]) -> None:
        while not reader.done():
            now = time.monotonic()
            if self._away:
                await self._tell(display)
            if self._wants_typing(display) and now >= self._type_at:
                self._type_at, self._has_typed = now + TYPING_SECONDS, True
                await self._outlet.show_typing(display.chat, is_typing=True)
            if self._is_dirty and self._text.data and not self._show_at:
                self._show_at = now + FIRST_SECONDS
            if self._is_dirty and self._show_at and now >= self._show_at:
                self._is_dirty = False
                await self._show_now(display)
            await wait_for_event(self._changed, self._seconds_to_wait(display))

    def _seconds_to_wait(self, display: Display) -> float:
        until = [FOREVER]
        if self._is_dirty and self._show_at:
            until.append(self._show_at)
        if self._wants_typing(display):
            until.append(self._type_at)
        return max(0.0, min(until) - time.monotonic())

    def _wants_typing(self, display: Display) -> bool:
        return self._features.has_typing and not self._away and not self._text.data and not display.has_begun

    async def _tell(self, display: Display) -> None:
        try:
            await display.tell(self._away)
        except SendFailed as problem:
            _log.info("a chat was not told that its message waits: %s", problem)

    async def _show_now(self, display: Display) -> None:
        pause = self._features.edit_seconds or PARAGRAPH_SECONDS
        pause *= GROUP_TIMES if display.chat.is_group else 1
        try:
            if self._outlet.pause:
                raise SlowDown(self._outlet.pause)
            await display.show(bytes(self._text.data), is_over=False)
        except SendRefused:
            raise
        except SlowDown as problem:
            pause, self._is_dirty = problem.retry_after, True
        except SendFailed as problem:
            _log.info("a part of an answer is shown later: %s", problem)
            pause, self._is_dirty = RETRY_SECONDS, True
        self._show_at = time.monotonic() + pause

    async def _stop_typing(self, display: Display) -> None:
        if self._has_typed and not display.has_begun:
            await self._outlet.show_typing(display.chat, is_typing=False)

    # --- in the end

    async def _finish(self, display: Display, data: bytes) -> None:
        """Show the whole answer with unlimited retries. Raise SendRefused, Dropped."""
        pause = FIRST_PAUSE
        while True:
            try:
                await display.show(data, is_over=True)
                return
            except SendRefused:
                raise
            except SlowDown as problem:
                await self._wait_to_retry(problem.retry_after)
            except SendUncertain as problem:
                _log.info("nobody knows whether an answer arrived: %s", problem)
                await self._wait_to_retry(pause)
            except SendFailed as problem:
                _log.info("an answer is sent again: %s", problem)
                await self._wait_to_retry(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
