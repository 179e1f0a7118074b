"""The companion as a whole: wires its parts, starts and stops them."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from engram_host.companion.broker import EmbeddedBroker
from engram_host.companion.dispatch import Dispatch
from engram_host.companion.embedding.settings import EmbeddingSettings
from engram_host.companion.folders.keeping import Folders
from engram_host.companion.folders.settings import FoldersSettings
from engram_host.companion.meaning import Meaning
from engram_host.companion.mqtt import Bus
from engram_host.companion.replication import Replication
from engram_host.companion.searching import Searching
from engram_host.companion.settings import (
    HttpSettings,
    MqttSettings,
    SearchSettings,
    StoreSettings,
)
from engram_host.companion.store.base import Store

_log = logging.getLogger("engram.service")

THREADS = 4
"""That wait for the database or search: each has a connection of its own, with some MB of memory."""

_BROKER_SECONDS = 10.0


@dataclass(frozen=True)
class Settings:
    """All settings of one companion; `home` is the folder of its files."""

    home: Path
    http: HttpSettings
    mqtt: MqttSettings
    store: StoreSettings
    search: SearchSettings
    embedding: EmbeddingSettings
    folders: FoldersSettings


class Service:
    """A companion: `store`, `replication`, `searching`, `folders`, `meaning` and `dispatch` are its parts."""

    def __init__(self, settings: Settings, store: Store, meaning: Meaning):
        self.settings = settings
        self.store = store
        self.meaning = meaning
        self.replication = Replication(store, taken=meaning.wake)
        self.folders = Folders(store, settings.folders, settings.home, taken=meaning.wake)
        self.searching = Searching(store, settings.search, meaning, self.folders)
        self.dispatch = Dispatch(self.replication, self.searching.answer_board)
        self.broker: EmbeddedBroker | None = None
        self.bus: Bus | None = None

    @property
    def store_name(self) -> str:
        """Which database it is."""
        return type(self.store).__name__

    @property
    def mqtt_name(self) -> str:
        """Which broker it is, and whether it is reached."""
        if not self.bus:
            return "off"
        where = self.broker.url if self.broker else "your broker"
        return f"{where}, connected" if self.bus.is_connected else f"{where}, not connected"

    def problems(self) -> list[str]:
        """What does not work now, a sentence each."""
        found = []
        if self.bus and not self.bus.is_connected:
            found.append(self.bus.problem)
        if self.meaning.problem:
            found.append(self.meaning.problem)
        return found + self.folders.problems()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take messages and answer searches; the store is open before, and closed after."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "work"))
        self.replication.start()
        self.meaning.start()
        self.folders.start()
        try:
            await self._start_mqtt()
            yield
        finally:
            if self.bus:
                await self.bus.stop()
            if self.broker:
                await self.broker.stop()
            await self.replication.stop()
            await self.folders.stop()
            await self.meaning.stop()

    async def _start_mqtt(self) -> None:
        mqtt = self.settings.mqtt
        if not mqtt.on:
            return
        if not mqtt.url:
            self.broker = EmbeddedBroker(mqtt.host, mqtt.port)
            await self.broker.start()
        url = self.broker.url if self.broker else mqtt.url
        # The broker inside has one worker, and cannot share a subscription.
        self.bus = Bus(url, mqtt, self.dispatch.answers_or_nothing, share=not self.broker)
        self.bus.start()
        if not await self.bus.wait(_BROKER_SECONDS):
            _log.warning("%s It goes on trying.", self.bus.problem)


async def until_stopped(stop: asyncio.Event, service: Service) -> None:
    """Run a service until an event is set."""
    async with service.running():
        await stop.wait()
