"""A greeting that waited too long for its turn is passed over: its board has said it again by then."""

import asyncio
from functools import partial

import pytest

from engram_host.companion import mqtt
from engram_host.companion.metrics import Metrics
from engram_host.companion.mqtt import LATE_SECONDS, BrokerLogin, MqttClient
from engram_host.companion.supervisor import Supervisor
from fleet_boards import Hub
from peers import Broker
from waiting import wait_until_async

LISTEN, LATE, FRESH = b'{"op":"listen"}', b'{"op":"hello","n":1}', b'{"op":"hello","n":2}'


class Clock:
    now = 1000.0
    calls = 0
    """One for each message that comes, and for each one that is looked at."""

    def __call__(self) -> float:
        self.calls += 1
        return self.now


def test_a_greeting_that_waited_too_long_is_passed_over_and_other_messages_are_not(
    mosquitto: Broker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mqtt, "MOST_AT_WORK", 1)
    asked: list[bytes] = []

    async def play(url: str) -> None:
        may_answer = asyncio.Event()

        async def answers(_device: str, data: bytes) -> list[bytes]:
            asked.append(data)
            await may_answer.wait()
            return []

        clock = Clock()
        metrics = Metrics()
        counted = partial(metrics.count_message, "hello", "overdue")
        companion = MqttClient(url, BrokerLogin("", ""), answers, Supervisor(), count_overdue=counted, clock=clock)
        companion.start()
        await companion.wait(30)
        async with Hub(url) as hub:
            await hub.send("kitchen", b"first")
            await wait_until_async("the first one is at work", lambda: asked == [b"first"])
            calls = clock.calls
            for message in (LISTEN, LATE):
                await hub.send("kitchen", message)
            await wait_until_async("both have come", lambda: clock.calls >= calls + 2)
            clock.now += LATE_SECONDS + 1
            await hub.send("kitchen", FRESH)
            await wait_until_async("the last one has come", lambda: clock.calls >= calls + 3)
            may_answer.set()
            await wait_until_async("the last one is at work", lambda: FRESH in asked)
        await companion.stop()
        assert b'engram_messages_total{kind="hello",outcome="overdue"} 1.0' in metrics.render()

    asyncio.run(play(mosquitto.url))
    assert asked == [b"first", LISTEN, FRESH]
