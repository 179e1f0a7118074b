"""Upkeep of the database in the background: removes what the settings do not keep for ever, and looks at all of
it, so that damage is found while boards still have what they sent, or a backup does.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Protocol

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.processes.leases import Lease
from engram_host.companion.store.removal import RemovalTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.types import RetentionLimits

_log = logging.getLogger("engram.expiry")

EXPIRY_LEASE, CHECK_LEASE = "expiry", "checking"
"""The processes that hold them remove what is old, and check the database."""

EXPIRE_FIRST_SECONDS = 60.0
"""After the start, which is busy enough."""

EXPIRE_EVERY_SECONDS = 3600.0


class ExpirySweep:
    """A background task that lets a store expire what is older, or more, than `limits`."""

    def __init__(self, store: RemovalTable, limits: RetentionLimits, supervisor: Supervisor, lease: Lease):
        self._store = store
        self._limits = limits
        self._supervisor = supervisor
        self._lease = lease
        self._task: BackgroundTask | None = None

    def start(self) -> None:
        """Begin, a minute from now."""
        self._task = self._supervisor.start("expiry", lambda: self._lease.run(self._run))

    async def stop(self) -> None:
        """Remove nothing more."""
        if self._task:
            await self._task.stop()
        self._lease.release()

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
"""How long after the start the first look begins: the first minute is for boards and people who come at once."""

CHECK_EVERY_SECONDS = 24 * 3600.0
"""Seconds from one look to the next."""

_PAUSE_SECONDS = 0.02
"""After each some thousand lines, so that others get at the disk and the processor."""


class Checked(Protocol):
    """The part of the store that this asks for."""

    def check(self, pause: Callable[[], None]) -> None:
        """Look at all pages and lines. StoreUnavailable."""
        ...


class StoreCheck:
    """Checks the database soon after the start and once a day; what it finds, the store tells from then on."""

    def __init__(self, store: Checked, supervisor: Supervisor, lease: Lease):
        self._store = store
        self._supervisor = supervisor
        self._lease = lease
        self._task: BackgroundTask | None = None

    def start(self) -> None:
        """Begin."""
        self._task = self._supervisor.start("checking", lambda: self._lease.run(self._run))

    async def stop(self) -> None:
        """End; a look that is under way ends when the store is closed."""
        if self._task:
            await self._task.stop()
        self._lease.release()

    async def _run(self) -> None:
        await asyncio.sleep(CHECK_FIRST_SECONDS)
        while True:
            try:
                await asyncio.to_thread(self._store.check, lambda: time.sleep(_PAUSE_SECONDS))
            except StoreUnavailable as problem:
                _store_log.warning("the database could not be checked to its end: %s", problem)
            await asyncio.sleep(CHECK_EVERY_SECONDS)
