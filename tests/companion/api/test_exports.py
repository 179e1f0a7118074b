"""Exports that are taken slowly, or not at all: how many there are at once is bounded, and the rest goes on."""

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from fastapi import FastAPI

from archiving_board import ArchivingBoard
from engram_host.companion.api.copies import MOST_EXPORTS, add_copy_routes
from engram_host.companion.store import CompanionStore

EXPORT = "/v1/devices/kitchen/export"


class Client:
    """Asks an app for a path, and takes the body only once it is let."""

    def __init__(self, app: FastAPI, path: str):
        self.status = 0
        self.body = b""
        self.let = asyncio.Event()
        self._answered = asyncio.Event()
        self._gone = asyncio.Event()
        self.task = asyncio.create_task(self._run(app, path))

    async def answered(self) -> int:
        """The status, once it is there."""
        async with asyncio.timeout(20):
            await self._answered.wait()
        return self.status

    async def _run(self, app: FastAPI, path: str) -> None:
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
        await app(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._answered.set()
            return
        if self.status == 200:
            await self.let.wait()
        self.body += message.get("body", b"")

    def go(self) -> None:
        """The client hangs up."""
        self._gone.set()


@pytest.fixture
def played(store: CompanionStore):
    """Runs a play on an app that has the copy of a board."""
    board = ArchivingBoard(store)
    board.keep()
    board.sync()
    app = FastAPI()
    add_copy_routes(app, Mock(boards=store.boards))

    def run(play: Callable[[FastAPI], Any]) -> None:
        asyncio.run(play(app))

    return run


async def _slow(app: FastAPI) -> list[Client]:
    slow = [Client(app, EXPORT) for _ in range(MOST_EXPORTS)]
    assert [await client.answered() for client in slow] == [200] * MOST_EXPORTS
    return slow


def test_one_more_than_may_be_is_refused_until_one_is_over(played):
    async def play(app: FastAPI) -> None:
        slow = await _slow(app)
        assert await Client(app, EXPORT).answered() == 429
        slow[0].let.set()
        await slow[0].task
        assert slow[0].body.rstrip().endswith(b"}")
        assert await Client(app, EXPORT).answered() == 200

    played(play)


def test_a_client_that_goes_gives_its_place_back(played):
    async def play(app: FastAPI) -> None:
        slow = await _slow(app)
        slow[0].go()
        async with asyncio.timeout(20):
            await slow[0].task
        assert await Client(app, EXPORT).answered() == 200

    played(play)
