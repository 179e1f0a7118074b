"""Deliveries to the chats of one bridge: each streams an answer while it is made, and is retried until its chat has it.

Deliveries of a chat and board come one after the other.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from weakref import WeakValueDictionary

from engram.text.cutting import open_fence
from engram_host.companion.bridges.errors import SendFailed, SendRefused, SlowDown
from engram_host.companion.bridges.network import Network
from engram_host.companion.conversations.chat_messages import HELP
from engram_host.companion.conversations.display import LEFT_OUT, TYPING_SECONDS, Display, Dropped, Outlet
from engram_host.companion.conversations.service import ConversationService, Progress
from engram_host.companion.errors import StoreUnavailable, UnknownConversation
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.types import ChatPlace, Delivery, DeliveryEnd
from engram_host.companion.supervisor import Backoff, TaskSet, Wakers, describe_error, wait_for_event
from engram_host.companion.types import Conversation, Piece

_log = logging.getLogger("engram.bridges")

STOP_SECONDS = 3.0

MOST_FAILURES = 5

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0

STORE_SECONDS = 5.0

_BACK = "back"

FIRST_SECONDS = 0.7

GROUP_TIMES = 3

PARAGRAPH_SECONDS = 1.0

RETRY_SECONDS = 5.0

FOREVER = 1e9

MOST_BYTES = 100_000

NOTHING = "(The answer is empty.)"
CANCELLED = "(The answer was cancelled.)"
GONE = "(The answer is not kept any more: ask again.)"
_SIGNS = {"notice": "· ", "problem": "! "}
_ASIDE = ('{"recalled":', '{"working":')  # reports of a turn


class Lanes:
    """Retries each delivery until its chat has it, or never will."""

    def __init__(
        self,
        bridge: str,
        network: Network,
        store: DeliveryTable,
        conversations: ConversationService,
        may_hear: Callable[[Delivery], Awaitable[bool]],
        on_sent: Callable[[], None],
    ):
        self._bridge = bridge
        self._network = network
        self._store = store
        self._conversations = conversations
        self._may_hear = may_hear
        self._on_sent = on_sent
        self._back = Wakers()
        self._lanes: dict[tuple[ChatPlace, str], deque[Delivery]] = {}
        self._numbers: set[int] = set()
        self._outlets: WeakValueDictionary[str, Outlet] = WeakValueDictionary()
        self._tasks = TaskSet(f"a delivery of the bridge {bridge}")
        self._calls = TaskSet(f"a call of the bridge {bridge}")
        self._is_stopping = False

    @property
    def owed(self) -> int:
        return len(self._numbers)

    def retry_now(self) -> None:
        self._back.wake(_BACK)

    def add(self, delivery: Delivery) -> None:
        if delivery.number in self._numbers or self._is_stopping:
            return
        self._numbers.add(delivery.number)
        lane = delivery.place, "" if delivery.text else delivery.device
        waiting = self._lanes.get(lane)
        if waiting is None:
            self._lanes[lane] = deque([delivery])
            self._tasks.begin(self._run(lane))
        else:
            waiting.append(delivery)

    async def stop(self) -> None:
        self._is_stopping = True
        await self._tasks.stop()
        await self._calls.stop(STOP_SECONDS)

    async def _run(self, lane: tuple[ChatPlace, str]) -> None:
        waiting = self._lanes[lane]
        try:
            while waiting:
                await self._deliver(waiting[0])
                self._numbers.discard(waiting.popleft().number)
        finally:
            del self._lanes[lane]
            self._numbers.difference_update(delivery.number for delivery in waiting)

    async def _deliver(self, first: Delivery) -> None:
        chat = first.place.chat
        outlet = self._outlets.setdefault(chat, Outlet(self._network, self._calls, self._on_sent))
        backoff, failures = Backoff(FIRST_PAUSE, LONGEST_PAUSE), 0
        delivery: Delivery | None = first
        while delivery and (error := await self._attempt(delivery, outlet)):
            pause = error.retry_after if isinstance(error, SlowDown) else backoff.next()
            if isinstance(error, (SendFailed, StoreUnavailable)):
                _log.info("a delivery waits: %s", error, extra={"repeat": "deliveries"})
            else:
                failures += 1
                _log.error("the bridge %s failed to deliver: %s", self._bridge, describe_error(error))
            delivery = await self._read_again(delivery.number, pause, failures)

    async def _attempt(self, delivery: Delivery, outlet: Outlet) -> BaseException | None:
        # A task of its own: a library may raise whatever it likes, and even cancel its caller.
        task = asyncio.get_running_loop().create_task(self._deliver_once(delivery, outlet))
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await asyncio.wait([task])
        return asyncio.CancelledError() if task.cancelled() else task.exception()

    async def _deliver_once(self, delivery: Delivery, outlet: Outlet) -> None:
        async def may_send() -> bool:
            current = await asyncio.to_thread(self._store.open_delivery, delivery.number)
            return current is not None and await self._may_hear(delivery)

        if end := await Deliverer(self._store, self._conversations, outlet, delivery, may_send).run():
            await asyncio.to_thread(self._store.end_delivery, delivery.number, end, int(time.time()))

    async def _read_again(self, number: int, pause: float, failures: int) -> Delivery | None:
        """Read a delivery after a pause; None if it is over, or failed too often."""
        while True:
            with self._back.waiting(_BACK) as event:
                await wait_for_event(event, pause)
            try:
                if failures < MOST_FAILURES:
                    return await asyncio.to_thread(self._store.open_delivery, number)
                _log.error("bridge %s: giving up on a delivery", self._bridge)
                await asyncio.to_thread(self._store.end_delivery, number, "refused", int(time.time()))
                return None
            except StoreUnavailable:
                pause = STORE_SECONDS


class Deliverer:
    """One attempt at a delivery, which continues where the last one stopped."""

    def __init__(
        self,
        store: DeliveryTable,
        conversations: ConversationService,
        outlet: Outlet,
        delivery: Delivery,
        may_send: Callable[[], Awaitable[bool]],
    ):
        self._store = store
        self._conversations = conversations
        self._outlet = outlet
        self._delivery = delivery
        self._may_send = may_send
        self._text = AnswerText()
        self._changed = asyncio.Event()
        self._ended: Conversation | None = None
        self._away = ""
        self._is_dirty = False
        self._show_at = self._type_at = 0.0
        self._has_typed = False

    async def run(self) -> DeliveryEnd | None:
        """Deliver and return the outcome, or None on shutdown. Raise StoreUnavailable or SendFailed."""
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
        await self._display(is_plain=False).show(text.encode(), is_over=True)
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
        return Display(self._store, self._outlet, self._delivery, self._may_send, is_plain=is_plain)

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
        tail = HELP if self._ended.said.is_command and self._ended.said.text == "/help" else ""
        self._text.end(tail, CANCELLED if self._ended.state == "cancelled" else NOTHING)
        await display.show(bytes(self._text.data), is_over=True)
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
        has_typing = self._outlet.features.has_typing
        return has_typing and not self._away and not self._text.data and not display.has_begun

    async def _tell(self, display: Display) -> None:
        try:
            await display.tell(self._away)
        except SendFailed as problem:
            _log.info("a chat was not told that its message waits: %s", problem)

    async def _show_now(self, display: Display) -> None:
        pause = self._outlet.features.edit_seconds or PARAGRAPH_SECONDS
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


# --- the text of an answer


class AnswerText:
    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.data = bytearray()
        self._closed = 0  # up to here no fence is left open
        self._last = ""
        self._is_full = False
        self._reports: list[str] = []

    def add(self, piece: Piece) -> None:
        if piece.kind == "again":
            self._reset()
        elif piece.kind == "report":
            # Only programs get reports; those of a turn are not shown in chats.
            self._reports += [] if piece.text.startswith(_ASIDE) else [piece.text]
        elif not self._is_full:
            self._add(piece.kind, piece.text)

    def end(self, tail: str = "", if_empty: str = NOTHING) -> None:
        if not self.data.strip():
            self.data.clear()
            self._add("line", "\n".join(map(_in_words, self._reports)) or tail or if_empty)
        elif tail and not self._is_full:
            self._add("line", tail)

    def _add(self, kind: str, text: str) -> None:
        before = self._last
        if kind == "text":
            text = text if self.data else text.lstrip()
            if not text:
                return
            mark = "\n\n" if before not in ("", "text") else ""
        elif before == "text":
            closing = _closing(self.data[self._closed :])
            self._closed = len(self.data) + len(closing)
            mark = closing + "\n\n"
        else:
            mark = "\n" if self.data else ""
        self._append(mark + _SIGNS.get(kind, "") + text)
        self._last = kind

    def _append(self, text: str) -> None:
        data = text.encode()
        if len(self.data) + len(data) > MOST_BYTES:
            self._is_full = True
            self.data += data[: MOST_BYTES - len(self.data)].decode(errors="ignore").encode()
            data = (_closing(self.data) + "\n\n" + LEFT_OUT).encode()
        self.data += data


def _closing(data: bytearray) -> str:
    fence, _ = open_fence(bytes(data))
    return "\n" + fence.decode() if fence else ""


def _in_words(report: str) -> str:
    try:
        fields = json.loads(report)
    except ValueError:
        return report
    if not isinstance(fields, dict):
        return report
    return ", ".join(f"{name}: {value}" for name, value in fields.items() if value not in ("", [], {}, None))
