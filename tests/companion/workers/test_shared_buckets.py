"""A rate limit holds for all workers of a machine together."""

import fcntl
import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest

from engram_host.companion.auth.rate_limit import MOST_NAMES, RateLimiter
from engram_host.companion.workers import shared_buckets
from engram_host.companion.workers.shared_buckets import SETS, WAYS, SharedBuckets
from waiting import SECONDS


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_one_worker_lets_pass_another_one_counts(tmp_path: Path):
    clock = Clock()
    first, second = (RateLimiter(2.0, 4.0, clock, SharedBuckets(tmp_path / "b")) for _ in range(2))
    assert [each.wait_seconds("kitchen") for each in (first, second, first, second)] == [0.0] * 4
    assert first.wait_seconds("kitchen") == second.wait_seconds("kitchen") == 0.5
    assert first.wait_seconds("hall") == 0.0
    clock.now += 0.5
    assert [second.wait_seconds("kitchen"), first.wait_seconds("kitchen")] == [0.0, 0.5]


def test_there_is_room_for_as_many_names_as_in_one_worker():
    assert SETS * WAYS == MOST_NAMES


def test_where_names_share_a_place_the_one_used_longest_ago_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shared_buckets, "SETS", 1)
    clock = Clock()
    limiter = RateLimiter(0.001, 1.0, clock, SharedBuckets(tmp_path / "b"))
    names = [f"board{number}" for number in range(WAYS + 1)]
    for name in names:
        clock.now += 1
        assert limiter.wait_seconds(name) == 0.0
    clock.now += 1
    assert limiter.wait_seconds(names[0]) == 0.0  # it begins full again
    assert limiter.wait_seconds(names[-1]) > 0.0


def _count(path: Path, pipe: Any) -> None:
    limiter = RateLimiter(0.0001, 1000.0, time.monotonic, SharedBuckets(path))
    pipe.send(sum(not limiter.wait_seconds("kitchen") for _ in range(900)))


def test_processes_that_wait_for_the_lock_lose_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # One that gets no processor for longer than the lock is waited for would be counted without.
    monkeypatch.setattr(shared_buckets, "_LOCK_SECONDS", SECONDS)
    pipes = [multiprocessing.Pipe() for _ in range(3)]
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_count, args=(tmp_path / "b", there)) for _, there in pipes]
    for worker in workers:
        worker.start()
    passed = [here.recv() for here, _ in pipes if here.poll(SECONDS)]
    for worker in workers:
        worker.join()
    assert sum(passed) == 1000


def _hold(path: Path, begun: Any, end: Any) -> None:
    with path.open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        begun.set()
        end.wait()


def test_a_worker_that_stands_still_with_the_lock_stops_no_other(tmp_path: Path):
    limiter = RateLimiter(2.0, 1.0, Clock(), SharedBuckets(tmp_path / "b"))
    context = multiprocessing.get_context("fork")
    begun, end = context.Event(), context.Event()
    worker = context.Process(target=_hold, args=(tmp_path / "b", begun, end))
    worker.start()
    begun.wait(SECONDS)
    assert [limiter.wait_seconds("kitchen") for _ in range(2)] == [0.0, 0.5]
    end.set()
    worker.join()
