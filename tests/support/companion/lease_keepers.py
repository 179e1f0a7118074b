"""Workers on one folder and one database, in one process: each with its own keeper of leases."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from engram_host.companion.store import choose_store
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.workers.identity import WorkerIdentity
from engram_host.companion.workers.leases import LeaseKeeper


@contextlib.asynccontextmanager
async def running_keeper(home: Path, url: str = "") -> AsyncIterator[LeaseKeeper]:
    """The leases of a worker on a folder, with a database there unless one is given; it ends as a worker does."""
    store, identity = choose_store(url or f"sqlite:///{home / 'companion.db'}"), WorkerIdentity(home)
    store.open()
    keeper = LeaseKeeper(store, identity, Supervisor())
    keeper.start()
    try:
        yield keeper
    finally:
        await keeper.stop()
        store.close()
        identity.release()


@contextlib.asynccontextmanager
async def two_keepers(home: Path) -> AsyncIterator[tuple[LeaseKeeper, LeaseKeeper]]:
    """Two workers."""
    async with running_keeper(home) as first, running_keeper(home) as second:
        yield first, second
