"""Many boards over one connection to a broker, which send again what was not answered, as boards do.

async with Hub(url) as hub:
    kitchen = FleetBoard(hub, "kitchen")
    kitchen.say("hello")
    await kitchen.copy()          # until all is acknowledged
"""

import asyncio
import contextlib
import random
from typing import Any, Self
from urllib.parse import urlsplit

import aiomqtt

from engram import log_line
from sending import Sent

ANSWER_SECONDS, LONGEST_SECONDS = 4.0, 16.0
"""How long a board waits for an answer before it sends again; twice as long after each message that got none."""

MOST_AT_ONCE = 1000
"""Messages under way: each board of a fleet has a connection of its own, and waits for no other one."""

IN_MESSAGE = 40
"""Lines of a message."""

_Address = tuple[str, int, int]


class Hub:
    """A connection to a broker, which comes back when that does."""

    def __init__(self, url: str):
        self._where = urlsplit(url)
        self._client: aiomqtt.Client | None = None
        self._connected = asyncio.Event()
        self._asked: dict[_Address, asyncio.Future[dict[str, Any]]] = {}
        self._heard: set[str] = set()
        """The boards whose answers are subscribed to."""
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def ask(self, device: str, link: int, n: int, message: bytes, seconds: float) -> dict[str, Any]:
        """The head of the first answer to a message, {} if none comes in time."""
        address = device, link, n
        answer = self._asked[address] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await self._hear(device)
                await self.send(device, message)
                return await answer
        except (TimeoutError, aiomqtt.MqttError):
            return {}
        finally:
            del self._asked[address]

    async def _hear(self, device: str) -> None:
        """Subscribe to what a board is answered, before it asks for the first time."""
        if device not in self._heard:
            await self._connected.wait()
            assert self._client
            await self._client.subscribe(f"engram/v1/{device}/down", qos=1)
            self._heard.add(device)

    async def send(self, device: str, message: bytes) -> None:
        """Send a message that asks for no answer."""
        await self._connected.wait()
        assert self._client
        try:
            await self._client.publish(f"engram/v1/{device}/up", message, qos=1)
        except aiomqtt.MqttError:
            await asyncio.sleep(0.1)  # until the connection is known to be lost: all boards would try again and again
            raise

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(aiomqtt.MqttError):
                host, port = self._where.hostname or "", self._where.port or 0
                client = aiomqtt.Client(
                    host, port, max_concurrent_outgoing_calls=MOST_AT_ONCE, max_inflight_messages=MOST_AT_ONCE
                )
                client.pending_calls_threshold = MOST_AT_ONCE  # it warns of each one beyond ten
                async with client:
                    for device in sorted(self._heard):
                        await client.subscribe(f"engram/v1/{device}/down", qos=1)
                    self._client = client
                    self._connected.set()
                    async for message in client.messages:
                        self._take(message)
            self._connected.clear()
            await asyncio.sleep(0.1)

    def _take(self, message: aiomqtt.Message) -> None:
        assert isinstance(message.payload, bytes)
        head = log_line.decode(message.payload.splitlines(keepends=True)[0])
        waiting = self._asked.get((message.topic.value.split("/")[2], head["link"], head["n"]))
        if waiting and not waiting.done():
            waiting.set_result(head)


class FleetBoard(Sent):
    """A board of a fleet."""

    def __init__(self, hub: Hub, device: str):
        self._hub = hub
        self._made: list[bytes] = []
        self._seconds = ANSWER_SECONDS
        self._again = 0
        super().__init__(self._keep, device, board=f"id-{device}")
        self.acknowledged = 0
        """Acknowledged lines, each counted once for each message that had it."""

    def _keep(self, _device: str, message: bytes) -> bytes:
        self._made.append(message)
        return b""

    async def copy(self) -> None:
        """Send all that the companion does not have, until all is acknowledged."""
        while not await self._copy_once():
            await asyncio.sleep(self._again + random.uniform(0, 0.2))

    async def listen(self, seconds: int) -> dict[str, Any]:
        """Wait for a message; what comes, or that there is none."""
        self.ask("listen", wait=seconds, mid="", turn="")
        return await self._hub.ask(self.device, self.link, self.n, self._made.pop(), seconds)

    async def _copy_once(self) -> bool:
        """One connection of the board; whether all was acknowledged in it."""
        self.hello()
        welcome = await self._answer()
        if welcome.get("op") != "welcome":
            return False
        for log in ("records", "journal"):
            have, _, agreed = welcome[log]
            is_rewritten = agreed != self.rewrites
            if not await self._send_all(log, 0 if is_rewritten else have):
                return False
            if is_rewritten and not await self._agree(log):
                return False
        return True

    async def _send_all(self, log: str, after: int) -> bool:
        last = self._next(log) - 1
        while after < last:
            to = min(after + IN_MESSAGE, last)
            self.send(log, after, to)
            answer = await self._answer()
            if answer.get("op") != "have":
                return False
            self.acknowledged += to - after
            after = min(answer["have"], to)  # what is behind may have been rewritten, too
        return True

    async def _agree(self, log: str) -> bool:
        self.ask("agreed", log=log, epoch=self.epoch, rewrites=self.rewrites)
        return (await self._answer()).get("op") == "same"

    async def _answer(self) -> dict[str, Any]:
        """What is answered to the message that was made last."""
        found = await self._hub.ask(self.device, self.link, self.n, self._made.pop(), self._seconds)
        self._seconds = ANSWER_SECONDS if found else min(LONGEST_SECONDS, 2 * self._seconds)
        self._again = found.get("again", 0) if found.get("op") == "refused" else 0
        return found

    def compact(self, seqs: set[int]) -> None:
        """Take forgotten records out of the log."""
        self.lines["records"] = [(seq, line) for seq, line in self.lines["records"] if seq not in seqs]
        self.rewrites += 1
