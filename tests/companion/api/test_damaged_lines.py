"""What the API and the commands show of a board of which the database has a damaged line."""

import sqlite3

import pytest

from one_case import in_one_case
from peers import Companion
from sending import Sent
from waiting import SECONDS


@pytest.fixture(scope="module")
def kitchen(companion: Companion) -> Sent:
    """A board with three turns and three memories; the second of each is damaged, that of the turns has become a text."""
    board = Sent(companion.posted, "kitchen")
    for number in range(3):
        board.say(f"turn {number}")
        board.keep(f"memory {number}")
    board.sync()
    with sqlite3.connect(companion.home / "companion.db", timeout=SECONDS) as database:
        for log, kind in (("journal", "TEXT"), ("records", "BLOB")):
            damaged = f"CAST(replace(line, 'e', 'i') AS {kind})"
            sql = f"UPDATE lines SET line = {damaged} WHERE device = 'kitchen' AND log = ? AND seq = 2"
            database.execute(sql, (log,))
    return board


@in_one_case(
    "path, count",
    [("lines?log=journal", 2), ("lines?log=records", 2), ("archive", 0), ("aside", 0)],
)
def test_lists_of_a_board_pass_over_a_damaged_line(companion: Companion, kitchen: Sent, path: str, count: int):
    answer = companion.client.get(f"/v1/devices/{kitchen.device}/{path}")
    assert answer.status_code == 200 and len(answer.json()) == count
