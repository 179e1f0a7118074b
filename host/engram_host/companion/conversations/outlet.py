"""A chat of a network as deliveries see it: serial calls that respect the network's pauses."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from engram_host.companion.bridges.errors import MarksRefused, SendRefused, SlowDown
from engram_host.companion.bridges.network import Chat, Network

_log = logging.getLogger("engram.bridges")

LONGEST_PAUSE = 3600.0

TYPING_SECONDS = 4.0

_SIGN_SECONDS = 5.0

Result = TypeVar("Result")


class Outlet:
    def __init__(self, network: Network, calls: set[asyncio.Task[Any]]):
        self._network = network
        self._calls = calls
        self._lock = asyncio.Lock()
        self._not_before = 0.0
        self.users = 0

    @property
    def pause(self) -> float:
        return max(0.0, self._not_before - time.monotonic())

    async def send(self, chat: Chat, text: str, key: str, reply_to: str, *, is_plain: bool) -> str:
        return await self._call(lambda: self._network.send(chat, text, key, reply_to, is_plain))

    async def edit(self, chat: Chat, message: str, text: str, *, is_plain: bool) -> None:
        await self._call(lambda: self._network.edit(chat, message, text, is_plain))

    async def show_typing(self, chat: Chat, *, is_typing: bool) -> None:
        try:
            async with asyncio.timeout(_SIGN_SECONDS):
                await self._network.show_typing(chat, is_typing)
        except TimeoutError:
            _log.debug("a typing sign took too long")

    async def complete(self, work: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.get_running_loop().create_task(work)
        self._calls.add(task)
        task.add_done_callback(self._on_done)
        return await asyncio.shield(task)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._calls.discard(task)
        if not task.cancelled():
            task.exception()  # a cancelled caller does not read the error

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
    def __init__(self, network: Network, calls: set[asyncio.Task[Any]]):
        self._network = network
        self._calls = calls
        self._outlets: dict[str, Outlet] = {}

    def __len__(self) -> int:
        return len(self._outlets)

    def take(self, chat: str) -> Outlet:
        # Forget expired pauses of unused chats.
        for other in [name for name, each in self._outlets.items() if not each.users and not each.pause]:
            del self._outlets[other]
        outlet = self._outlets.setdefault(chat, Outlet(self._network, self._calls))
        outlet.users += 1
        return outlet

    def release(self, chat: str) -> None:
        outlet = self._outlets[chat]
        outlet.users -= 1
        if not outlet.users and not outlet.pause:
            del self._outlets[chat]


class Marks:
    def __init__(self, is_plain: bool):
        self.is_plain = is_plain

    async def use(self, call: Callable[[bool], Awaitable[Result]]) -> Result:
        """Return call(is_plain), with a plain retry if markup is refused. Raise SendFailed."""
        try:
            return await call(self.is_plain)
        except MarksRefused as problem:
            if self.is_plain:
                raise SendRefused(str(problem)) from problem
            _log.info("a text goes without formatting: %s", problem)
            self.is_plain = True
        return await self.use(call)
