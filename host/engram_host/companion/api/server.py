"""The HTTP server, as a task of the companion's event loop, with an end to slow connections."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from engram_host.companion.auth.connections import Acceptor, Connection, Connections
from engram_host.companion.auth.middleware import CONNECTION
from engram_host.companion.errors import CompanionError
from engram_host.companion.supervisor import BackgroundTask, Supervisor

HEAD_SECONDS = 15.0
"""How long the head of a request may take, from the connection or from its first byte."""

STALLED_SECONDS = 60.0
"""How long an answer may wait for its reader without a byte being taken."""


class SlowClientProtocol(H11Protocol):
    """uvicorn's protocol, which waits for slow clients without end, with an end to it."""

    def __init__(self, connection: Connection, *args: Any, **options: Any):
        super().__init__(*args, **options)
        # The check of callers finds it there, and says when the client is known.
        self.app_state = {**self.app_state, CONNECTION: connection}
        self._connection = connection
        self._head: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A connection begins: the head of its first request has to come."""
        super().connection_made(transport)
        self._head = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Bytes came: the beginning of a head has to be followed by its end."""
        super().data_received(data)
        is_in_head = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not is_in_head:
            self._head = _cancel(self._head)
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        """The other side takes no more for now."""
        super().pause_writing()
        self._stalled = self._stalled or self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The other side has taken what was there."""
        super().resume_writing()
        self._stalled = _cancel(self._stalled)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        self._connection.release()
        self._head = _cancel(self._head)
        self._stalled = _cancel(self._stalled)
        super().connection_lost(exc)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer:
        timer.cancel()


# --- server


KEEP_ALIVE_SECONDS = 75
"""How long a silent connection stays open: longer than boards are silent between two signs of life."""

MOST_FAILURES = 5
"""Times in a row that the server may fail. Then the process ends: nobody could ask any more how the companion is, and
whatever runs the process can start it again.
"""


class CannotListen(CompanionError):
    """The HTTP server could not listen."""


class HttpLost(CompanionError):
    """The HTTP server failed again and again."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, connections: Connections):
        super().__init__(config)
        self._connections = connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen as uvicorn does, but accept within the bound of open connections."""
        await super().startup(sockets=[])
        acceptors = [Acceptor(each, self._connections, self._make_protocol, self.config.ssl) for each in sockets or ()]
        for acceptor in acceptors:
            acceptor.start()
        self.servers = acceptors  # pyright: ignore[reportAttributeAccessIssue]: uvicorn only closes them

    def _make_protocol(self, connection: Connection) -> asyncio.Protocol:
        return SlowClientProtocol(
            connection, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the one who started the companion."""
        yield

    def stop_listening(self) -> None:
        """Take no new connections; those that are there go on."""
        for server in getattr(self, "servers", ()):  # uvicorn sets it when it has begun to listen
            server.close()


class WebServer:
    """Serves an app at a bound socket, which is called by the name `host`."""

    def __init__(
        self,
        app: FastAPI,
        listener: socket.socket,
        host: str,
        supervisor: Supervisor,
        connections: Connections,
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
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=5,
            proxy_headers=False,
            server_header=False,
            ws="none",
            ssl_context_factory=(lambda _config, _default: tls) if tls else None,
        )
        self._server = _Server(config, connections)
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None
        self._listener = listener
        self._lost = asyncio.Event()

    @property
    def url(self) -> str:
        """Where it is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    async def start(self) -> None:
        """Listen; CannotListen if that cannot be done."""
        self._task = task = self._supervisor.start(
            "http", self._serve, most_failures=MOST_FAILURES, on_lost=self._lost.set
        )
        while not self._server.started:
            if task.problem:
                await self.stop()
                raise CannotListen(task.problem)
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Answer what is under way, then stop listening."""
        self._server.should_exit = True
        self._listener.close()
        if self._task:
            await self._task.finish()

    async def until_lost(self) -> None:
        """Wait until the server cannot be kept up, and raise HttpLost then."""
        await self._lost.wait()
        raise HttpLost(self._task.problem if self._task else "")

    async def _serve(self) -> None:
        # A socket of its own each time: while the server starts again, clients wait at the other one.
        own = self._listener.dup()
        try:
            await self._server.serve(sockets=[own])
        finally:
            self._server.stop_listening()
            own.close()
