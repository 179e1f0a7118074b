"""Kill -9 of the companion while a board with very many lines is copied: nothing that was acknowledged is lost."""

import random
import sqlite3
import threading
from pathlib import Path

import httpx
import pytest

from peers import Companion
from sending import Sent

LINES = 130_000
KILLS = 25
IN_MESSAGE = 100
LATEST_KILL = 0.02
"""Seconds after a message is sent within which the kill comes: before, while and after it is written."""


@pytest.mark.soak
def test_a_large_board_is_copied_whole_through_kills_and_nothing_acknowledged_is_lost(tmp_path: Path):
    numbers = random.Random(20)
    with Companion(tmp_path / "home") as companion:
        board = Sent(companion.posted, "kitchen")
        for number in range(LINES):
            board.say(f"the number {number} is {numbers.randrange(1000)}")
        kill_at = sorted(numbers.sample(range(IN_MESSAGE, LINES - IN_MESSAGE, IN_MESSAGE), KILLS))
        acknowledged = 0
        while acknowledged < LINES:
            have = board.hello()["journal"][0]
            assert have >= acknowledged
            acknowledged = _send_until_killed(companion, board, have, kill_at)
        assert kill_at == []
        assert _stored_lines(companion.home) == [line for _, line in board.lines["journal"]]


def _send_until_killed(companion: Companion, board: Sent, have: int, kill_at: list[int]) -> int:
    """Send what is missing; up to where it was acknowledged when the companion was killed, or all was."""
    while have < LINES:
        killing = None
        if kill_at and have >= kill_at[0]:
            kill_at.pop(0)
            killing = threading.Timer(random.Random(have).random() * LATEST_KILL, companion.kill)
            killing.start()
        try:
            have = board.send("journal", have, min(have + IN_MESSAGE, LINES))["have"]
        except httpx.TransportError:
            assert killing, "the companion ended by itself"
        if killing:
            killing.join()
            companion.start()
            return have
    return have


def _stored_lines(home: Path) -> list[bytes]:
    with sqlite3.connect(home / "companion.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = database.execute("SELECT line FROM lines WHERE log = 'journal' ORDER BY seq").fetchall()
    return [line for (line,) in found]
