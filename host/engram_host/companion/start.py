"""Starts a companion: reads its settings, opens its store, and serves until it is told to stop."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from engram_host import __version__
from engram_host.companion.api.app import make_app
from engram_host.companion.api.server import WebServer
from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.exposure import check_exposure, listener_tls, listeners
from engram_host.companion.auth.tokens import operator_token
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.gateway.api_key import ApiKey, find_api_key
from engram_host.companion.metrics import Metrics
from engram_host.companion.settings import make_folder, read_settings, store_url
from engram_host.companion.store import open_store
from engram_host.companion.supervisor import Supervisor


class RunningCompanion:
    """A companion that serves."""

    def __init__(self, service: CompanionApp, web: WebServer):
        self.service = service
        self.web = web

    async def serve(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set; HttpLost."""
        ends = [asyncio.ensure_future(end) for end in (stop.wait(), self.web.until_lost())]
        try:
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for end in done:
                end.result()
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    def addresses(self) -> dict[str, str]:
        """Where it listens: `http`, and `mqtt` if it has a broker inside."""
        broker = self.service.broker
        return {"http": self.web.url, "mqtt": broker.url if broker else _without_login(self.service.settings.mqtt.url)}

    def banner(self, seconds: float) -> list[str]:
        """What a person is shown once it has started, which took so many seconds."""
        service = self.service
        return [
            f"Engram companion {__version__}, ready in {seconds:.1f} s. Ctrl-C ends it.",
            f"  HTTP      {self.web.url}  ({self.web.url}/docs)",
            f"  MQTT      {service.mqtt_name}",
            f"  store     {service.store_name}",
            f"  meaning   {service.meaning.told()}",
            f"  tokens    {'asked for' if service.doors.asks_tokens else 'not asked for: only this computer reaches it'}",
        ]


def _without_login(url: str) -> str:
    """A URL without the name and the password that may stand in it."""
    scheme, mark, rest = url.partition("://")
    return scheme + mark + rest.rpartition("@")[2]


@contextlib.asynccontextmanager
async def start(home: Path, flags: Mapping[tuple[str, str], Any]) -> AsyncIterator[RunningCompanion]:
    """A companion that serves as long as the block runs. SettingError, StoreUnavailable, and whatever cannot listen."""
    settings = read_settings(home, flags)
    make_folder(home)
    http = settings.http
    operator = operator_token(home)
    key = await asyncio.to_thread(find_api_key, home, os.environ) if settings.gateway.url else ApiKey()
    tls = listener_tls("http", http.certificate, http.key, home)
    store = await asyncio.to_thread(open_store, store_url(settings.store, settings.home))
    try:
        places = listeners(http, settings.mqtt)
        has_devices = bool(await asyncio.to_thread(store.tokens))
        check_exposure(settings.security, places, has_devices=has_devices)
        metrics = Metrics()
        supervisor = Supervisor(metrics.task_failed)
        meaning = EmbeddingService(store, settings.embedding, metrics.embedder_failed, supervisor)
        service = CompanionApp(settings, store, meaning, operator, key, metrics, supervisor)
        async with service.running():
            web = WebServer(make_app(service), http.host, http.port, tls, supervisor)
            await web.start()
            try:
                yield RunningCompanion(service, web)
            finally:
                await web.stop()
    finally:
        await asyncio.to_thread(store.close)
