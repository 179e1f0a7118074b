"""The sweep of index files in the background: of the workers of a home one does it, and another one takes over."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engram_host.companion.search.indexes import sweep
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.indexes.sweep import LEASE, IndexFileSweep
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.workers import leases
from held_lease import HeldLease
from lease_keepers import two_keepers
from search_store import SearchStore, cache_with_files
from waiting import wait_until_async

_threads = ThreadPoolExecutor(2, "sweep")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(sweep, "SWEEP_FIRST_SECONDS", 0)
    monkeypatch.setattr(sweep, "SWEEP_EVERY_SECONDS", 0.01)


class Swept(SearchStore):
    """A store whose sweeps are counted."""

    def __init__(self, folder: Path):
        super().__init__()
        self.indexes = cache_with_files(self, folder)
        self.sweeps = 0
        sweep_files = self.indexes.sweep

        def counted() -> None:
            self.sweeps += 1
            sweep_files()

        self.indexes.sweep = counted


def play(script: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(60):
            await script()

    asyncio.run(in_time())


def test_of_two_workers_of_a_home_one_sweeps_and_the_other_takes_over(tmp_path: Path):
    async def script() -> None:
        async with two_keepers(tmp_path) as keepers:
            stores = [Swept(tmp_path / "indexes") for _ in keepers]
            sweeps = [
                IndexFileSweep(store.indexes, Supervisor(), keeper.lease, _threads)
                for store, keeper in zip(stores, keepers, strict=True)
            ]
            lease = LEASE.format(stores[0].indexes.folder_id())
            sweeps[0].start()
            await wait_until_async("the first one sweeps", lambda: stores[0].sweeps)
            sweeps[1].start()
            await wait_until_async("the second one asks", lambda: keepers[1].lease(lease).is_wanted)
            before = stores[0].sweeps
            await wait_until_async("the first one goes on", lambda: stores[0].sweeps > before + 3)
            assert stores[1].sweeps == 0
            await sweeps[0].stop()
            await wait_until_async("the second one takes over", lambda: stores[1].sweeps)
            await sweeps[1].stop()

    play(script)


def test_without_files_there_is_no_task():
    async def script() -> None:
        supervisor = Supervisor()
        idle = IndexFileSweep(IndexCache(SearchStore()), supervisor, HeldLease, _threads)
        idle.start()
        assert supervisor.statuses() == []
        await idle.stop()

    play(script)
