"""Processes on one PostgreSQL, in one process: each with its own keeper of leases."""

import contextlib
from collections.abc import AsyncIterator

from engram_host.companion.store import choose_store
from engram_host.companion.store.processes import LeaseKeeper
from engram_host.companion.supervisor import Supervisor


@contextlib.asynccontextmanager
async def running_keeper(url: str) -> AsyncIterator[LeaseKeeper]:
    """The leases of a process on a database; it ends as a process does."""
    store = choose_store(url)
    store.open()
    keeper = LeaseKeeper(store.database, Supervisor())
    keeper.start()
    try:
        yield keeper
    finally:
        await keeper.stop()
        store.close()


@contextlib.asynccontextmanager
async def two_keepers(url: str) -> AsyncIterator[tuple[LeaseKeeper, LeaseKeeper]]:
    """Two processes."""
    async with running_keeper(url) as first, running_keeper(url) as second:
        yield first, second
