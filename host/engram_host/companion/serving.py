"""Starts a companion, and knows its addresses while it runs."""

import asyncio
import contextlib
import functools
import socket
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from engram_host import __version__
from engram_host.companion.api.app import make_app
from engram_host.companion.api.server import CannotListen, WebServer, find_connection_limit
from engram_host.companion.app import CompanionApp
from engram_host.companion.auth.exposure import check_exposure, http_tls
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.auth.sessions import make_sign_in_path
from engram_host.companion.auth.tokens import operator_token
from engram_host.companion.bridges.connections import run_until_one_ends
from engram_host.companion.embedding.embedding_service import GRAPHS, EmbeddingService
from engram_host.companion.gateway.service import ApiKey, find_api_key
from engram_host.companion.lockfile import bind_socket, in_url, lock_home, reachable_host
from engram_host.companion.metrics import Metrics
from engram_host.companion.page.page import Page
from engram_host.companion.page.routes import make_page_routers, make_refusal
from engram_host.companion.settings import HttpSettings, database_file, make_folder, read_settings, store_url
from engram_host.companion.settings_reader import without_login
from engram_host.companion.store import open_store
from engram_host.companion.store.processes import LeaseKeeper
from engram_host.companion.supervisor import Supervisor


class RunningCompanion:
    def __init__(self, app: CompanionApp, web: WebServer):
        self.app = app
        self.web = web

    async def serve(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set; raises HttpLost."""
        await run_until_one_ends(stop.wait(), self.web.until_lost())

    def addresses(self) -> dict[str, str]:
        """Return the address of `http`, and of the broker as `mqtt` if there is one."""
        broker = without_login(self.app.settings.mqtt.url)
        return {"http": self.web.url} | ({"mqtt": broker} if broker else {})

    def page_address(self) -> str:
        """Return the page's address, with a one-time code if tokens are required; raises StoreUnavailable."""
        access = self.app.access
        url = f"{self.web.scheme}://{in_url(reachable_host(self.web.host))}:{self.web.port}"
        if not access.requires_tokens:
            return f"{url}/"
        return url + make_sign_in_path(self.app.store.sessions, access.callers.operator, is_local=True)

    def banner(self, seconds: float, page: str) -> list[str]:
        """Return the lines shown after a start of `seconds`; `page` says how to open the page."""
        app = self.app
        return [
            f"Engram companion {__version__}, ready in {seconds:.1f} s. Ctrl-C ends it.",
            f"  page      {page}",
            f"  HTTP      {self.web.url}  ({self.web.url}/docs)",
            f"  MQTT      {app.mqtt_name}",
            f"  store     {app.store.database.name}",
            f"  meaning   {app.embedding.status_line()}",
            f"  tokens    {'required' if app.access.requires_tokens else 'not required: only this computer reaches it'}",
        ]


def _web_app(app: CompanionApp) -> FastAPI:
    page = Page(app.access)
    return make_app(app, make_page_routers(page, app), functools.partial(make_refusal, page))


def listen(http: HttpSettings) -> socket.socket:
    """Bind the HTTP API's socket, to a free port for 0; raises CannotListen."""
    try:
        return bind_socket(http.host, http.port)
    except OSError as error:
        where = f"{http.host}:{http.port}"
        problem = f"the HTTP API cannot listen at {where}: {error.strerror}; set http.port to another one."
        raise CannotListen(problem) from None


@contextlib.asynccontextmanager
async def start(home: Path, flags: Mapping[tuple[str, str], Any]) -> AsyncIterator[RunningCompanion]:
    """Serve while the context is open; raises SettingError, StoreUnavailable or CannotListen."""
    settings = read_settings(home, flags)
    make_folder(home)
    http = settings.http
    operator = operator_token(home)
    key = await asyncio.to_thread(find_api_key, SecretStore(home)) if settings.gateway.url else ApiKey()
    tls = http_tls(http, home)
    async with contextlib.AsyncExitStack() as stack:
        # Several share a PostgreSQL; a file is for one.
        stack.enter_context(lock_home(home, alone=database_file(settings) is not None))
        store = await asyncio.to_thread(open_store, store_url(settings.store, settings.home))
        stack.push_async_callback(asyncio.to_thread, store.close)
        has_devices = bool(await asyncio.to_thread(store.tokens.tokens))
        check_exposure(settings.security, http, has_devices=has_devices)
        metrics = Metrics()
        supervisor = Supervisor(metrics.task_failed)
        leases = LeaseKeeper(store.database, supervisor)
        embedding = EmbeddingService(
            boards=store.boards,
            values=store.values,
            vectors=store.vectors,
            settings=settings.embedding,
            supervisor=supervisor,
            failed=metrics.embedder_failed,
            graphs=settings.home / GRAPHS,
            lease=leases.lease("embedding"),
        )
        app = CompanionApp(
            settings=settings,
            store=store,
            embedding=embedding,
            operator=operator,
            gateway_key=key,
            metrics=metrics,
            supervisor=supervisor,
            leases=leases,
        )
        async with app.running():
            web = WebServer(_web_app(app), listen(http), http.host, supervisor, find_connection_limit(), tls)
            await web.start()
            try:
                yield RunningCompanion(app, web)
            finally:
                app.conversations.release()  # ends long polls
                await web.stop()
