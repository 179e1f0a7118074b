"""Work under a lease: it runs in one worker, stops when the lease is lost, and goes on in another one."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.lockfile import Lease
from engram_host.companion.store.workers.leases import LeaseTable
from engram_host.companion.workers import leases
from engram_host.companion.workers.identity import WorkerIdentity
from engram_host.companion.workers.leases import WorkerLease
from lease_keepers import running_keeper, two_keepers
from peers import Companion
from waiting import wait_until_async


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LOOK_SECONDS", 0.02)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The workers that asked for leases and got none."""
    found: list[str] = []
    hold = LeaseTable.hold_leases

    def noting(self: LeaseTable, holder: str, *args: Any) -> dict[str, int]:
        held = hold(self, holder, *args)
        found.extend([] if held else [holder])
        return held

    monkeypatch.setattr(LeaseTable, "hold_leases", noting)
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


def begin(lease: WorkerLease, job: Job) -> asyncio.Task[None]:
    return asyncio.create_task(lease.run(job))


def test_work_runs_in_one_worker_and_in_another_once_that_ends(tmp_path: Path):
    async def script() -> None:
        async with running_keeper(tmp_path) as second:
            async with running_keeper(tmp_path) as first:
                jobs = Job(), Job()
                tasks = [begin(first.lease("alerts"), jobs[0])]
                await wait_until_async("the first runs", lambda: jobs[0].runs)
                tasks.append(begin(second.lease("alerts"), jobs[1]))
            await wait_until_async("the second runs", lambda: jobs[1].runs)
            assert (jobs[0].runs, jobs[1].starts) == (0, 1)
            await tasks[0]  # a worker that ends wants it no more
            jobs[1].end.set()
            await tasks[1]

    play(script)


def test_work_stops_when_the_lease_could_not_be_renewed_and_begins_again_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    is_down = False
    hold = LeaseTable.hold_leases

    def unless_down(self: LeaseTable, *args: Any) -> dict[str, int]:
        if is_down:
            raise StoreUnavailable("the database is down.")
        return hold(self, *args)

    monkeypatch.setattr(LeaseTable, "hold_leases", unless_down)

    async def script() -> None:
        nonlocal is_down
        async with running_keeper(tmp_path) as keeper:
            keeper._seconds = leases.MARGIN_SECONDS + 0.2
            job = Job()
            task = begin(keeper.lease("alerts"), job)
            await wait_until_async("it has begun", lambda: job.starts)
            is_down = True
            await wait_until_async("it stops", lambda: not job.runs)
            starts = job.starts  # on a busy machine so short a lease is lost and taken again by itself, too
            is_down = False
            await wait_until_async("it has begun again", lambda: job.starts > starts)
            job.end.set()
            await task

    play(script)


def test_work_begins_again_where_the_fence_is_another_one(tmp_path: Path):
    async def script() -> None:
        async with running_keeper(tmp_path) as keeper:
            job, lease = Job(), keeper.lease("alerts")
            task = begin(lease, job)
            await wait_until_async("it runs", lambda: job.runs)
            lease.extend(lease.fence + 2, 60)  # somebody had it meanwhile
            await wait_until_async("it runs again", lambda: job.starts == 2 and job.runs == 1)
            job.end.set()
            await task

    play(script)


def test_an_error_of_the_work_ends_it_and_the_lease_stays(tmp_path: Path, refused: list[str]):
    async def fail() -> None:
        raise ValueError("nobody foresaw it")

    async def script() -> None:
        async with two_keepers(tmp_path) as (first, second):
            with pytest.raises(ValueError, match="nobody foresaw it"):
                await first.lease("alerts").run(fail)
            job = Job()
            begin(second.lease("alerts"), job)
            await wait_until_async("the second asks twice", lambda: len(refused) > 1)
            assert first.lease("alerts").is_held and not job.starts

    play(script)


