"""The HTTP server, as a task of the companion's own event loop."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator

import uvicorn
from fastapi import FastAPI

from engram_host.companion.errors import CompanionError
from engram_host.companion.slow import PatientProtocol

KEEP_ALIVE_SECONDS = 75
"""How long a silent connection stays open: longer than boards are silent between two signs of life."""

MOST_AT_ONCE = 1024
"""Requests that are answered at the same time; more are told to come back: bounds the memory."""


class CannotListen(CompanionError):
    """The HTTP server could not listen."""


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the one who started the companion."""
        yield


class WebServer:
    """Serves an app at host and port; with port 0 at a free one, which `port` then is."""

    def __init__(self, app: FastAPI, host: str, port: int, tls: ssl.SSLContext | None = None):
        self.host = host
        self.port = port
        self._scheme = "https" if tls else "http"
        config = uvicorn.Config(
            app,
            http=PatientProtocol,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            limit_concurrency=MOST_AT_ONCE,
            timeout_graceful_shutdown=5,
            proxy_headers=False,
            server_header=False,
            ws="none",
            ssl_context_factory=(lambda _config, _default: tls) if tls else None,
        )
        self._server = _Server(config)
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self._scheme}://{host}:{self.port}"

    async def start(self) -> None:
        """Listen; CannotListen if that cannot be done."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # With the protocol named asyncio sends what there is at once: else each answer would wait 40 ms for the other side.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
        except OSError as error:
            listener.close()
            where = f"{self.host}:{self.port}"
            problem = f"the HTTP API cannot listen at {where}: {error.strerror}; set http.port to another one."
            raise CannotListen(problem) from None
        self.port = listener.getsockname()[1]
        self._task = asyncio.create_task(self._server.serve(sockets=[listener]), name="http")
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Answer what is under way, then stop listening."""
        if self._task:
            self._server.should_exit = True
            await asyncio.gather(self._task, return_exceptions=True)
