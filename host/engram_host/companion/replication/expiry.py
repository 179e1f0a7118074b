"""Removes from time to time what the settings do not keep for ever."""

import asyncio
import logging
import time

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.expiry import ExpiryTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.types import RetentionLimits

_log = logging.getLogger("engram.expiry")

FIRST_SECONDS = 60.0
"""After the start, which is busy enough."""

EVERY_SECONDS = 3600.0


class ExpirySweep:
    """A background task that lets a store expire what is older, or more, than `limits`."""

    def __init__(self, store: ExpiryTable, limits: RetentionLimits, supervisor: Supervisor):
        self._store = store
        self._limits = limits
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None

    def start(self) -> None:
        """Begin, a minute from now."""
        self._task = self._supervisor.start("expiry", self._run)

    async def stop(self) -> None:
        """Remove nothing more."""
        if self._task:
            await self._task.stop()

    async def _run(self) -> None:
        pause = FIRST_SECONDS
        while True:
            await asyncio.sleep(pause)
            try:
                removed = await asyncio.to_thread(self._store.expire, self._limits, int(time.time()))
            except StoreUnavailable as problem:
                _log.warning("what is to be removed by its age stays for now: %s", problem)
            else:
                if removed:
                    _log.info("lines removed by age or size: %d", removed)
            pause = EVERY_SECONDS
