"""Upkeep of the database: removes expired data, and checks everything while boards or backups can repair it."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Protocol

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.processes.leases import Lease, LeasedPart
from engram_host.companion.store.removal import RemovalTable
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import RetentionLimits

_log = logging.getLogger("engram.expiry")

EXPIRY_LEASE, CHECK_LEASE = "expiry", "checking"
"""Leases of the processes that expire data and check the database."""

EXPIRE_FIRST_SECONDS = 60.0
"""Delay after the start, which is busy enough."""

EXPIRE_EVERY_SECONDS = 3600.0


class ExpirySweep(LeasedPart):
    def __init__(self, store: RemovalTable, limits: RetentionLimits, supervisor: Supervisor, lease: Lease):
        super().__init__(supervisor, "expiry", lease)
        self._store = store
        self._limits = limits

    async def _run(self) -> None:
        pause = EXPIRE_FIRST_SECONDS
        while True:
            await asyncio.sleep(pause)
            try:
                removed = await asyncio.to_thread(self._store.expire, self._limits, int(time.time()))
            except StoreUnavailable as problem:
                _log.warning("what is to be removed by its age stays for now: %s", problem)
            else:
                if removed:
                    _log.info("rows removed by age or size: %d", removed)
            pause = EXPIRE_EVERY_SECONDS


_store_log = logging.getLogger("engram.store")

CHECK_FIRST_SECONDS = 60.0
"""Delay of the first check, since boards and people connect in the first minute."""

CHECK_EVERY_SECONDS = 24 * 3600.0

_PAUSE_SECONDS = 0.02
"""Pause after some thousand lines, to leave disk and processor to others."""


class Checked(Protocol):
    def check(self, pause: Callable[[], None]) -> None:
        """Check all pages and lines; raises StoreUnavailable."""
        ...


class StoreCheck(LeasedPart):
    def __init__(self, store: Checked, supervisor: Supervisor, lease: Lease):
        super().__init__(supervisor, "checking", lease)
        self._store = store

    async def _run(self) -> None:
        await asyncio.sleep(CHECK_FIRST_SECONDS)
        while True:
            try:
                await asyncio.to_thread(self._store.check, lambda: time.sleep(_PAUSE_SECONDS))
            except StoreUnavailable as problem:
                _store_log.warning("the database could not be checked to its end: %s", problem)
            await asyncio.sleep(CHECK_EVERY_SECONDS)
