"""Work under a lease: it runs in one process, stops when the lease is lost, and goes on in another one."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engram_host.companion.store import processes
from engram_host.companion.store.postgres import PostgresLocks
from engram_host.companion.store.processes import Lease
from lease_keepers import running_keeper, two_keepers
from peers import Companion
from postgres_server import PostgresServer
from server_process import ServerFailed
from waiting import wait_until_async

_CUT = b"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"


@pytest.fixture
def url(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(processes, "LOOK_SECONDS", 0.02)
    postgres.clear()
    return postgres.url


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The leases that were asked for in vain."""
    found: list[str] = []
    take = PostgresLocks.take

    async def noting(self: PostgresLocks, name: str) -> bool:
        is_taken = await take(self, name)
        found.extend([] if is_taken else [name])
        return is_taken

    monkeypatch.setattr(PostgresLocks, "take", noting)
    return found


class Job:
    """Work that says whether it runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.starts = 0
        self.end = asyncio.Event()

    async def __call__(self) -> None:
        self.runs, self.starts = self.runs + 1, self.starts + 1
        try:
            await self.end.wait()
        finally:
            self.runs -= 1


def play(script: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(30):
            await script()

    asyncio.run(in_time())


def begin(lease: Lease, job: Job) -> asyncio.Task[None]:
    return asyncio.create_task(lease.run(job))


def test_work_runs_in_one_process_and_in_another_once_that_ends(url: str, refused: list[str]):
    async def script() -> None:
        async with running_keeper(url) as second:
            async with running_keeper(url) as first:
                jobs = Job(), Job()
                tasks = [begin(first.lease("alerts"), jobs[0])]
                await wait_until_async("the first runs", lambda: jobs[0].runs)
                tasks.append(begin(second.lease("alerts"), jobs[1]))
                await wait_until_async("the second asks in vain", lambda: refused)
            await wait_until_async("the second runs", lambda: jobs[1].runs)
            assert (jobs[0].runs, jobs[1].starts) == (0, 1)
            await tasks[0]  # a process that ends wants it no more
            jobs[1].end.set()
            await tasks[1]

    play(script)


def test_work_stops_when_the_connection_is_lost_and_begins_again_with_the_next_one(url: str):
    async def script() -> None:
        async with running_keeper(url) as keeper:
            job = Job()
            task = begin(keeper.lease("alerts"), job)
            await wait_until_async("it has begun", lambda: job.runs)
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(_CUT)
            await wait_until_async("it has begun again", lambda: job.starts == 2 and job.runs == 1)
            job.end.set()
            await task

    play(script)


def test_an_error_of_the_work_ends_it_and_the_lease_stays(url: str, refused: list[str]):
    async def fail() -> None:
        raise ValueError("nobody foresaw it")

    async def script() -> None:
        async with two_keepers(url) as (first, second):
            with pytest.raises(ValueError, match="nobody foresaw it"):
                await first.lease("alerts").run(fail)
            job = Job()
            task = begin(second.lease("alerts"), job)
            await wait_until_async("the second asks twice", lambda: len(refused) > 1)
            assert first.lease("alerts").is_held and not job.starts
            second.lease("alerts").release()
            await task

    play(script)


def test_a_released_lease_is_free_for_others_while_its_process_runs(url: str):
    async def script() -> None:
        async with two_keepers(url) as (first, second):
            job = Job()
            first.lease("alerts").claim()
            await wait_until_async("the first has it", lambda: first.lease("alerts").is_held)
            task = begin(second.lease("alerts"), job)
            first.lease("alerts").release()
            await wait_until_async("the second runs", lambda: job.runs)
            second.lease("alerts").release()
            await task

    play(script)


def test_one_companion_serves_a_sqlite_file(tmp_path: Path):
    with Companion(tmp_path), pytest.raises(ServerFailed, match="a companion runs on it"), Companion(tmp_path):
        pass
