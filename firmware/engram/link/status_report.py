"""Tells the companion how the board is."""

import random

from engram import diag
from engram.clock import Timeout
from engram.compat import const, ticks_add, ticks_diff, ticks_ms
from engram.errors import Refused

_PAUSE_MS = const(600_000)  # between two times that the companion is told how the board is


class StatusReport:
    """Sends what find_status() gives; with it the seconds since the start, and a number that no other start has."""

    def __init__(self, sync, find_status):
        self._sync = sync
        self._find_status = find_status
        self._run = 0
        self._seconds = 0
        self._counted_at = ticks_ms()
        self.pause = Timeout()

    async def step(self) -> bool:
        """Send it if it is time; whether it was. What was refused is sent the next time."""
        if not (self._sync.is_greeted and self.pause.is_over):
            return False
        self.pause.begin(_PAUSE_MS)
        self._run = self._run or 1 + random.getrandbits(29)
        self._count_seconds()
        items = [["run", self._run], ["seconds", self._seconds]]
        items.extend([name, value] for name, value in self._find_status().items())
        try:
            await self._sync.ask("status", items=items)
        except Refused as refusal:
            diag.info("companion", "it does not take how the board is: %s" % refusal)
        return True

    def _count_seconds(self) -> None:
        # The counter of ticks wraps after 12 days: after six days without a companion some are missing.
        passed = max(0, ticks_diff(ticks_ms(), self._counted_at)) // 1000
        self._seconds += passed
        self._counted_at = ticks_add(self._counted_at, passed * 1000)
