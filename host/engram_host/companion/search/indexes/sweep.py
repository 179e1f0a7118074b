"""Takes what has left the database out of the files of indexes, in the background."""

import asyncio
import logging
from concurrent.futures import Executor

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.supervisor import BackgroundTask, Supervisor

SWEEP_FIRST_SECONDS = 5.0
"""After the start, whose first seconds are for boards and people who come at once."""

SWEEP_EVERY_SECONDS = 30.0

_log = logging.getLogger("engram.searching")


class IndexFileSweep:
    """A background task that writes files again whose boards have lost lines, and removes those of boards that are gone."""

    def __init__(self, indexes: IndexCache, supervisor: Supervisor, executor: Executor):
        """`executor` has the threads for what takes long."""
        self._executor = executor
        self._indexes = indexes
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None

    def start(self) -> None:
        """Begin, some seconds from now."""
        self._task = self._supervisor.start("index-files", self._run)

    async def stop(self) -> None:
        """Look at no further file."""
        if self._task:
            await self._task.stop()

    async def _run(self) -> None:
        pause = SWEEP_FIRST_SECONDS
        while True:
            await asyncio.sleep(pause)
            try:
                await asyncio.get_running_loop().run_in_executor(self._executor, self._indexes.sweep)
            except StoreUnavailable as problem:
                _log.warning("the files of indexes stay as they are for now: %s", problem)
            pause = SWEEP_EVERY_SECONDS
