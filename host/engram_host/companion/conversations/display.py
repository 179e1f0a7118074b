"""Texts as chats show them: cut into messages, and sent or edited one call at a time.

Where a network allows edits, a message grows until it is full; elsewhere messages are sent whole.
A row is written before each message and gets its id afterwards: a message that may be lost in a
crash is sent again with the same key or with a mark.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, TypeVar

from engram.text.cutting import CLOSING, open_fence, opening_of, place_cut
from engram_host.companion.bridges.errors import MarksRefused, SendFailed, SendRefused, SlowDown
from engram_host.companion.bridges.network import Chat, Features, Network
from engram_host.companion.errors import CompanionError
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.types import Delivery, Shown
from engram_host.companion.supervisor import TaskSet

_log = logging.getLogger("engram.bridges")

Result = TypeVar("Result")

LEFT_OUT = "(The rest is left out here; `engram chat` shows all of an answer.)"

LEAST_UNITS = 120

LONGEST_PAUSE = 3600.0

TYPING_SECONDS = 4.0

MOST_MESSAGES = 40

LATE_SECONDS = 600

AGAIN = "(Sent again: this may have arrived before.)\n"
BEGINS_AGAIN = "(The answer begins again.)\n"
VOID = "(This part is void: the answer began again above.)"

_SIGN_SECONDS = 5.0
_DIGEST_CHARS = 16
_KEY_CHARS = 24
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


# --- messages, in units of a network


@dataclass(frozen=True)
class Part:
    """A message's text and its end offset; nothing is added if `is_whole`."""

    text: str
    upto: int
    is_whole: bool


def next_part(data: bytes, start: int, features: Features, heading: str, *, is_over: bool) -> Part | None:
    opening, rest, end = _rest(data, start, len(data))
    if not rest[len(opening) :].strip():
        return None
    most = max(LEAST_UNITS, features.most_units) - features.count_units(heading)
    if features.count_units(_closed(rest)) > most:
        head, closing, _, _ = place_cut(rest, _byte_offset(rest, most - CLOSING, features))
        return Part(_text(rest[:head] + closing), end - len(rest) + head, True)
    if features.edit_seconds is None and not is_over:
        head = _end_of_paragraphs(rest)
        if not rest[len(opening) : head].strip():
            return None
        return Part(_text(rest[:head]), end - len(rest) + head, True)
    return Part(_closed(rest), end, is_over)  # later text may move this cut


def text_between(data: bytes, start: int, upto: int) -> str:
    return _closed(_rest(data, start, upto)[1])


def _rest(data: bytes, start: int, upto: int) -> tuple[bytes, bytes, int]:
    """Return (reopening marks of code, marks and text from `start`, end offset)."""
    fence, opened = open_fence(data[:start])
    if fence:
        opening = opening_of(data, opened)
        return opening, opening + data[start + (data[start : start + 1] == b"\n") : upto], upto
    between = data[start:upto].lstrip()
    return b"", between, upto


def _closed(data: bytes) -> str:
    fence, _ = open_fence(data)
    return _text(data.rstrip() + (b"\n" + fence if fence else b""))


