"""Reports the board's status to the companion."""

import random

from engram import diag
from engram.clock import Moment, Timeout
from engram.compat import const
from engram.errors import Refused

_PAUSE_MS = const(600_000)  # between two status reports


class StatusReport:
    """A sender of find_status(), with uptime and a random number of this start."""

    def __init__(self, sync, find_status, clock):
        self._sync = sync
        self._find_status = find_status
        self._run = 1 + random.getrandbits(29)
        self._started = Moment(clock)
        self.pause = Timeout()

    async def step(self) -> bool:
        """Send the status if it is due; True if it was. Refused values go next time."""
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
