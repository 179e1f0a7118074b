"""The supervisor of background tasks: what failed is started again, after pauses that grow to a bound, and is told."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest

from engram_host.companion import supervisor as supervisor_module
from engram_host.companion.auth.tokens import new_token
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.supervisor import Supervisor, TaskSet
from waiting import wait_until_async


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(20):
            await work()

    asyncio.run(in_time())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor_module, "FIRST_PAUSE", 0.01)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that tasks make, which are over at once."""
    made: list[float] = []

    class Loop(asyncio.SelectorEventLoop):
        def call_later(self, delay, callback, *arguments, **more):
            if getattr(callback, "__name__", "") == "_restart":
                made.append(delay)
                delay = 0
            return super().call_later(delay, callback, *arguments, **more)

    monkeypatch.setattr(asyncio.DefaultEventLoopPolicy, "_loop_factory", Loop)
    return made


class Failing:
    """Work that fails so many times, with an error of this kind, and then goes on for ever."""

    def __init__(self, times: int, error: Callable[[int], BaseException] = lambda count: KeyError("a mistake")):
        self.times = times
        self.begun = 0
        self.error = error

    async def __call__(self) -> None:
        self.begun += 1
        if self.begun <= self.times:
            raise self.error(self.begun)
        await asyncio.Event().wait()


def test_work_that_fails_is_begun_again_and_its_error_is_kept(quick):
    async def play() -> None:
        supervisor, failing = Supervisor(), Failing(2)
        task = supervisor.start("mqtt", failing)
        await wait_until_async("the state", lambda: failing.begun == 3)
        [status] = supervisor.statuses()
        assert (status.name, status.state, status.restarts) == ("mqtt", "running", 2)
        assert status.error.startswith("KeyError: 'a mistake' at test_supervisor.py:")
        await task.stop()
        assert task.status.state == "stopped" and supervisor.problems() == []

    run(play)


def test_finite_work_that_ends_is_finished(quick):
    async def play() -> None:
        mistakes = [KeyError("a mistake")]

        async def ends_the_second_time() -> None:
            if mistakes:
                raise mistakes.pop()

        supervisor = Supervisor()
        task = supervisor.start("folders", ends_the_second_time, is_finite=True)
        await wait_until_async("the state", lambda: task.status.state == "finished")
        assert task.status.restarts == 1 and supervisor.problems() == []
        await task.stop()

    run(play)


def test_pauses_double_to_a_bound_and_vary(pauses: list[float]):
    async def play() -> None:
        failing = Failing(9)
        task = Supervisor().start("mqtt", failing, longest_pause=5.0)
        await wait_until_async("the state", lambda: failing.begun == 10)
        await task.stop()

    run(play)
    bounds = [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 5.0]
    assert all(bound / 2 <= pause <= bound for pause, bound in zip(pauses, bounds, strict=True))
    assert len(set(pauses)) == len(pauses)


def test_after_a_time_without_failures_the_next_pause_is_the_first(pauses: list[float], monkeypatch):
    monkeypatch.setattr(supervisor_module, "STEADY_SECONDS", -1)

    async def play() -> None:
        supervisor, failing = Supervisor(), Failing(3)
        task = supervisor.start("mqtt", failing)
        await wait_until_async("the state", lambda: failing.begun == 4)
        assert supervisor.problems() == []
        await task.stop()

    run(play)
    assert len(pauses) == 3 and max(pauses) <= 0.25


def test_a_task_that_waits_to_start_again_is_a_problem_and_so_is_one_that_has_just_started_again():
    async def play() -> None:
        supervisor, failing = Supervisor(), Failing(1, lambda count: StoreUnavailable("the disk is gone."))
        task = supervisor.start("replication", failing)
        while task.status.state != "restarting":
            await asyncio.sleep(0)  # in the very next turn: a little later it may have started again
        [told] = supervisor.problems()
        assert told.startswith("the background task replication failed (the disk is gone at test_supervisor.py:")
        assert re.search(r" and starts again within 0\.[12]\d? s; restarts so far: 0\.$", told)
        await wait_until_async("the state", lambda: task.status.state == "running")
        assert re.search(r" and started again \d+ s ago\.$", supervisor.problems()[0])
        await task.stop()

    run(play)


def test_a_task_that_fails_too_often_is_lost(quick):
    async def play() -> None:
        supervisor, failing, lost = Supervisor(), Failing(9), asyncio.Event()
        task = supervisor.start("http", failing, most_failures=3, on_lost=lost.set)
        await lost.wait()
        assert task.status.state == "failed" and failing.begun == 3
        assert "3 times in a row" in supervisor.problems()[0] and "restart the companion" in supervisor.problems()[0]
        await task.stop()

    run(play)


@pytest.mark.parametrize("ends", ["stop", "finish"])
def test_a_task_that_is_ended_while_it_waits_to_start_again_does_not(quick, ends: str):
    async def play() -> None:
        failing = Failing(1)
        task = Supervisor().start("mqtt", failing)
        while task.status.state != "restarting":
            await asyncio.sleep(0)
        await getattr(task, ends)()
        assert task.status.state == "stopped"
        supervisor, later = Supervisor(), Failing(1)
        other = supervisor.start("http", later)
        await wait_until_async("a restart that was due later", lambda: later.begun == 2)
        await other.stop()
        assert failing.begun == 1

    run(play)


def test_an_error_is_reported_without_a_secret_and_shortened(quick):
    token = new_token()

    async def play() -> None:
        failing = Failing(1, lambda count: ValueError(f"{token} \x1b[2J" + "x" * 10_000))
        task = Supervisor().start("mqtt", failing)
        await wait_until_async("the state", lambda: failing.begun == 2)
        told = task.status.error
        assert token not in told and "\x1b" not in told and len(told) < 400
        await task.stop()

    run(play)


def test_work_that_fails_after_its_caller_was_cancelled_is_logged(caplog: pytest.LogCaptureFixture):
    async def work() -> None:
        may_fail = asyncio.Event()

        async def fail() -> None:
            await may_fail.wait()
            raise KeyError("a mistake")

        tasks = TaskSet("the count of a call")
        caller = asyncio.create_task(tasks.complete(fail()))
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.wait([caller])
        may_fail.set()
        await tasks.stop(1)

    run(work)
    assert [record.message.partition(" at ")[0] for record in caplog.records] == [
        "the count of a call failed: KeyError: 'a mistake'"
    ]
