"""A TCP proxy between a bridge and its server, whose connections can be cut, or fall silent."""

import asyncio
import contextlib
from typing import Self

from waiting import wait_until_async


class CutProxy:
    """Passes on what comes at a port of its own, and counts what has `secret` in it unencrypted; for `async with`."""

    def __init__(self, target: int, secret: bytes = b"<message"):
        self._target = target
        self._secret = secret
        self.leaks = 0
        self.steps = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._speaks = asyncio.Event()
        self._speaks.set()
        self._lost_of_client = 0
        self.accepted = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Take no more connections, and end those that there are."""
        assert self._server is not None
        self._server.close()
        await self.cut()

    @property
    def port(self) -> int:
        assert self._server is not None
        return self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """End all connections at once; those that are made from now on speak."""
        self._speaks.set()
        connections = tuple(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def fall_silent(self) -> None:
        """Pass on nothing more, and end no connection."""
        self._speaks.clear()
        self._lost_of_client = 0

    async def wait_until_lost(self, least: int = 1) -> None:
        """Wait until a silent proxy has not passed on so many bytes of the client's."""
        await wait_until_async("nothing is lost", lambda: self._lost_of_client >= least)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        there = None
        with contextlib.suppress(OSError, asyncio.CancelledError):
            answers, there = await asyncio.open_connection("127.0.0.1", self._target)
            await asyncio.gather(self._pass(reader, there, True), self._pass(answers, writer, False))
        for end in (writer, there):
            if end is not None:
                end.transport.abort()
        self._connections.discard(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_client: bool) -> None:
        while data := await reader.read(65536):
            self.leaks += self._secret in data
            self.steps += 1
            if not self._speaks.is_set():
                self._lost_of_client += len(data) if is_client else 0
                continue
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError
