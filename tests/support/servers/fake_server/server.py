"""An HTTP server that takes connections and lets a subclass answer the requests on them."""

import asyncio
import logging
import ssl
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from .http import HEAD, HttpError, HttpRequest, Outgoing, read_request

LOOPBACK = "127.0.0.1"
_CONNECTIONS = 64
"""Open connections; protects the process's file handles."""
_ACCEPTING_TURNS = 3
"""Turns of the loop until an accepted connection is known: a server that is closed before that leaves it open, unread."""
_log = logging.getLogger(__name__)


class ConnectionCut(Exception):
    """The connection ends at once, without an answer."""


class FakeServer(ABC):
    """Listens on a port, a free one if it is 0; `async with` starts and ends it."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None = None):
        self._host = host
        self._port = port
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._is_open = False
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where the server listens."""
        return f"{'http' if self._tls is None else 'https'}://{self._host}:{self._port}"

    @abstractmethod
    async def _answer(self, request: HttpRequest, out: Outgoing) -> None:
        """Answer a request; ConnectionCut in place of that ends its connection."""

    @abstractmethod
    async def _refuse(self, error: HttpError, out: Outgoing) -> None:
        """Answer a request that could not be read."""

    async def start(self) -> None:
        """Begin to listen."""
        self._is_open = True
        self._server = await asyncio.start_server(self._connected, self._host, self._port, limit=HEAD, ssl=self._tls)
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """End all connections, also those that wait for their answer."""
        if self._server is not None:
            for listening in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listening.fileno())
            for _ in range(_ACCEPTING_TURNS):
                await asyncio.sleep(0)
            self._server.close()
        self._is_open = False
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.sleep(0)  # closed transports release their sockets in the loop's next turn

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._is_open:  # it was accepted as the server ended
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._connection(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        task.add_done_callback(lambda _: writer.close())  # a task that is cancelled before it begins has no `finally`

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer_all(reader, writer)
        except ConnectionCut:
            writer.transport.abort()
        except ConnectionError as error:
            _log.debug("a client left before its answer was complete: %s", error)

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if len(self._connections) > _CONNECTIONS:
                raise HttpError(503, f"there are {_CONNECTIONS} connections already")
            while (request := await read_request(reader)) is not None:
                out = Outgoing(reader, writer, request)
                await self._answer(request, out)
                if not out.keeps:
                    break
        except HttpError as error:
            await self._refuse(error, Outgoing(reader, writer, None))
