"""Wakes who waits for a change in this process; a change that another one made is found by looking again."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Hashable, Iterator


class Wakers:
    """Events of all that wait, by what they wait for."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, set[asyncio.Event]] = defaultdict(set)

    @contextlib.contextmanager
    def waiting(self, key: Hashable) -> Iterator[asyncio.Event]:
        """An event that wake() sets; it is known before anything is looked at, so no change is missed."""
        event = asyncio.Event()
        self._waiting[key].add(event)
        try:
            yield event
        finally:
            self._waiting[key].discard(event)
            if not self._waiting[key]:
                del self._waiting[key]

    def wake(self, key: Hashable) -> None:
        """Wake all that wait for something."""
        for event in self._waiting.get(key, ()):
            event.set()

    def wake_all(self) -> None:
        """Wake everybody."""
        for key in list(self._waiting):
            self.wake(key)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, or the time is over; it is clear again then."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(seconds, 0)):
            await event.wait()
    event.clear()
