"""Takes what has left the database out of the files of indexes, in the background."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.workers.leases import Lease

LEASE = "indexes {}"
"""The lease of the files of one folder by its id: of the workers that share them one sweeps."""

SWEEP_FIRST_SECONDS = 5.0
"""After the start, whose first seconds are for boards and people who come at once."""

SWEEP_EVERY_SECONDS = 30.0

_log = logging.getLogger("engram.searching")


class IndexFileSweep:
    """A background task that writes files again whose boards have lost lines, and removes those of boards that are gone."""

    def __init__(
        self, indexes: IndexCache, supervisor: Supervisor, lease_of: Callable[[str], Lease], executor: Executor
    ):
        """`lease_of(name)` is the lease of a name; `executor` has the threads for what takes long."""
        self._executor = executor
        self._indexes = indexes
        self._supervisor = supervisor
        self._lease_of = lease_of
        self._lease: Lease | None = None
        self._task: BackgroundTask | None = None

    def start(self) -> None:
        """Begin, some seconds after this worker has the lease; without files there is nothing to do."""
        if self._indexes.has_files:
            self._task = self._supervisor.start("index-files", self._run)

    async def stop(self) -> None:
        """Look at no further file."""
        if self._task:
            await self._task.stop()
        if self._lease:
            self._lease.release()

    async def _run(self) -> None:
        self._lease = self._lease_of(LEASE.format(await asyncio.to_thread(self._indexes.folder_id)))
        await self._lease.run(self._sweep)

    async def _sweep(self) -> None:
        pause = SWEEP_FIRST_SECONDS
        while True:
            await asyncio.sleep(pause)
            try:
                await asyncio.get_running_loop().run_in_executor(self._executor, self._indexes.sweep)
            except StoreUnavailable as problem:
                _log.warning("the files of indexes stay as they are for now: %s", problem)
            pause = SWEEP_EVERY_SECONDS