def _byte_offset(data: bytes, most: int, features: Features) -> int:
    text = data[: 4 * most].decode(errors="ignore")[:most]  # no character has less than a unit
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if features.count_units(text[:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return len(text[:low].encode())


def _end_of_paragraphs(data: bytes) -> int:
    end = data.rfind(b"\n\n")
    while end > 0:
        fence, opened = open_fence(data[:end])
        if not fence:
            return end
        end = data.rfind(b"\n\n", 0, opened + 1)
    return 0


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


# --- what a chat shows


class Outlet:
    """Serial calls into one chat, its threads included, that respect the network's pauses; `calls` outlive callers."""

    def __init__(self, network: Network, calls: TaskSet, on_sent: Callable[[], None]):
        self._network = network
        self._calls = calls
        self._on_sent = on_sent
        self._lock = asyncio.Lock()
        self._not_before = 0.0

    @property
    def features(self) -> Features:
        return self._network.features

    @property
    def pause(self) -> float:
        return max(0.0, self._not_before - time.monotonic())

    async def send(self, chat: Chat, text: str, key: str, reply_to: str, *, is_plain: bool) -> str:
        sent = await self._call(lambda: self._network.send(chat, text, key, reply_to, is_plain))
        self._on_sent()
        return sent

    async def edit(self, chat: Chat, message: str, text: str, *, is_plain: bool) -> None:
        await self._call(lambda: self._network.edit(chat, message, text, is_plain))

    async def show_typing(self, chat: Chat, *, is_typing: bool) -> None:
        try:
            async with asyncio.timeout(_SIGN_SECONDS):
                await self._network.show_typing(chat, is_typing)
        except TimeoutError:
            _log.debug("a typing sign took too long")

    async def complete(self, work: Coroutine[Any, Any, Result]) -> Result:
        return await self._calls.complete(work)

    async def _call(self, call: Callable[[], Awaitable[Result]]) -> Result:
        async with self._lock:
            if pause := self.pause:
                raise SlowDown(pause)
            try:
                return await call()
            except SlowDown as problem:
                self._not_before = time.monotonic() + min(problem.retry_after, LONGEST_PAUSE)
                raise


class Dropped(CompanionError):
    """The delivery is no longer owed."""


class Display:
    def __init__(
        self,
        store: DeliveryTable,
        outlet: Outlet,
        delivery: Delivery,
        may_send: Callable[[], Awaitable[bool]],
        *,
        is_plain: bool,
        now: Callable[[], float] = time.time,
    ):
        self._store = store
        self._outlet = outlet
        self._features = outlet.features
        self._delivery = delivery
        self._may_send = may_send
        self._now = now
        self._is_plain = is_plain
        self._shown = delivery.shown
        self._is_checked = not delivery.shown.upto
        self._replaced = 0
        self._text = ""
        place = delivery.place
        self.chat = Chat(place.chat, place.thread, place.is_group)
        seed = "\0".join((place.bridge, place.chat, delivery.device, delivery.mid))
        self._key = sha256(seed.encode()).hexdigest()[:_KEY_CHARS]

    @property
    def has_begun(self) -> bool:
        return bool(self._shown.messages) or self._shown.is_sending

    @property
    def _can_edit(self) -> bool:
        return self._features.edit_seconds is not None

    def begin_again(self) -> None:
        self._is_checked = not self._shown.upto

    async def show(self, data: bytes, *, is_over: bool) -> None:
        if not self._check(data, is_over=is_over):
            return
        while self._shown.part < MOST_MESSAGES:
            heading = self._next_heading()
            part = self._next_part(data, heading, is_over=is_over)
            if part is None:
                break
            # A stop between a message and its row would leave it doubtful.
            await self._outlet.complete(self._show_part(data, part, heading))
            if not part.is_whole:
                break
            if self._can_edit:
                self._shown = replace(self._shown, part=self._shown.part + 1, start=part.upto, heading="")
                self._text = ""
        if is_over and self._can_edit:
            for message in self._shown.messages[self._shown.part :]:
                await self._marked(lambda plain, id=message: self._outlet.edit(self.chat, id, VOID, is_plain=plain))

    async def tell(self, sentence: str) -> None:
        """Send a remark once, without a retry. Raise SendFailed, Dropped."""
        if not self._shown.is_told:
            await self._require_allowed()
            await self._save(replace(self._shown, is_told=True))
            await self._outlet.send(self.chat, sentence, self._key + "-t", self._reply_to, is_plain=True)

    # --- what comes next

    def _check(self, data: bytes, *, is_over: bool) -> bool:
        shown = self._shown
        if not self._is_checked and len(data) < shown.upto and not is_over:
            return False
        if not self._is_checked and _digest(data[: shown.upto]) != shown.digest:
            heading = "" if self._can_edit else BEGINS_AGAIN
            self._shown = replace(shown, part=0, start=0, upto=0, digest="", heading=heading)
        self._is_checked = True
        return True

    def _next_heading(self) -> str:
        shown, heading = self._shown, self._shown.heading
        if not self.has_begun and not heading:
            heading = _age(self._delivery, self._now())
        is_new = not self._can_edit or shown.part >= len(shown.messages)
        if is_new and shown.is_sending and not self._features.is_repeatable and AGAIN not in heading:
            heading = AGAIN + heading
        return heading

    def _next_part(self, data: bytes, heading: str, *, is_over: bool) -> Part | None:
        shown = self._shown
        if shown.is_sending and self._features.is_repeatable and not self._can_edit and shown.upto:
            return Part(text_between(data, shown.start, shown.upto), shown.upto, True)  # as it was sent with this key
        part = next_part(data, shown.start, self._features, heading, is_over=is_over)
        if part and shown.part == MOST_MESSAGES - 1 and not (is_over and part.upto >= len(data.rstrip())):
            return Part(LEFT_OUT, len(data), True) if part.is_whole else None
        return part

    # --- showing

    async def _show_part(self, data: bytes, part: Part, heading: str) -> None:
        text = heading.replace("\n", self._features.heading_end) + part.text
        await self._require_allowed()
        index = self._shown.part if self._can_edit else len(self._shown.messages)
        if index < len(self._shown.messages) and (text == self._text or await self._edit(index, text)):
            return
        was_sending = self._shown.is_sending
        upto = replace(self._shown, upto=part.upto, digest=_digest(data[: part.upto]), heading=heading, is_sending=True)
        await self._save(upto)
        key = f"{self._key}-{index}" + ("r" * self._replaced if self._can_edit else f"-{upto.digest[:6]}")
        try:
            message = await self._marked(
                lambda plain: self._outlet.send(self.chat, text, key, self._reply_to, is_plain=plain)
            )
        except SendFailed as problem:
            if not problem.is_doubtful:
                await self._save(replace(upto, is_sending=was_sending))
            raise
        done = replace(upto, messages=(*upto.messages, message), is_sending=False)
        if not self._can_edit:
            done = replace(done, part=done.part + 1, start=part.upto, heading="")
        await self._save(done)
        self._text = "" if was_sending and self._features.is_repeatable else text
        if self._can_edit and not self._text:
            await self._edit(index, text)  # a network that knew the key shows the first text

    async def _edit(self, index: int, text: str) -> bool:
        message = self._shown.messages[index]
        try:
            await self._marked(lambda plain: self._outlet.edit(self.chat, message, text, is_plain=plain))
        except SendRefused:
            if self._replaced:
                raise
            self._replaced += 1
            self._shown = replace(self._shown, messages=self._shown.messages[:index])
            return False
        self._text = text
        return True

    async def _marked(self, call: Callable[[bool], Awaitable[Result]]) -> Result:
        """Return call(is_plain); once the network has refused marks, texts go plain."""
        if not self._is_plain:
            try:
                return await call(False)
            except MarksRefused as problem:
                _log.info("a text goes without formatting: %s", problem)
                self._is_plain = True
        try:
            return await call(True)
        except MarksRefused as problem:
            raise SendRefused(str(problem)) from problem

    async def _require_allowed(self) -> None:
        if not await self._may_send():
            raise Dropped("its chat may not have it any more.")

    @property
    def _reply_to(self) -> str:
        is_first = self.chat.is_group and not self._shown.messages
        return self._delivery.message if is_first else ""

    async def _save(self, shown: Shown) -> None:
        if not await asyncio.to_thread(self._store.save_shown, self._delivery.number, shown, int(self._now())):
            raise Dropped("it is owed no more: too much waited for its chat.")
        self._shown = shown


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGEST_CHARS]


def _age(delivery: Delivery, now: float) -> str:
    seconds = int(now) - delivery.at
    if seconds < LATE_SECONDS:
        return ""
    if seconds < _HOUR:
        age = f"{seconds // _MINUTE} min"
    elif seconds < 2 * _DAY:
        age = f"{seconds // _HOUR} h"
    else:
        age = f"{seconds // _DAY} days"
    return f"(An answer from {age} ago.)\n" if delivery.message else f"(From {age} ago.)\n"
