"""An event loop for CPython whose clock nearly stops while a loaded machine pauses the process."""

import asyncio
import selectors
import time

_STEP = 0.001


class PatientLoop(asyncio.SelectorEventLoop):
    """The asyncio loop of unit tests: a pause of the process lets no timeout pass.

    Client and service of a test share one process. By the computer's clock, a pause of 40 ms ends a timeout of 40 ms before
    the service had its turn. This clock counts, for each poll of the sockets, the time that the poll was to wait and 1 ms at
    most, so that 40 ms are at least 20 polls.
    """

    def __init__(self):
        self._now = 0.0
        self._polled_at = time.monotonic()
        super().__init__(_Selector(self._advance))

    def time(self) -> float:
        """Seconds since the loop began, without pauses of the process."""
        return self._now

    def _advance(self, timeout) -> None:
        now = time.monotonic()
        passed = now - self._polled_at
        self._polled_at = now
        self._now += passed if timeout is None else min(passed, max(0, timeout) + _STEP)


class _Selector(selectors.DefaultSelector):
    """Calls `on_poll` after each poll with the time that it was to wait."""

    def __init__(self, on_poll):
        super().__init__()
        self._on_poll = on_poll

    def select(self, timeout=None):
        found = super().select(timeout)
        self._on_poll(timeout)
        return found
