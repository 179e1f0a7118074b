"""The time of the service: the computer's, or one that a test sets."""

import asyncio
import time


class Clock:
    """The computer's time."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let so much of this clock's time pass."""
        await asyncio.sleep(seconds)


class ManualClock(Clock):
    """A time that stands still until `advance` moves it: no test has to wait."""

    def __init__(self, now: float = 1_790_000_000.0):
        self._now = now
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sleeper = (self._now + seconds, future)
        self._sleepers.append(sleeper)
        try:
            await future
        finally:
            self._sleepers.remove(sleeper)

    @property
    def sleepers(self) -> int:
        """How many wait for this clock: a long poll, or a delayed answer."""
        return len(self._sleepers)

    def advance(self, seconds: float) -> None:
        """Move the time, and wake all for whom it has come. In the server's event loop only."""
        self._now += seconds
        for when, future in self._sleepers:
            if when <= self._now and not future.done():
                future.set_result(None)
