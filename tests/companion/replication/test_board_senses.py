"""A real board, under MicroPython, gives a real companion what it perceives."""

from pathlib import Path

from peers import BoardProcess, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


def test_what_a_board_perceived_before_a_restart_is_at_the_companion(companion: Companion, tmp_path: Path):
    pins, senses = {"soil": {"pin": 7, "mode": "adc"}}, {"soil": {"kind": "adc", "pin": "soil", "every": 1}}
    board = BoardProcess(tmp_path / "board", companion.url, "perceiving", 0, 1, pins=pins, senses=senses)
    with board:
        flash = tmp_path / "board" / "memory" / "senses"
        wait_until("the sense has a name", lambda: (flash / "senses.jsonl").exists())
        wait_until("the companion knows it", lambda: names(companion) == ["soil"])
        board.stop_quietly()
        assert list(flash.glob("minutes.*"))
        board.begin()
        wait_until("its readings are there", lambda: latest(companion) > 0)


def names(companion: Companion) -> list[str]:
    answer = companion.client.get("/v1/boards/perceiving/senses")
    return [sense["name"] for sense in answer.json()] if answer.status_code == 200 else []


def latest(companion: Companion) -> float:
    (sense,) = companion.client.get("/v1/boards/perceiving/senses").json()
    return sense["value"] or 0
