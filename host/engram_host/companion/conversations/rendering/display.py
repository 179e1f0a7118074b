"""Shows a growing answer in a chat and stores how much of it is shown.

Where a network allows edits, a message grows until it is full; elsewhere messages are sent whole.
A row is written before each message and gets its id afterwards: a message that may be lost in a
crash is sent again with the same key or with a mark.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256

from engram_host.companion.bridge_types import Delivery, Shown
from engram_host.companion.bridges.errors import SendFailed, SendRefused
from engram_host.companion.bridges.network import Chat, Features
from engram_host.companion.conversations.outlet import Marks, Outlet
from engram_host.companion.conversations.rendering.answer_text import LEFT_OUT
from engram_host.companion.conversations.rendering.splitting import Part, next_part, text_between
from engram_host.companion.errors import CompanionError
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.wording import counted

MOST_MESSAGES = 40

LATE_SECONDS = 600

AGAIN = "(Sent again: this may have arrived before.)\n"
BEGINS_AGAIN = "(The answer begins again.)\n"
VOID = "(This part is void: the answer began again above.)"

_DIGEST_CHARS = 16
_KEY_CHARS = 24
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


class Dropped(CompanionError):
    """The delivery is no longer owed."""


class Display:
    def __init__(
        self,
        store: DeliveryTable,
        outlet: Outlet,
        features: Features,
        delivery: Delivery,
        may_send: Callable[[], Awaitable[bool]],
        *,
        is_plain: bool,
        now: Callable[[], float] = time.time,
    ):
        self._store = store
        self._outlet = outlet
        self._features = features
        self._delivery = delivery
        self._may_send = may_send
        self._now = now
        self._marks = Marks(is_plain)
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
            heading, told = await self._next_heading()
            part = self._next_part(data, heading, is_over=is_over)
            if part is None:
                break
            # A stop between a message and its row would leave it doubtful.
            await self._outlet.complete(self._show_part(data, part, heading, told))
            if not part.is_whole:
                break
            if self._can_edit:
                self._shown = replace(self._shown, part=self._shown.part + 1, start=part.upto, heading="")
                self._text = ""
        if is_over and self._can_edit:
            for message in self._shown.messages[self._shown.part :]:
                await self._marks.use(lambda plain, id=message: self._outlet.edit(self.chat, id, VOID, is_plain=plain))

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

    async def _next_heading(self) -> tuple[str, int]:
        """Return (heading of the next message, dropped answers that it reports)."""
        shown, heading, dropped = self._shown, self._shown.heading, 0
        if not self.has_begun and not heading:
            dropped = await asyncio.to_thread(self._store.dropped_answers, self._delivery.place)
            heading = _dropped(dropped) + _age(self._delivery, self._now())
        is_new = not self._can_edit or shown.part >= len(shown.messages)
        if is_new and shown.is_sending and not self._features.is_repeatable and AGAIN not in heading:
            heading = AGAIN + heading
        return heading, dropped

    def _next_part(self, data: bytes, heading: str, *, is_over: bool) -> Part | None:
        shown = self._shown
        if shown.is_sending and self._features.is_repeatable and not self._can_edit and shown.upto:
            return Part(text_between(data, shown.start, shown.upto), shown.upto, True)  # as it was sent with this key
        part = next_part(data, shown.start, self._features, heading, is_over=is_over)
        if part and shown.part == MOST_MESSAGES - 1 and not (is_over and part.upto >= len(data.rstrip())):
            return Part(LEFT_OUT, len(data), True) if part.is_whole else None
        return part

    # --- showing

    async def _show_part(self, data: bytes, part: Part, heading: str, told: int) -> None:
        text = self._features.headed(heading, part.text)
        await self._require_allowed()
        index = self._shown.part if self._can_edit else len(self._shown.messages)
        if index < len(self._shown.messages) and (text == self._text or await self._edit(index, text)):
            return
        was_sending = self._shown.is_sending
        upto = replace(self._shown, upto=part.upto, digest=_digest(data[: part.upto]), heading=heading, is_sending=True)
        await self._save(upto, told)
        key = f"{self._key}-{index}" + ("r" * self._replaced if self._can_edit else f"-{upto.digest[:6]}")
        try:
            message = await self._marks.use(
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
            await self._marks.use(lambda plain: self._outlet.edit(self.chat, message, text, is_plain=plain))
        except SendRefused:
            if self._replaced:
                raise
            self._replaced += 1
            self._shown = replace(self._shown, messages=self._shown.messages[:index])
            return False
        self._text = text
        return True

    async def _require_allowed(self) -> None:
        if not await self._may_send():
            raise Dropped("its chat may not have it any more.")

    @property
    def _reply_to(self) -> str:
        is_first = self.chat.is_group and not self._shown.messages
        return self._delivery.message if is_first else ""

    async def _save(self, shown: Shown, told: int = 0) -> None:
        if not await asyncio.to_thread(self._store.save_shown, self._delivery, shown, int(self._now()), told):
            raise Dropped("it is owed no more: too much waited for its chat.")
        self._shown = shown


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGEST_CHARS]


def _dropped(count: int) -> str:
    return (
        f"({counted(count, 'older answer was', 'older answers were')} dropped: too many waited for this chat.)\n"
        if count
        else ""
    )


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
