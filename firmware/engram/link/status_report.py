"""Tells the companion how the board is."""

import random

from engram import diag
from engram.clock import Moment, Timeout
from engram.compat import const
from engram.errors import Refused

_PAUSE_MS = const(600_000)  # between two times that the companion is told how the board is


class StatusReport:
    """Sends what find_status() gives; with it the seconds since the start, and a number that no other start has."""

    def __init__(self, sync, find_status, clock):
        self._sync = sync
        self._find_status = find_status
        self._run = 1 + random.getrandbits(29)
        self._started = Moment(clock)
        self.pause = Timeout()

    async def step(self) -> bool:
        """Send it if it is time; whether it was. What was refused is sent the next time."""
        if not (self._sync.is_greeted and self.pause.is_over):
            return False
        self.pause.begin(_PAUSE_MS)
        items = [["run", self._run], ["seconds", self._started.age]]
        items.extend([name, value] for name, value in self._find_status().items())
        try:
            await self._sync.ask("status", items=items)
        except Refused as refusal:
            diag.info("companion", "it does not take how the board is: %s" % refusal)
        return True
