"""Asks the companion for what people say, and has it answered: one message at a time, which outlives the link.

    listen     for some seconds; the message in work, and its turn once it is on flash     say, cancel, quiet
    reply      pieces of the answer, as they come (conversation.py)                           received

What the link loses is no loss: the companion offers a message until it has the end of its answer, and the board knows from
its journal what it has answered already.
"""

import asyncio

from engram import diag
from engram.clock import Backoff, Timeout
from engram.compat import sleep_ms, wait_for_ms
from engram.errors import EngramError, NetError, Refused
from engram.interrupt import start_task, stop_task
from engram.link.conversation import ROOM, Conversation, push
from engram.link.rpc import NoAnswer

_LOOK_MS = const(500)  # between two looks whether the companion has answered the greeting
_SPARE_MS = const(10_000)  # that an answer may take beyond the time that the companion may wait
_SAVED_MS = const(1000)  # in which most messages are on flash: then the companion learns it at once
_FIRST_PAUSE_MS = const(1000)  # before it listens again after a failure; doubles up to the longest
_LONGEST_PAUSE_MS = const(60_000)
_REDELIVERY_MS = const(60_000)  # between two deliveries of kept messages


class InboundMessages:
    """A receiver of people's messages through the companion; find_mode() limits who may be spoken for."""

    def __init__(self, exchange, sync, chat, find_mode):
        self._exchange = exchange
        self._sync = sync
        self._take, self._redeliver = chat
        self._find_mode = find_mode
        self._task = None  # what answers now
        self._asking = None  # what waits for a message
        self._pause_ms = 0  # that it waits before it listens again
        self._backoff = Backoff(_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS)
        self.conversation = None

    async def run(self) -> None:
        self._pause_ms = 0
        self._backoff.reset()
        redelivery = Timeout()
        while not self._exchange.failure:
            if not self._sync.is_greeted or self._find_mode() == "off":
                await sleep_ms(_LOOK_MS)
                continue
            if redelivery.is_over:
                redelivery.begin(_REDELIVERY_MS)
                try:
                    await self._redeliver()
                except (EngramError, MemoryError) as error:
                    diag.warning("companion", "a push is sent later: %s" % error)
            pause_ms, self._pause_ms = self._pause_ms, 0
            await sleep_ms(pause_ms)
            try:
                await sleep_ms(await self._listen())
            except NoAnswer:
                pass  # it was lost on the way: again
            except Refused as error:
                diag.info("companion", "it gives no messages: %s" % error)
                self._pause_ms = error.again_s * 1000 + self._backoff.next_ms()
            except NetError:
                self._pause_ms = self._backoff.next_ms()

    def find_send(self, room: str) -> tuple:
        """Return (send function, room) of a link's room; nothing for a message's id."""
        if not room.startswith(ROOM):
            return None, ""
        return lambda content, turn: push(self._sync, room, content, turn), room

    async def stop(self) -> None:
        await stop_task(self._task)

    async def _listen(self) -> int:
        """Ask for a message; return the ms until the next request."""
        talk = self.conversation
        if talk and not talk.turn:
            try:
                await wait_for_ms(talk.saved.wait(), _SAVED_MS)
            except asyncio.TimeoutError:
                pass  # it waits for its turn
        self._asking = start_task(self._ask)
        try:
            head = await self._asking
        except asyncio.CancelledError:
            if self.conversation or not talk:
                raise
            return 0  # the answer is over: the board is free for the next message
        finally:
            self._asking.cancel()
        talk = self.conversation
        if head["op"] == "say" and not talk:
            self.conversation = Conversation(self._sync, head)
            self._task = start_task(self._answer, self.conversation, head["body"])
        elif head["op"] == "cancel" and talk and head["mid"] == talk.mid:
            talk.cancel()
            await sleep_ms(_LOOK_MS)
        elif head["op"] == "quiet":
            if not talk:
                self._backoff.reset()
            return head["again"] * 1000
        return 0

    async def _ask(self) -> dict:
        talk, transport = self.conversation, self._exchange.transport
        wait = transport.wait_seconds
        fields = {"wait": wait, "mid": talk.mid if talk else "", "turn": talk.turn if talk else ""}
        return await self._exchange.ask("listen", wait * 1000 + _SPARE_MS, send=transport.listen, **fields)

    async def _answer(self, talk, content: str) -> None:
        is_sent = False
        try:
            is_sent = await talk.run(self._take, content, self._find_mode())
        except (EngramError, MemoryError) as error:
            # The companion offers the message again.
            diag.error("companion", "a message was not answered: %s" % error)
        finally:
            if is_sent:
                self._backoff.reset()
            elif not self._exchange.failure:
                self._pause_ms = self._backoff.next_ms()
            self.conversation = self._task = None
            talk.saved.set()
            if self._asking:
                self._asking.cancel()
