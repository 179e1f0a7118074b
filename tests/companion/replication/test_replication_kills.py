"""Kill -9 of the companion, the broker or the board at random points: in the end the copy is the log, line by line."""

import random
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from extent import extent, with_more
from peers import BoardProcess, Broker, Companion
from server_process import ServerProcess
from skips import needs_64_bit, needs_mosquitto
from waiting import wait_until

pytestmark = [needs_64_bit, needs_mosquitto]


LATEST_KILL = 0.8
"""Seconds after what is said: the kill comes at any moment of what follows, before, while and after it is copied."""


def _is_copied(board: BoardProcess, companion: Companion) -> bool:
    return all(companion.lines(board.device, log) == board.lines(log) for log in ("records", "journal"))


def _play(folder: Path, kills: int, seed: int, over: str) -> None:
    numbers = random.Random(seed)
    with ExitStack() as stack:
        broker = stack.enter_context(Broker())
        companion = stack.enter_context(Companion(folder / "companion", mqtt_url=broker.url))
        url = broker.url if over == "mqtt" else companion.url
        board = stack.enter_context(BoardProcess(folder / "board", url, "kitchen"))
        for count in range(kills):
            for number in range(numbers.randrange(1, 6)):
                board.say(f"remember that the number {count}.{number} is {numbers.randrange(1000)}")
            if numbers.random() < 0.1:
                board.do("/compact")
            victim: ServerProcess = numbers.choice([broker, companion, board])
            time.sleep(numbers.random() * LATEST_KILL)
            victim.kill()
            victim.start()
        wait_until("the copy is the log", lambda: _is_copied(board, companion), 120)
        seqs = [line["seq"] for line in companion.lines("kitchen", "journal")]
        assert len(seqs) == len(set(seqs)) > kills


@pytest.mark.shortened
@pytest.mark.parametrize("over", with_more(["mqtt"], ["http"]))
def test_after_many_kills_the_copy_is_the_log(tmp_path: Path, over: str):
    _play(tmp_path, kills=extent(100, 5), seed=7, over=over)
