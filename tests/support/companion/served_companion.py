"""A companion in the test's own process and loop, with a board beside it, whose tasks a test can kill."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx

from embedding_service import KEY, MODEL, EmbeddingService
from engram.link import messages
from engram_host.companion.serving import RunningCompanion, start
from failing_network import FakeServer
from kept_adapters import keep_adapters
from markdown_folders import write
from sending import Sent
from webhook import Webhook

SECONDS = 60.0

keep_adapters()


class Killed(Exception):
    """What nobody foresaw."""


class Served:
    """A companion in this process with all of its background tasks, an embedding service beside it, and a board that speaks
    to it over HTTP or MQTT; each call of `says` says something new.
    """

    def __init__(self, running: RunningCompanion, client: httpx.AsyncClient, embedder: EmbeddingService, root: Path):
        self.running = running
        self.client = client
        self.embedder = embedder
        self.root = root
        self.network: FakeServer | None = None
        self.hook: Webhook | None = None
        """What a test has put outside: a network of bridges, a service for alerts."""
        self.count = 0
        self.sent = Sent(self._keep, "kitchen")
        self._messages: list[bytes] = []

    def _keep(self, _device: str, message: bytes) -> bytes:
        self._messages.append(message)
        return b""

    def hello(self) -> bytes:
        """The message by which the board begins a connection."""
        self.sent.hello()
        return self._messages.pop()

    def says(self) -> bytes:
        """A message with one new line of the board."""
        self.count += 1
        self.sent.say(f"number {self.count}")
        self.sent.send("journal", after=self.count - 1)
        return self._messages.pop()

    async def posted(self, message: bytes) -> dict[str, Any]:
        """The head of the answer to a message over HTTP, with the `text` behind it."""
        headers = {"Content-Type": "application/octet-stream"}
        answer = await self.client.post("/v1/devices/kitchen/messages", content=message, headers=headers)
        assert answer.status_code == 200, answer.text
        head, text = messages.decode(answer.content, messages.TO_BOARD)
        return head | {"text": bytes(text).decode()}

    async def health(self) -> dict[str, Any]:
        """What it says of itself to somebody who connects now."""
        async with httpx.AsyncClient(base_url=self.client.base_url, verify=False, timeout=SECONDS) as client:
            return (await client.get("/v1/health")).json()

    async def task(self, name: str) -> dict[str, Any]:
        """What it says of a background task."""
        return next(task for task in (await self.health())["tasks"] if task["name"] == name)


@contextlib.asynccontextmanager
async def served(home: Path, more: dict[tuple[str, str], Any]) -> AsyncIterator[Served]:
    root = home.parent / "notes"
    write(root, {"first.md": "# First\n\nnothing much\n"})
    with EmbeddingService() as embedder:
        flags = {
            ("http", "port"): 0,
            ("folders", "paths"): [str(root)],
            ("folders", "rescan_seconds"): 1,
            ("embedding", "provider"): "openai",
            ("embedding", "base_url"): embedder.url,
            ("embedding", "api_key"): KEY,
            ("embedding", "model_name"): MODEL,
            ("embedding", "fallback"): "none",
            **more,
        }
        async with (
            start(home, flags) as running,
            httpx.AsyncClient(base_url=running.web.url, verify=False, timeout=SECONDS) as client,
        ):
            yield Served(running, client, embedder, root)


def run(
    home: Path, play: Callable[[Served], Awaitable[None]], more: dict[tuple[str, str], Any] | None = None
) -> list[dict[str, Any]]:
    """Play with a companion that has `more` settings; what its loop complained of in the end."""
    complaints: list[dict[str, Any]] = []

    async def in_time() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
        async with asyncio.timeout(3 * SECONDS), served(home, more or {}) as companion:
            await play(companion)
        gc.collect()

    asyncio.run(in_time())
    return complaints


async def soon(what: str, is_so: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Wait until `is_so` gives something true, and give that."""
    try:
        async with asyncio.timeout(SECONDS):
            while not (found := await is_so()):
                await asyncio.sleep(0.02)
            return found
    except TimeoutError:
        raise AssertionError(f"not in time: {what}") from None


# --- how a task is killed


def fail(task: asyncio.Task[Any]) -> None:
    """Make a task raise an error where it waits, once it does."""
    waits_for: asyncio.Future[Any] | None = task._fut_waiter  # type: ignore[attr-defined]
    if waits_for and not waits_for.done():
        waits_for.set_exception(Killed("killed"))
    elif not task.done():
        asyncio.get_running_loop().call_soon(fail, task)


def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()


WAYS = {fail: "Killed: killed", cancel: "it was cancelled"}


def tasks_of(name: str) -> list[asyncio.Task[Any]]:
    """The tasks of this name, or that run a coroutine of this name."""
    return [task for task in asyncio.all_tasks() if name in (task.get_name(), coroutine_of(task))]


async def one_task(name: str) -> asyncio.Task[Any]:
    """The task of this name, as soon as it waits for something that has not come yet."""

    async def found() -> asyncio.Task[Any] | None:
        return next((task for task in tasks_of(name) if is_waiting(task)), None)

    return await soon(f"there is a task {name}", found)


def is_waiting(task: asyncio.Task[Any]) -> bool:
    waits_for: asyncio.Future[Any] | None = task._fut_waiter  # type: ignore[attr-defined]
    return waits_for is not None and not waits_for.done()


def coroutine_of(task: asyncio.Task[Any]) -> str:
    """The name of what a task runs."""
    return getattr(task.get_coro(), "__qualname__", "")


def file_of(task: asyncio.Task[Any]) -> str:
    """The file of what a task runs."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code.co_filename if code else ""
