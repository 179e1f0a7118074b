"""Several companions on one PostgreSQL, with one subscription that mosquitto shares among them: they work as one."""

import itertools
from contextlib import ExitStack
from pathlib import Path

import pytest

import get_micropython
import get_mosquitto
from peers import BoardProcess, Broker, Companion
from postgres_process import binaries
from postgres_server import PostgresServer
from waiting import wait_until

pytestmark = pytest.mark.skipif(
    not (get_mosquitto.usable() and binaries() and get_micropython.usable(get_micropython.HOME / "64", 64)),
    reason="there is no mosquitto, PostgreSQL or MicroPython for this machine",
)


def _have_all(companions: list[Companion], boards: list[BoardProcess]) -> bool:
    logs = [(board, log) for board in boards for log in ("records", "journal")]
    return all(one.lines(board.device, log) == board.lines(log) != [] for one in companions for board, log in logs)


def _taken(companion: Companion) -> int:
    return companion.client.get("/v1/health").json()["lines"]


def test_workers_share_boards_and_the_others_go_on_when_one_is_killed(tmp_path: Path):
    with ExitStack() as stack:
        postgres = stack.enter_context(PostgresServer())
        url = stack.enter_context(Broker()).url
        workers = [
            stack.enter_context(Companion(tmp_path / name, mqtt_url=url, ENGRAM_STORE_URL=postgres.url))
            for name in ("first", "second")
        ]
        boards = [stack.enter_context(BoardProcess(tmp_path / name, url, name)) for name in ("kitchen", "hall")]
        counts = itertools.count()

        def talk() -> bool:
            for board in boards:
                board.say(f"remember that the number {next(counts)} is green")
            wait_until("whichever worker is asked has all", lambda: _have_all(workers, boards))
            return all(_taken(worker) for worker in workers)

        wait_until("both workers have taken lines", talk)
        workers[0].kill()
        for board in boards:
            said = len(board.lines("journal"))
            board.say("remember that one worker is gone")
            wait_until("the board has written it down", lambda b=board, n=said: len(b.lines("journal")) > n)
        wait_until("the other worker has all", lambda: _have_all(workers[1:], boards))
