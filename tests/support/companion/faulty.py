"""A relay that loses, doubles, delays and reorders messages between boards and the companion, by a seed.

It stands between two brokers: boards talk to one, the companion to the other. While `faults` is False it passes
everything on as it comes.
"""

import asyncio
import contextlib
import random
import threading
from typing import Self
from urllib.parse import urlsplit

import aiomqtt

from waiting import SECONDS

LOST, DOUBLED, LATE = 0.08, 0.15, 0.2
LATEST_SECONDS = 1.5
_RECONNECT_SECONDS = 0.2


class FaultyRelay:
    """Passes messages both ways, in an event loop of its own beside the test."""

    def __init__(self, boards_url: str, companion_url: str, seed: int):
        self._boards = urlsplit(boards_url)
        self._companion = urlsplit(companion_url)
        self.random = random.Random(seed)
        self.faults = True
        self.counts = {"passed": 0, "lost": 0, "doubled": 0, "late": 0}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    def _run(self) -> None:
        # asyncio.run ends what still waits to be passed on: a task that outlives its loop is reported in a later test.
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._work = self._loop.create_task(self.work())
        await self._work

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(SECONDS), "the relay did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._work.cancel)
        self._thread.join(SECONDS)
        assert not self._thread.is_alive(), "the relay did not end"

    def delays(self) -> list[float]:
        """How often a message is passed on, and after how many seconds each time."""
        if not self.faults:
            return [0.0]
        chance = self.random.random()
        self.counts["passed"] += 1
        if chance < LOST:
            self.counts["lost"] += 1
            return []
        if chance < LOST + DOUBLED:
            self.counts["doubled"] += 1
            return [0.0, self.random.random() * LATEST_SECONDS]
        if chance < LOST + DOUBLED + LATE:
            self.counts["late"] += 1
            return [self.random.random() * LATEST_SECONDS]
        return [0.0]

    def least(self) -> int:
        """How often the rarest of the faults has happened."""
        return min(self.counts[name] for name in ("lost", "doubled", "late"))

    def faulty(self) -> int:
        """How many faults there were."""
        return self.counts["lost"] + self.counts["doubled"] + self.counts["late"]

    async def work(self) -> None:
        """Relay until stopped; brokers that go away are found again."""
        while True:
            with contextlib.suppress(aiomqtt.MqttError):
                async with self._client(self._boards) as boards, self._client(self._companion) as companion:
                    await boards.subscribe("engram/v1/+/up", qos=1)
                    await companion.subscribe("engram/v1/+/down", qos=1)
                    self._ready.set()
                    async with asyncio.TaskGroup() as group:
                        group.create_task(self._relay(boards, companion))
                        group.create_task(self._relay(companion, boards))
            await asyncio.sleep(_RECONNECT_SECONDS)

    def _client(self, where) -> aiomqtt.Client:
        return aiomqtt.Client(where.hostname, where.port)

    async def _relay(self, source: aiomqtt.Client, target: aiomqtt.Client) -> None:
        async for message in source.messages:
            for delay in self.delays():
                passing = self._loop.create_task(self._pass(target, message.topic.value, message.payload, delay))
                self._tasks.add(passing)
                passing.add_done_callback(self._tasks.discard)

    async def _pass(self, target: aiomqtt.Client, topic: str, payload, delay: float) -> None:
        await asyncio.sleep(delay)
        with contextlib.suppress(aiomqtt.MqttError):
            await target.publish(topic, payload, qos=1)
