"""Many boards that wait for messages over one broker: they keep no other board from being answered."""

import asyncio
from pathlib import Path

from engram_host.companion.mqtt import MOST_AT_WORK
from fleet_boards import FleetBoard, Hub
from peers import Broker, Companion

WAIT = 60
"""Seconds that a board asks to wait for a message: as long as it may."""


def test_more_boards_than_are_answered_at_a_time_wait_and_another_one_is_answered(mosquitto: Broker, tmp_path: Path):
    async def play(url: str) -> None:
        async with Hub(url) as hub:
            boards = [FleetBoard(hub, f"waiting-{number}") for number in range(MOST_AT_WORK + 1)]
            await asyncio.gather(*(board.copy() for board in boards))
            waiting = [asyncio.create_task(board.listen(WAIT)) for board in boards]
            last = FleetBoard(hub, "last")
            last.say("is anybody there?")
            await last.copy()
            assert not any(task.done() for task in waiting)
            for task in waiting:
                task.cancel()

    with Companion(tmp_path / "companion", mosquitto.url) as companion:
        asyncio.run(play(mosquitto.url))
        assert companion.have("last", "journal") == 1
