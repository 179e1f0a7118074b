"""What boards send and search does not wait for what takes long: searches of fleets, and the sweep of index files."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from companion_thread import FLAGS
from engram.memory.access import OWNER
from engram_host.companion import app, search_service
from engram_host.companion.app import CompanionApp
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.indexes import sweep
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.request import SearchResult
from engram_host.companion.serving.running import start
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from search_store import turn

_SECONDS = 60.0


def fill(store: CompanionStore, name: str, heard: int) -> None:
    logs: dict[LogName, LogState] = {"records": LogState(1, 1, 1, 0), "journal": LogState(1, 1, 2, 0)}
    store.greet(Hello(name, Sender(name, 1, 1), 0, logs), heard)
    lines = [(1, turn(1, "the kettle"))]
    store.store_batches([LineBatch(Sender(name, 1, 2), SeqRange(name, "journal", 1, 0, 1), lines)], heard)


class HeldCalls:
    """Calls in threads that do not end before they are let go."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._may_end = threading.Event()
        self._began: asyncio.Queue[None] = asyncio.Queue()

    def hold(self) -> None:
        assert self.loop
        self.loop.call_soon_threadsafe(self._began.put_nowait, None)
        self._may_end.wait(_SECONDS)

    async def wait_for_begin(self) -> None:
        await self._began.get()

    def let_go(self) -> None:
        self._may_end.set()


def run_beside_companion(home: Path, calls: HeldCalls, scenario: Callable[[CompanionApp], Awaitable[None]]) -> None:
    """A scenario with a companion that has two boards, and calls that are let go at its end."""

    async def run() -> None:
        calls.loop = asyncio.get_running_loop()
        async with asyncio.timeout(_SECONDS), start(home, FLAGS) as running:
            for heard, name in enumerate(("a", "b"), start=1):
                fill(running.app.store, name, heard)
            try:
                await scenario(running.app)
            finally:
                calls.let_go()

    asyncio.run(run())


async def search_one(companion: CompanionApp, **options: Any) -> SearchResult:
    async with asyncio.timeout(_SECONDS / 2):
        return await companion.search.search(OWNER, query="kettle", devices=("a",), **options)


@pytest.fixture
def fleets(monkeypatch: pytest.MonkeyPatch) -> HeldCalls:
    """Searches of fleets, which two boards are."""
    calls = HeldCalls()

    def search_fleet(*_: Any) -> SearchResult:
        calls.hold()
        return SearchResult(())

    monkeypatch.setattr(SearchEngine, "search_fleet", search_fleet)
    monkeypatch.setattr(search_service, "MOST_TOGETHER", 1)
    return calls


def start_fleet_searches(companion: CompanionApp, count: int) -> list[asyncio.Task[SearchResult]]:
    return [asyncio.create_task(companion.search.search(OWNER, query="kettle")) for _ in range(count)]


def test_a_board_does_not_wait_for_searches_of_fleets(
    fleets: HeldCalls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def scenario(companion: CompanionApp) -> None:
        searches = start_fleet_searches(companion, 4)
        for _ in range(2):
            await fleets.wait_for_begin()
        assert (await search_one(companion, is_quick=True)).hits
        fleets.let_go()
        await asyncio.gather(*searches)

    monkeypatch.setattr(app, "THREADS", 2)
    run_beside_companion(tmp_path, fleets, scenario)


def test_a_person_who_searches_one_board_does_not_wait_for_searches_of_fleets(fleets: HeldCalls, tmp_path: Path):
    async def scenario(companion: CompanionApp) -> None:
        searches = start_fleet_searches(companion, 8)
        await fleets.wait_for_begin()
        assert (await search_one(companion)).hits
        fleets.let_go()
        await asyncio.gather(*searches)

    run_beside_companion(tmp_path, fleets, scenario)


def test_a_board_does_not_wait_for_the_sweep_of_index_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sweeps = HeldCalls()

    async def scenario(companion: CompanionApp) -> None:
        await sweeps.wait_for_begin()
        assert (await search_one(companion, is_quick=True)).hits

    monkeypatch.setattr(IndexCache, "sweep", lambda _: sweeps.hold())
    monkeypatch.setattr(sweep, "SWEEP_FIRST_SECONDS", 0.0)
    monkeypatch.setattr(app, "THREADS", 1)
    run_beside_companion(tmp_path, sweeps, scenario)
