"""Starts a companion: reads its settings, opens its store, and serves until it is told to stop."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from engram_host import __version__
from engram_host.companion.embedding.settings import EmbeddingSettings
from engram_host.companion.errors import SettingError
from engram_host.companion.folders.settings import FoldersSettings
from engram_host.companion.http import make_app
from engram_host.companion.meaning import Meaning
from engram_host.companion.service import Service, Settings
from engram_host.companion.settings import (
    HttpSettings,
    MqttSettings,
    SearchSettings,
    StoreSettings,
    read_file,
    read_section,
)
from engram_host.companion.store import open_store
from engram_host.companion.web import WebServer

_SECTIONS = ("http", "mqtt", "store", "search", "embedding", "folders")


def read_settings(
    home: Path, flags: Mapping[tuple[str, str], Any], environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings of the companion in a folder; `flags` are {(section, name): value}. SettingError."""
    tables = read_file(home)
    for name, table in tables.items():
        if name not in _SECTIONS or not isinstance(table, dict):
            raise SettingError(name, f"there is no such table; there are {', '.join(_SECTIONS)}.")
    for (table_name, name), value in flags.items():
        tables.setdefault(table_name, {})[name] = value

    def section(kind: type, name: str) -> Any:
        return read_section(kind, name, tables.get(name, {}), environment)

    return Settings(
        home,
        section(HttpSettings, "http"),
        section(MqttSettings, "mqtt"),
        section(StoreSettings, "store"),
        section(SearchSettings, "search"),
        section(EmbeddingSettings, "embedding"),
        section(FoldersSettings, "folders"),
    )


class Running:
    """A companion that serves."""

    def __init__(self, service: Service, web: WebServer):
        self.service = service
        self.web = web

    def addresses(self) -> dict[str, str]:
        """Where it listens: `http`, and `mqtt` if it has a broker inside."""
        broker = self.service.broker
        return {"http": self.web.url, "mqtt": broker.url if broker else self.service.settings.mqtt.url}

    def banner(self, seconds: float) -> list[str]:
        """What a person is shown once it has started, which took so many seconds."""
        service = self.service
        return [
            f"Engram companion {__version__}, ready in {seconds:.1f} s. Ctrl-C ends it.",
            f"  HTTP      {self.web.url}  ({self.web.url}/docs)",
            f"  MQTT      {service.mqtt_name}",
            f"  store     {service.store_name}",
            f"  meaning   {service.meaning.told()}",
        ]


@contextlib.asynccontextmanager
async def start(home: Path, flags: Mapping[tuple[str, str], Any]) -> AsyncIterator[Running]:
    """A companion that serves as long as the block runs. SettingError, StoreUnavailable, and whatever cannot listen."""
    settings = read_settings(home, flags)
    make_folder(home)
    url = "auto" if settings.store.backend == "auto" else settings.store.url
    store = await asyncio.to_thread(open_store, url, settings.store.url, home)
    try:
        service = Service(settings, store, Meaning(store, settings.embedding))
        async with service.running():
            web = WebServer(make_app(service), settings.http.host, settings.http.port)
            await web.start()
            try:
                yield Running(service, web)
            finally:
                await web.stop()
    finally:
        await asyncio.to_thread(store.close)


def make_folder(home: Path) -> None:
    """Make the folder of the companion's files, for its owner alone; SettingError if it cannot be made."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(str(home), f"cannot be made: {error.strerror}; name another folder with --home.") from None
