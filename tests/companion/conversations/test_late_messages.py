"""What waited too long for its turn is passed over: its board has said the same again by then."""

import asyncio

import pytest

from engram_host.companion.mqtt import client
from engram_host.companion.mqtt.client import LATE_SECONDS, BrokerLogin, MqttClient
from engram_host.companion.supervisor import Supervisor
from fleet_boards import Hub
from peers import Broker
from waiting import wait_until_async


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_message_that_waited_longer_than_its_board_does_is_passed_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "MOST_AT_WORK", 1)
    asked: list[bytes] = []

    async def play(url: str) -> None:
        may_answer = asyncio.Event()

        async def answers(_device: str, data: bytes) -> list[bytes]:
            asked.append(data)
            await may_answer.wait()
            return []

        clock = Clock()
        companion = MqttClient(url, BrokerLogin("", ""), answers, Supervisor(), clock=clock)
        companion.start()
        await companion.wait(30)
        async with Hub(url) as hub:
            await hub.send("kitchen", b"first")
            await wait_until_async("the first one is at work", lambda: asked == [b"first"])
            # The second one is taken, and waits for the first to be done; the third one waits to be looked at.
            await hub.send("kitchen", b"second")
            await hub.send("kitchen", b"third")
            await wait_until_async("both have come", lambda: companion.waiting == 1)
            clock.now += LATE_SECONDS + 1
            await hub.send("kitchen", b"fourth")
            await wait_until_async("the last one has come", lambda: companion.waiting == 2)
            may_answer.set()
            await wait_until_async("the last one is at work", lambda: b"fourth" in asked)
        await companion.stop()

    with Broker() as broker:
        asyncio.run(play(broker.url))
    assert asked == [b"first", b"fourth"]
