"""Messages that are lost, doubled, late and out of order; a disk that fills up; one name twice; a clock from 2000."""

import random
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from extent import with_more
from faulty import FaultyRelay
from file_bytes import bytes_of
from peers import BoardProcess, Broker, Companion
from skips import needs_64_bit, needs_mosquitto
from waiting import wait_until

pytestmark = [needs_64_bit, needs_mosquitto]
SHORT, LONG = 6, 200
"""Faults of a run: of each message that is lost the board waits some seconds for the answer."""

_FAULT_SECONDS = 4

LONGEST_PAUSE = 0.3
"""Between two messages, in seconds: some meet on the way, some do not."""


def _is_copied(board: BoardProcess, companion: Companion) -> bool:
    logs = all(companion.lines(board.device, log) == board.lines(log) for log in ("records", "journal"))
    return logs and all(_is_note_copied(path, board, companion) for path in (board.home / "memory").glob("*.md"))


def _is_note_copied(path: Path, board: BoardProcess, companion: Companion) -> bool:
    params = {"path": path.name, "device": board.device, "lines": 500}
    answer = companion.client.get("/v1/memory", params=params)
    return answer.status_code == 200 and answer.json()["lines"] == bytes_of(path).decode().split("\n")


def _talk_through(transport: FaultyRelay, board: BoardProcess, faults: int) -> None:
    """Talk until each kind of fault has happened, and so many of all kinds together."""
    numbers = random.Random(faults)
    number = 0
    end = time.monotonic() + 60 + _FAULT_SECONDS * faults
    while transport.least() == 0 or transport.faulty() < faults:
        assert time.monotonic() < end, transport.counts
        number += 1
        board.say(f"remember that the number {number} is {numbers.randrange(1000)}")
        if numbers.random() < 0.05:
            board.do("/compact")
        if numbers.random() < 0.3:
            board.do(f"/note the number {number}" if numbers.random() < 0.8 else "/clear")
        time.sleep(numbers.random() * LONGEST_PAUSE)


@pytest.mark.parametrize("faults", with_more([SHORT], [LONG]))
def test_over_mqtt_that_loses_doubles_and_reorders_the_copy_is_the_log(tmp_path: Path, faults: int):
    with ExitStack() as stack:
        brokers = [stack.enter_context(Broker()) for _ in range(2)]
        companion = stack.enter_context(Companion(tmp_path / "companion", mqtt_url=brokers[1].url))
        relay = stack.enter_context(FaultyRelay(brokers[0].url, brokers[1].url, seed=3))
        board = stack.enter_context(BoardProcess(tmp_path / "board", brokers[0].url, "kitchen"))
        _talk_through(relay, board, faults)
        relay.faults = False
        wait_until("the copy is the log", lambda: _is_copied(board, companion), 120)


def test_two_boards_with_one_name_lose_nothing_and_the_second_is_reported(tmp_path: Path):
    with ExitStack() as stack:
        companion = stack.enter_context(Companion(tmp_path / "companion"))
        first = stack.enter_context(BoardProcess(tmp_path / "first", companion.url, "kitchen"))
        first.say("remember that the first is green")
        wait_until("the first is copied", lambda: _is_copied(first, companion))
        second = stack.enter_context(BoardProcess(tmp_path / "second", companion.url, "kitchen"))
        second.say("remember that the second is red")

        def why() -> bool:
            told = second.answered("/stats")
            return "refused" in told and "kitchen" in told.split("refused", 1)[1]

        wait_until("the second is told why", why)
        first.say("remember that the first is still here")
        wait_until("the first is copied further", lambda: _is_copied(first, companion))
        second.stop_quietly()
        renamed = stack.enter_context(BoardProcess(tmp_path / "second", companion.url, "hall"))
        wait_until("the second is copied under its own name", lambda: _is_copied(renamed, companion))
