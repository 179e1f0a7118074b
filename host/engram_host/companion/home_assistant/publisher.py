"""Keeps boards' senses for Home Assistant at the broker: publishes what is new, and removes what has gone.

Which topics hold something is noted in the database before they are published, so that they are emptied when a sense or a board
has gone, or all of this is switched off, whatever was killed meanwhile.
"""

import asyncio
import functools
import json
import logging
from typing import Protocol

from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.home_assistant.discovery import device_messages, discovery_prefix
from engram_host.companion.processes.leases import Lease
from engram_host.companion.settings import MqttSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.home_assistant")

LOOK_SECONDS = 5.0
"""Between two looks for what has changed."""

LEASE = "home assistant"
"""The process that holds it publishes."""

MOST_TOPICS = 20_000
"""Four for each sense of each board: beyond that the rest is left out, and said in the log."""

_TOPICS = "home_assistant.topics"
"""The note with the topics that hold something."""


class RetainingBroker(Protocol):
    """The broker: `connections` counts how often it was connected to, since it may have lost what it kept before that."""

    connections: int

    async def publish_retained(self, topic: str, message: str) -> bool:
        """Publish a message that the broker keeps, an empty one removes it; whether it went out."""
        ...


def home_assistant_prefix(mqtt: MqttSettings) -> str:
    """The topic below which Home Assistant looks for devices, "" if it is not told of any; SettingError."""
    if mqtt.home_assistant and not mqtt.url:
        raise SettingError("mqtt.home_assistant", "needs mqtt.url: the broker that Home Assistant uses.")
    return discovery_prefix(mqtt)


class HomeAssistantPublisher:
    """Publishes what `prefix` has to have below it; with no prefix it removes what is left of before, and ends."""

    def __init__(
        self,
        store: CompanionStore,
        prefix: str,
        supervisor: Supervisor,
        lease: Lease,
        look_seconds: float = LOOK_SECONDS,
    ):
        self._store = store
        self._prefix = prefix
        self._supervisor = supervisor
        self._lease = lease
        self._look_seconds = look_seconds
        self._published: dict[str, str] = {}
        self._connection = 0
        self._task: BackgroundTask | None = None

    async def start(self, broker: RetainingBroker) -> None:
        """Begin to publish, or to remove what is left; StoreUnavailable."""
        if self._prefix or await asyncio.to_thread(self._noted):
            name = "mqtt home-assistant"
            work = functools.partial(self._lease.run, lambda: self._run(broker))
            self._task = self._supervisor.start(name, work, is_finite=not self._prefix)

    async def stop(self) -> None:
        """Publish nothing more; what was published stays."""
        if self._task:
            await self._task.stop()
        self._lease.release()

    async def _run(self, broker: RetainingBroker) -> None:
        self._published.clear()  # another process may have published since
        while True:
            try:
                is_done = await self._update(broker)
            except StoreUnavailable as problem:
                _log.warning("topics for Home Assistant wait: %s", problem, extra={"repeat": "home assistant"})
                is_done = False
            if is_done and not self._prefix:
                return
            await asyncio.sleep(self._look_seconds)

    async def _update(self, broker: RetainingBroker) -> bool:
        """Publish what has changed; whether all went out."""
        if self._connection != broker.connections:
            self._connection = broker.connections
            self._published.clear()
        wanted = await asyncio.to_thread(self._wanted) if self._prefix else {}
        noted = await asyncio.to_thread(self._noted)
        if wanted.keys() - noted:
            noted |= wanted.keys()
            await asyncio.to_thread(self._note, noted)
        gone = noted - wanted.keys()
        for topic in sorted(gone):
            if not await broker.publish_retained(topic, ""):
                return False
            self._published.pop(topic, None)
        if gone:
            await asyncio.to_thread(self._note, noted - gone)
        for topic, message in wanted.items():
            if self._published.get(topic) != message:
                if not await broker.publish_retained(topic, message):
                    return False
                self._published[topic] = message
        return True

    def _wanted(self) -> dict[str, str]:
        found: dict[str, str] = {}
        events = self._store.lasting_events()
        for device, senses in self._store.senses_of_boards().items():
            found |= device_messages(self._prefix, device, senses, events.get(device, ()))
            if len(found) > MOST_TOPICS:
                _log.warning("not all senses are published: there are too many", extra={"repeat": "too many senses"})
                break
        return found

    def _noted(self) -> set[str]:
        return set(json.loads(self._store.get(_TOPICS) or "[]"))

    def _note(self, topics: set[str]) -> None:
        self._store.put(_TOPICS, json.dumps(sorted(topics)))
