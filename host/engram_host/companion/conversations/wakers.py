"""Wakes waiters of this process; changes by other processes are found by polling."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Hashable, Iterator


class Wakers:
    def __init__(self) -> None:
        self._waiting: dict[Hashable, set[asyncio.Event]] = defaultdict(set)

    @contextlib.contextmanager
    def waiting(self, key: Hashable) -> Iterator[asyncio.Event]:
        event = asyncio.Event()
        self._waiting[key].add(event)
        try:
            yield event
        finally:
            self._waiting[key].discard(event)
            if not self._waiting[key]:
                del self._waiting[key]

    def wake(self, key: Hashable) -> None:
        for event in self._waiting.get(key, ()):
            event.set()

    def wake_all(self) -> None:
        for key in list(self._waiting):
            self.wake(key)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(seconds, 0)):
            await event.wait()
    event.clear()