def test_a_released_lease_ends_the_wait_for_it(tmp_path: Path):
    async def script() -> None:
        async with two_keepers(tmp_path) as (first, second):
            job = Job()
            tasks = [begin(keeper.lease("alerts"), job) for keeper in (first, second)]
            await wait_until_async("one runs", lambda: job.runs)
            for keeper in (first, second):
                keeper.lease("alerts").release()
            await asyncio.gather(*tasks)
            assert job.runs == 0

    play(script)


def _hold(home: Path, pipe: Any) -> None:
    async def script() -> None:
        async with running_keeper(home) as keeper:
            job = Job()
            begin(keeper.lease("alerts"), job)
            await wait_until_async("it runs", lambda: job.runs)
            pipe.send(True)
            await job.end.wait()

    asyncio.run(script())


def test_a_killed_worker_of_the_same_folder_is_followed_at_once(tmp_path: Path, refused: list[str]):
    here, there = multiprocessing.Pipe()
    worker = multiprocessing.get_context("spawn").Process(target=_hold, args=(tmp_path, there))
    worker.start()
    assert here.poll(30) and worker.pid

    async def script() -> None:
        async with running_keeper(tmp_path) as keeper:
            job = Job()
            begin(keeper.lease("alerts"), job)
            await wait_until_async("it asks in vain", lambda: refused)
            assert not job.starts
            os.kill(worker.pid or 0, signal.SIGKILL)
            worker.join()
            await wait_until_async("the other one runs it", lambda: job.runs)
            keeper.lease("alerts").release()

    play(script)


def test_of_a_worker_on_another_folder_nobody_knows_whether_it_has_ended(tmp_path: Path):
    mine, other = (WorkerIdentity(tmp_path / name) for name in ("mine", "other"))
    other.release()
    assert not mine.has_ended(other.id)
    assert not mine.has_ended(mine.id)
    mine.release()


def test_files_of_killed_workers_are_removed(tmp_path: Path):
    mine = WorkerIdentity(tmp_path)
    for ended in ("0123abcd", "4567abcd"):
        (tmp_path / "workers" / ended).touch()
        assert mine.has_ended(ended)
    mine.remove_ended({"4567abcd"})
    assert {path.name for path in (tmp_path / "workers").iterdir()} == {mine.id, "4567abcd"}
    mine.release()


def test_the_draft_of_a_worker_that_was_killed_before_it_had_its_id_is_removed(tmp_path: Path):
    mine = WorkerIdentity(tmp_path)
    (tmp_path / "workers" / ".0123abcd").touch()
    draft = Lease(tmp_path / "workers" / ".4567abcd")
    assert draft.take()
    mine.remove_ended(())
    assert {path.name for path in (tmp_path / "workers").iterdir()} == {mine.id, ".4567abcd"}
    draft.release()
    mine.release()


@pytest.mark.parametrize("when", ["before it is locked", "while another worker looks at it", "after it is locked"])
def test_a_worker_whose_draft_another_one_removes_takes_another_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
):
    take, drafts = Lease.take, []

    def take_and_lose(self: Lease) -> bool:
        drafts.append(self._path)
        if len(drafts) > 1:
            return take(self)
        if when == "while another worker looks at it":
            return False
        taken = when == "before it is locked" or take(self)
        self._path.unlink(missing_ok=True)
        return taken

    monkeypatch.setattr(Lease, "take", take_and_lose)
    mine, other = WorkerIdentity(tmp_path), WorkerIdentity(tmp_path)
    assert [path.name for path in drafts[1:]] == [f".{mine.id}", f".{other.id}"]
    assert {path.name for path in (tmp_path / "workers").iterdir()} == {mine.id, other.id}
    assert not other.has_ended(mine.id)
    other.release()
    mine.release()


def test_a_companion_removes_the_files_of_killed_ones_as_it_starts(tmp_path: Path):
    files = tmp_path / "companion" / "workers"
    files.mkdir(parents=True)
    (files / "0123abcd").touch()
    with Companion(tmp_path / "companion"):
        (own,) = files.iterdir()
        assert own.name != "0123abcd"
