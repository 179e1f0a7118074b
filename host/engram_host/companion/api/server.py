"""The HTTP server, as a task of the companion's event loop, with timeouts for slow connections."""

import asyncio
import contextlib
import logging
import resource
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from engram_host.companion.errors import CompanionError
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.http")

MOST_CONNECTIONS = 1 << 13
"""Open connections, at most: bounds the memory of clients that say nothing, some 20 KB each."""

TOLD_BUSY = 64
"""Clients beyond the limit that still get a 503; further ones are closed at once."""

RESERVED_FILES = 256

HEAD_SECONDS = 15.0

STALLED_SECONDS = 60.0


class SlowClientProtocol(H11Protocol):
    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self._head: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency + TOLD_BUSY:
            transport.abort()
            return
        self._head = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_in_head = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not is_in_head:
            self._head = _cancel(self._head)
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self._stalled or self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stalled = _cancel(self._stalled)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head = _cancel(self._head)
        self._stalled = _cancel(self._stalled)
        super().connection_lost(exc)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer:
        timer.cancel()


# --- server


KEEP_ALIVE_SECONDS = 75
"""Timeout of an idle connection; longer than boards are silent between two signs of life."""

MOST_FAILURES = 5
"""Failures in a row before the process ends, so that its supervisor can restart it."""


class CannotListen(CompanionError):
    """The HTTP server could not listen."""


class HttpLost(CompanionError):
    """The HTTP server failed again and again."""


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop_listening(self) -> None:
        for server in getattr(self, "servers", ()):  # uvicorn sets it when it has begun to listen
            server.close()


def find_connection_limit() -> int:
    """Raise the limit of open files as far as the system lets us, and return the connections that fit into it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + TOLD_BUSY + RESERVED_FILES
    files = wanted if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < files:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
        except (OSError, ValueError) as error:
            _log.warning("the limit of open files stays %d: %s", soft, error)
            files = soft
    files = min(files, wanted)
    return max(files - TOLD_BUSY - RESERVED_FILES, files // 2)


class WebServer:
    def __init__(
        self,
        app: FastAPI,
        listener: socket.socket,
        host: str,
        supervisor: Supervisor,
        most_connections: int,
        tls: ssl.SSLContext | None = None,
    ):
        self.host = host
        self.port: int = listener.getsockname()[1]
        self.scheme = "https" if tls else "http"
        config = uvicorn.Config(
            app,
            http=SlowClientProtocol,
            log_config=None,
            access_log=False,
            lifespan="off",
            limit_concurrency=most_connections,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=5,
            proxy_headers=False,
            server_header=False,
            ws="none",
            ssl_context_factory=(lambda _config, _default: tls) if tls else None,
        )
        self._server = _Server(config)
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None
        self._listener = listener
        self._lost = asyncio.Event()

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    async def start(self) -> None:
        self._task = task = self._supervisor.start(
            "http", self._serve, most_failures=MOST_FAILURES, on_lost=self._lost.set
        )
        while not self._server.started:
            if task.problem:
                await self.stop()
                raise CannotListen(task.problem)
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        self._server.should_exit = True
        self._listener.close()
        if self._task:
            await self._task.finish()

    async def until_lost(self) -> None:
        """Wait until restarts have failed; raises HttpLost."""
        await self._lost.wait()
        raise HttpLost(self._task.problem if self._task else "")

    async def _serve(self) -> None:
        # A new socket each time: during a restart clients wait at the other one.
        own = self._listener.dup()
        try:
            await self._server.serve(sockets=[own])
        finally:
            self._server.stop_listening()
            own.close()
