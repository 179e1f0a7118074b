"""A client of the Bot API as bare as a board's, for tests of the fake."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlencode

import httpx

from fake_telegram import FakeTelegram, FloodLimits, ManualClock
from waiting import SECONDS


class BotApi:
    """Calls methods of a server; an answer is its whole JSON object."""

    def __init__(self, server: FakeTelegram, client: httpx.AsyncClient):
        self.server = server
        self.client = client
        self.base = f"{server.url}/bot{server.token}"

    async def call(self, method: str, **arguments: object) -> dict[str, Any]:
        """An answer to arguments in JSON."""
        response = await self.client.post(f"{self.base}/{method}", json=arguments)
        answer = response.json()
        assert response.status_code == answer.get("error_code", 200)
        return answer

    async def form(self, method: str, **arguments: str) -> dict[str, Any]:
        """An answer to arguments in a form."""
        return (await self.client.post(f"{self.base}/{method}", data=arguments)).json()

    async def query(self, method: str, **arguments: str) -> dict[str, Any]:
        """An answer to arguments in a query."""
        return (await self.client.get(f"{self.base}/{method}?{urlencode(arguments)}")).json()

    async def result(self, method: str, **arguments: object) -> Any:
        """The result of a call that has to be taken."""
        answer = await self.call(method, **arguments)
        assert answer["ok"], answer
        return answer["result"]

    async def problem(self, method: str, **arguments: object) -> str:
        """The description of a call that has to be refused with 400."""
        answer = await self.call(method, **arguments)
        assert answer.get("error_code") == 400, answer
        return answer["description"]

    async def polled(self) -> None:
        """Wait until a long poll waits."""
        clock = self.server.clock
        assert isinstance(clock, ManualClock)
        await self.server.wait_until(lambda: self.server.state.updates.is_polled)
        await until(lambda: clock.sleepers > 0)


async def until(condition: Callable[[], object]) -> None:
    """Let the loop's other tasks run until something is so."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0)


Talk = Callable[[BotApi], Coroutine[Any, Any, None]]


def with_bot(talk: Talk, *, limits: bool = False, **options: Any) -> None:
    """Run a talk with a server of its own, on a clock that stands still."""

    async def run() -> None:
        options.setdefault("clock", ManualClock())
        server = FakeTelegram(limits=FloodLimits(enabled=limits), **options)
        async with server, httpx.AsyncClient(timeout=SECONDS, verify=False) as client:
            await talk(BotApi(server, client))

    asyncio.run(run())


def as_json(value: object) -> str:
    """An argument of a form that is an object."""
    return json.dumps(value)
