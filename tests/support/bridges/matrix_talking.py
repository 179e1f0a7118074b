"""A bridge to Matrix that runs through a module's tests: signing in again for each would take most of their time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from bridge_run import made, running
from matrix_peer import MatrixPeer
from matrix_server import MatrixServer
from recording_host import RecordingHost


@contextlib.asynccontextmanager
async def person(server: MatrixServer, name: str = "ann") -> AsyncIterator[MatrixPeer]:
    """A person's account, signed in."""
    peer = await server.peer(name)
    try:
        yield peer
    finally:
        await peer.close()


class Talking:
    """A bridge that runs, and a person, for one test after the other. A test with a bridge of its own ends it first."""

    def __init__(self, server: MatrixServer):
        self.server = server
        self._runner = asyncio.Runner()
        self._stack: contextlib.AsyncExitStack | None = None

    async def _begin(self) -> None:
        self._stack = contextlib.AsyncExitStack()
        self._ann = await self._stack.enter_async_context(person(self.server))
        self._network, self._host = made("matrix", self.server.settings), RecordingHost()
        await self._stack.enter_async_context(running(self._network, self._host))

    async def _with_bridge(self, talk: Callable[..., Coroutine[Any, Any, None]]) -> None:
        if self._stack is None:
            await self._begin()
        room = self._ann.room
        try:
            await talk(self._network, self._host, self._ann)
        finally:
            self._ann.room = room
            self._ann.forget()
            self._host.received.clear()

    async def _end(self) -> None:
        if self._stack is not None:
            await self._stack.aclose()
            self._stack = None

    def with_bridge(self, talk: Callable[..., Coroutine[Any, Any, None]]) -> None:
        """Talk while the bridge runs."""
        self._runner.run(self._with_bridge(talk))

    def alone(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work while the bridge does not run."""
        self._runner.run(self._end())
        self._runner.run(work)

    def close(self) -> None:
        self._runner.run(self._end())
        self._runner.close()
