"""Publishes boards' senses for Home Assistant at the broker, and removes former ones.

Topics are saved in the database before they are published, so that they can be emptied after a
crash too.
"""

import asyncio
import functools
import json
import logging
from typing import Protocol

from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.home_assistant.discovery import device_messages, discovery_prefix
from engram_host.companion.settings import MqttSettings
from engram_host.companion.store.processes import Lease
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.values import ValueTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.home_assistant")

LOOK_SECONDS = 5.0  # interval of checks for changes
MOST_TOPICS = 20_000  # limit of topics, four per sense; the rest is left out and logged
_TOPICS = "home_assistant.topics"  # note with the published topics


class RetainingBroker(Protocol):
    """The broker; `connections` counts connects, since it may have lost retained messages before."""

    connections: int

    async def publish_retained(self, topic: str, message: str) -> bool:
        """Publish a retained message, or remove it if empty; True if it was sent."""
        ...


def home_assistant_prefix(mqtt: MqttSettings) -> str:
    """Return the discovery prefix, "" if publishing is off; may raise SettingError."""
    if mqtt.home_assistant and not mqtt.url:
        raise SettingError("mqtt.home_assistant", "needs mqtt.url: the broker that Home Assistant uses.")
    return discovery_prefix(mqtt)


class HomeAssistantPublisher:
    def __init__(
        self,
        *,
        senses: SenseTable,
        values: ValueTable,
        prefix: str,
        supervisor: Supervisor,
        lease: Lease,
        look_seconds: float = LOOK_SECONDS,
    ):
        self._senses = senses
        self._values = values
        self._prefix = prefix
        self._supervisor = supervisor
        self._lease = lease
        self._look_seconds = look_seconds
        self._published: dict[str, str] = {}
        self._connection = 0
        self._task: BackgroundTask | None = None

    async def start(self, broker: RetainingBroker) -> None:
        if self._prefix or await asyncio.to_thread(self._noted):
            name = "mqtt home-assistant"
            work = functools.partial(self._lease.run, lambda: self._run(broker))
            self._task = self._supervisor.start(name, work, is_finite=not self._prefix)

    async def stop(self) -> None:
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
        events = self._senses.lasting_events()
        for device, senses in self._senses.senses_of_boards().items():
            found |= device_messages(self._prefix, device, senses, events.get(device, ()))
            if len(found) > MOST_TOPICS:
                _log.warning("not all senses are published: there are too many", extra={"repeat": "too many senses"})
                break
        return found

    def _noted(self) -> set[str]:
        return set(json.loads(self._values.get(_TOPICS) or "[]"))

    def _note(self, topics: set[str]) -> None:
        self._values.put(_TOPICS, json.dumps(sorted(topics)))
