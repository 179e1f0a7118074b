"""The processes of one companion: they share a socket, are started again when they end, and end with their parent."""

import asyncio
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from engram_host.companion.workers import pool
from engram_host.companion.workers.pool import Report, WorkerPool, WorkersFailed
from peers import ROOT
from waiting import wait_until_async

_READY = """
import os, signal, socket, sys
from engram_host.companion.workers.place import take_place
from engram_host.companion.workers.pool import write_report
place = take_place()
open(f"{sys.argv[1]}/{os.getpid()}", "w").write(str(place.number))
write_report(place, {"number": place.number, "port": socket.socket(fileno=place.listener).getsockname()[1]})
"""
UNTIL_INPUT_ENDS = _READY + "sys.stdin.read()\nos.remove(f'{sys.argv[1]}/{os.getpid()}')\n"
STUBBORN = (
    _READY + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen(f'{sys.argv[1]}/{os.getpid()}', 'a').write(' deaf')\n"
)
STUBBORN += "while True: signal.pause()\n"
BROKEN = "import sys; sys.exit(7)"


class Bench:
    """A pool of small processes, each of which writes its number to a file that is named by its process id."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.stop = asyncio.Event()
        self.reports: list[Report] = []

    async def run(self, program: str, count: int) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
            command = [sys.executable, "-c", program, str(self.folder)]
            await WorkerPool(command, count, listener).run(self.stop, self.reports.append)

    def running(self, number: int) -> list[int]:
        """The process ids of the workers of a number that have begun."""
        found = [path for path in self.folder.iterdir() if path.read_text().startswith(str(number))]
        return [int(path.name) for path in found]

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        (self.folder / str(pid)).unlink()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "FIRST_PAUSE", 0.01)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'host'}:{ROOT / 'firmware'}")


def play(folder: Path, script: Callable[[Bench], Coroutine[Any, Any, None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(60):
            await script(Bench(folder))

    asyncio.run(in_time())


def test_all_share_one_socket_and_one_report_says_that_all_are_ready(tmp_path: Path):
    async def script(bench: Bench) -> None:
        running = asyncio.create_task(bench.run(UNTIL_INPUT_ENDS, 3))
        await wait_until_async("all are ready", lambda: bench.reports)
        assert bench.reports == [{"number": 0, "port": bench.port}]
        assert sorted(path.read_text() for path in tmp_path.iterdir()) == ["0", "1", "2"]
        bench.stop.set()
        await running

    play(tmp_path, script)


def test_a_killed_worker_is_started_again_and_the_others_go_on(tmp_path: Path):
    async def script(bench: Bench) -> None:
        running = asyncio.create_task(bench.run(UNTIL_INPUT_ENDS, 2))
        await wait_until_async("all are ready", lambda: bench.reports)
        (first,), others = bench.running(0), bench.running(1)
        for _ in range(3):
            bench.kill(first)
            (first,) = await wait_until_async("it is there again", lambda: bench.running(0))
        assert bench.running(1) == others and len(bench.reports) == 1
        bench.stop.set()
        await running

    play(tmp_path, script)


def test_the_pauses_before_a_start_grow_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pauses: list[float] = []
    monkeypatch.setattr(pool, "LONGEST_PAUSE", 0.03)

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(pool, "_sleep", note)

    async def script(bench: Bench) -> None:
        running = asyncio.create_task(bench.run(_READY + "sys.exit(1)", 1))
        await wait_until_async("it was started four times again", lambda: len(pauses) >= 4)
        bench.stop.set()
        await running

    play(tmp_path, script)
    assert pauses[:4] == [0.01, 0.02, 0.03, 0.03]


def test_a_worker_that_never_gets_ready_ends_all(tmp_path: Path):
    async def script(bench: Bench) -> None:
        with pytest.raises(WorkersFailed, match=r"worker \d ended with status 7 before it was ready"):
            await bench.run(BROKEN, 2)

    play(tmp_path, script)


def test_a_worker_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "STOP_SECONDS", 0.1)

    async def script(bench: Bench) -> None:
        running = asyncio.create_task(bench.run(STUBBORN, 1))
        await wait_until_async("it hears nothing", lambda: [p for p in tmp_path.iterdir() if "deaf" in p.read_text()])
        (pid,) = bench.running(0)
        bench.stop.set()
        await running
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    play(tmp_path, script)


def test_workers_end_when_their_parent_is_killed_and_the_next_one_removes_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    started, temporary = tmp_path / "started", tmp_path / "temporary"
    started.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    parent = "; ".join(
        (
            "import asyncio, socket, sys",
            "from engram_host.companion.workers.pool import WorkerPool",
            "listener = socket.socket()",
            "pool = WorkerPool([sys.executable, '-c', sys.argv[1], sys.argv[2]], 2, listener)",
            "asyncio.run(pool.run(asyncio.Event(), lambda report: open(sys.argv[3], 'w').close()))",
        )
    )
    # The port is asked for, so the socket has to be bound.
    parent = parent.replace("listener = socket.socket()", "listener = socket.create_server(('127.0.0.1', 0))")

    async def script(bench: Bench) -> None:
        words = sys.executable, "-c", parent, UNTIL_INPUT_ENDS, str(started), str(tmp_path / "ready")
        process = await asyncio.create_subprocess_exec(*words)
        await wait_until_async("both are ready", (tmp_path / "ready").exists)
        assert len(list(started.iterdir())) == 2
        process.kill()
        await process.wait()
        await wait_until_async("both have ended", lambda: not list(started.iterdir()))
        (left,) = temporary.iterdir()
        next_bench = Bench(started)
        running = asyncio.create_task(next_bench.run(UNTIL_INPUT_ENDS, 1))
        await wait_until_async("the next one is ready", lambda: next_bench.reports)
        assert left not in temporary.iterdir()
        next_bench.stop.set()
        await running
        assert not list(temporary.iterdir())

    play(tmp_path, script)
