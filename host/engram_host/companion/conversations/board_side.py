"""The boards' side of conversations: messages of engram.link.messages, `listen` to `received`."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from engram import text
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import Head, answer_to, sender_of
from engram_host.companion.store.conversations.table import ConversationTable, Reply
from engram_host.companion.supervisor import Wakers, wait_for_event
from engram_host.companion.types import Conversation, ConversationLimits, PieceKind, Said

MOST_LISTENING = 768

CROWDED_SECONDS = 10

PUSHED = "pushed"

_KINDS = frozenset(get_args(PieceKind)) - {"again"}
_END = "end"
_TURN = re.compile(r"t[0-9]{1,10}")
_NO_ID = "the id of a message has signs that cannot be shown: the board's firmware is at fault."
_NO_ITEM = "a piece of an answer has another form: the board's firmware is at fault."


@dataclass
class _Listener:
    link: int
    n: int
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False

    def end(self) -> None:
        self.is_over = True
        self.wake.set()


class BoardSide:
    def __init__(self, store: ConversationTable, limits: ConversationLimits, changed: Wakers):
        self._store = store
        self._limits = limits
        self._changed = changed
        self._listeners: dict[str, _Listener] = {}
        self._is_stopping = False

    @property
    def listening(self) -> set[str]:
        return set(self._listeners)

    def wake(self, device: str) -> None:
        if listener := self._listeners.get(device):
            listener.wake.set()

    def wake_all(self) -> None:
        for listener in self._listeners.values():
            listener.wake.set()

    def stop(self) -> None:
        self._is_stopping = True
        for listener in self._listeners.values():
            listener.end()

    async def answer(self, device: str, head: Head, body: bytes) -> list[bytes]:
        if not head["mid"].isprintable():
            raise Refused(_NO_ID)
        if head["op"] == "listen":
            return await self._listen(device, head)
        if head["op"] == "reply":
            return [await self._take_reply(device, head, body)]
        return [await self._take_push(device, head)]

    # --- offers to boards

    async def _listen(self, device: str, head: Head) -> list[bytes]:
        listener = _Listener(head["link"], head["n"])
        if former := self._listeners.get(device):
            if (former.link, former.n) > (listener.link, listener.n):
                return [_quiet(head)]
            former.end()
        elif len(self._listeners) >= MOST_LISTENING:
            return await self._offer(device, head) or [_quiet(head, CROWDED_SECONDS)]
        self._listeners[device] = listener
        try:
            return await self._wait(device, head, listener)
        finally:
            if self._listeners.get(device) is listener:
                del self._listeners[device]

    async def _wait(self, device: str, head: Head, listener: _Listener) -> list[bytes]:
        until = time.monotonic() + head["wait"]
        while not listener.is_over:
            if answers := await self._offer(device, head):
                return answers
            left = until - time.monotonic()
            if left <= 0 or self._is_stopping:
                break
            await wait_for_event(listener.wake, left)
        return [_quiet(head)]

    async def _offer(self, device: str, head: Head) -> list[bytes]:
        sender, now = sender_of(head), int(time.time())
        if mid := head["mid"]:
            stops = await asyncio.to_thread(self._store.mark_taken, sender, device, mid, head["turn"], now)
            self._changed.wake((device, mid))
            return [answer_to(head, "cancel", mid=mid)] if stops else []
        found = await asyncio.to_thread(self._store.next_message, sender, device, now)
        return [say(head, found)] if found else []

    # --- messages from boards

    async def _take_reply(self, device: str, head: Head, body: bytes) -> bytes:
        pieces, turn = _parse_items(body)
        reply = Reply(head["offer"], head["k"], pieces, turn is not None, turn or "")
        stops = await asyncio.to_thread(
            self._store.add_reply, sender_of(head), device, head["mid"], reply, self._limits, int(time.time())
        )
        self._changed.wake((device, head["mid"]))
        return answer_to(head, "received", cancel=stops)

    async def _take_push(self, device: str, head: Head) -> bytes:
        said = Said(head["mid"], "", storable(head["text"]), storable(head["room"]))
        await asyncio.to_thread(self._store.add_push, sender_of(head), device, said, int(time.time()))
        self._changed.wake(PUSHED)
        return answer_to(head, "received", cancel=False)


def say(head: Head, found: Conversation) -> bytes:
    said = found.said
    fields: dict[str, Any] = {
        "mid": said.mid,
        "offer": found.offers,
        "room": said.room,
        "principal": said.principal,
        "group": said.is_group,
        "workspace": said.workspace,
        "command": said.is_command,
        "forwarded": said.forwarded,
        "quoted": said.quoted,
        "edits": said.edits,
    }
    return answer_to(head, "say", **fields) + said.text.encode()


def _parse_items(body: bytes) -> tuple[list[tuple[PieceKind, str]], str | None]:
    pieces: list[tuple[PieceKind, str]] = []
    try:
        items = text.loads(body)
    except ValueError:
        raise Refused(_NO_ITEM) from None
    for item in items if isinstance(items, list) else [None]:
        if not isinstance(item, list) or [type(each) for each in item] != [str, str]:
            raise Refused(_NO_ITEM)
        kind, piece = item
        if kind == _END:
            return pieces, piece if _TURN.fullmatch(piece) else ""
        if kind not in _KINDS:
            raise Refused(_NO_ITEM)
        pieces.append((cast(PieceKind, kind), storable(piece)))
    return pieces, None


def storable(text: str) -> str:
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _quiet(head: Head, again: int = 0) -> bytes:
    return answer_to(head, "quiet", again=again)
