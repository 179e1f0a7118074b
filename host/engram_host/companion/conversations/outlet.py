"""One chat of a network, as deliveries see it: one call after the other, none while the network asks for a pause."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from engram_host.companion.bridges.errors import MarksRefused, SendRefused, SlowDown
from engram_host.companion.bridges.network import Chat, Network

_log = logging.getLogger("engram.bridges")

LONGEST_PAUSE = 3600.0
"""Seconds that a network may ask to wait."""

TYPING_SECONDS = 4.0
"""Between two typing signs: networks show one for 5 seconds or longer."""

_SIGN_SECONDS = 5.0

Result = TypeVar("Result")


class Outlet:
    """Sends into one chat, its threads included."""

    def __init__(self, network: Network, calls: set[asyncio.Task[Any]]):
        """`calls` has what complete() has begun."""
        self._network = network
        self._calls = calls
        self._lock = asyncio.Lock()
        self._not_before = 0.0
        self.users = 0
        """How many deliveries hold it."""

    @property
    def pause(self) -> float:
        """Seconds that the network wants to be left alone."""
        return max(0.0, self._not_before - time.monotonic())

    async def send(self, chat: Chat, text: str, key: str, reply_to: str, *, is_plain: bool) -> str:
        """Send a message; its id. SendFailed."""
        return await self._call(lambda: self._network.send(chat, text, key, reply_to, is_plain))

    async def edit(self, chat: Chat, message: str, text: str, *, is_plain: bool) -> None:
        """Let a message show another text. SendFailed."""
        await self._call(lambda: self._network.edit(chat, message, text, is_plain))

    async def show_typing(self, chat: Chat, *, is_typing: bool) -> None:
        """Show that an answer is on its way, or no more."""
        try:
            async with asyncio.timeout(_SIGN_SECONDS):
                await self._network.show_typing(chat, is_typing)
        except TimeoutError:
            _log.debug("a typing sign took too long")

    async def complete(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do what is better not broken off: it goes on when who awaits it is cancelled."""
        task = asyncio.get_running_loop().create_task(work)
        self._calls.add(task)
        task.add_done_callback(self._on_done)
        return await asyncio.shield(task)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._calls.discard(task)
        if not task.cancelled():
            task.exception()  # who was cancelled does not ask for it

    async def _call(self, call: Callable[[], Awaitable[Result]]) -> Result:
        async with self._lock:
            if pause := self.pause:
                raise SlowDown(pause)
            try:
                return await call()
            except SlowDown as problem:
                self._not_before = time.monotonic() + min(problem.retry_after, LONGEST_PAUSE)
                raise


class Outlets:
    """The chats that somebody sends into now, and those that the network wants to be left alone."""

    def __init__(self, network: Network, calls: set[asyncio.Task[Any]]):
        """`calls` has what Outlet.complete() has begun."""
        self._network = network
        self._calls = calls
        self._outlets: dict[str, Outlet] = {}

    def __len__(self) -> int:
        return len(self._outlets)

    def take(self, chat: str) -> Outlet:
        """The outlet of a chat, until release()."""
        # The pauses of chats that nobody sends into any more have ended meanwhile.
        for other in [name for name, each in self._outlets.items() if not each.users and not each.pause]:
            del self._outlets[other]
        outlet = self._outlets.setdefault(chat, Outlet(self._network, self._calls))
        outlet.users += 1
        return outlet

    def release(self, chat: str) -> None:
        """Who took the outlet of a chat sends nothing more."""
        outlet = self._outlets[chat]
        outlet.users -= 1
        if not outlet.users and not outlet.pause:
            del self._outlets[chat]


class Marks:
    """Whether an answer goes with the network's marks: once it has refused them, all that follows goes plain."""

    def __init__(self, is_plain: bool):
        self.is_plain = is_plain

    async def use(self, call: Callable[[bool], Awaitable[Result]]) -> Result:
        """call(is_plain), and plain if the marks are refused. SendFailed."""
        try:
            return await call(self.is_plain)
        except MarksRefused as problem:
            if self.is_plain:
                raise SendRefused(str(problem)) from problem
            _log.info("a text goes without formatting: %s", problem)
            self.is_plain = True
        return await self.use(call)
