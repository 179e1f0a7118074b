"""A program at the door for programs, without a broker: what it publishes, and what it hears."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from engram_host.companion.conversations.mqtt_door import MqttDoor
from engram_host.companion.conversations.people import AdmissionRules, PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.settings import ChatSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.processes import Lease
from engram_host.companion.supervisor import Supervisor
from waiting import SECONDS, wait_until_async

NOW = 1_795_000_000
"""When people talk: no minute begins while a test counts messages."""


class Program:
    """A program at the door of a companion, which is started again by `restart`."""

    def __init__(self, store: CompanionStore):
        self.store = store
        self.rules = AdmissionRules()
        self.now = NOW
        self.heard: list[dict[str, Any]] = []
        self.broker_is_there = asyncio.Event()
        self.broker_is_there.set()
        self.start()

    def start(self) -> None:
        self.supervisor = Supervisor()
        self.conversations = ConversationService(
            boards=self.store.boards,
            conversations=self.store.conversations,
            settings=ChatSettings(),
            supervisor=self.supervisor,
        )
        self.people = PeopleService(self.store.people, self.rules, now=lambda: self.now)
        self.door = MqttDoor(
            messages=self.store.conversations,
            values=self.store.values,
            conversations=self.conversations,
            people=self.people,
            supervisor=self.supervisor,
            lease=Lease("door"),
        )

    def resume(self) -> None:
        """As when the companion has connected to the broker for the first time."""
        self.door.resume(self.publish)

    async def restart(self) -> None:
        """As when the companion ends and begins again."""
        await self.door.stop()
        self.heard.clear()
        self.start()
        self.resume()

    async def publish(self, device: str, data: bytes) -> None:
        assert device == "kitchen"
        await self.broker_is_there.wait()
        self.heard.append(json.loads(data))

    def send(self, **message: Any) -> None:
        self.door.take("kitchen", json.dumps(message).encode(), self.publish)

    async def hears(self, **fields: Any) -> None:
        await wait_until_async(f"it hears {fields}", lambda: fields in self.heard)

    def play(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do some work in an event loop, bounded in time; the door is shut after it."""

        async def timed() -> None:
            async with asyncio.timeout(SECONDS):
                try:
                    await work()
                finally:
                    await self.door.stop()

        asyncio.run(timed())
