"""Each background task of a running companion is killed: it comes back, does its work again, and /v1/health tells of it."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiomqtt
import httpx
import pytest

import get_mosquitto
from embedding_service import KEY, MODEL, EmbeddingService
from engram import log_line
from engram_host.companion import searching, service
from engram_host.companion.start import Running, start
from engram_host.companion.supervisor import TASKS
from markdown_folders import write
from peers import Broker, free_port
from sending import Sent

SECONDS = 60.0


class Killed(Exception):
    """What nobody foresaw."""


class Served:
    """A companion in this process with all of its background tasks, an embedding service beside it, and a board that speaks
    to it over HTTP or MQTT; each call of `says` says something new.
    """

    def __init__(self, running: Running, client: httpx.AsyncClient, embedder: EmbeddingService, root: Path):
        self.running = running
        self.client = client
        self.embedder = embedder
        self.root = root
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
        """The head of the answer to a message over HTTP."""
        headers = {"Content-Type": "application/octet-stream"}
        answer = await self.client.post("/v1/devices/kitchen/messages", content=message, headers=headers)
        assert answer.status_code == 200, answer.text
        return log_line.decode(answer.content.splitlines(keepends=True)[0])

    async def health(self) -> dict[str, Any]:
        """What it says of itself to somebody who connects now."""
        async with httpx.AsyncClient(base_url=self.client.base_url, verify=False, timeout=SECONDS) as client:
            return (await client.get("/v1/health")).json()

    async def task(self, name: str) -> dict[str, Any]:
        """What it says of a background task."""
        return next(task for task in (await self.health())["tasks"] if task["name"] == name)


@contextlib.asynccontextmanager
async def served(home: Path, mqtt_url: str = "") -> AsyncIterator[Served]:
    root = home.parent / "notes"
    write(root, {"first.md": "# First\n\nnothing much\n"})
    with EmbeddingService() as embedder:
        flags = {
            ("http", "port"): 0,
            ("mqtt", "port"): free_port(),
            ("mqtt", "url"): mqtt_url,
            ("folders", "paths"): [str(root)],
            ("folders", "debounce_ms"): 100,
            ("embedding", "provider"): "openai",
            ("embedding", "base_url"): embedder.url,
            ("embedding", "api_key"): KEY,
            ("embedding", "model_name"): MODEL,
            ("embedding", "fallback"): "none",
            ("embedding", "batch_least"): 50_000,
        }
        async with (
            start(home, flags) as running,
            httpx.AsyncClient(base_url=running.web.url, verify=False, timeout=SECONDS) as client,
        ):
            yield Served(running, client, embedder, root)


def run(home: Path, play: Callable[[Served], Awaitable[None]], **more: str) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(SECONDS), served(home, **more) as companion:
            await play(companion)

    asyncio.run(in_time())


async def soon(what: str, is_so: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Wait until `is_so` gives something true, and give that."""
    try:
        async with asyncio.timeout(SECONDS / 2):
            while not (found := await is_so()):
                await asyncio.sleep(0.02)
            return found
    except TimeoutError:
        raise AssertionError(f"not in time: {what}") from None


# --- how a task is killed


def fail(task: asyncio.Task[Any]) -> None:
    """Make a task raise an error where it waits."""
    waits_for: asyncio.Future[Any] = task._fut_waiter  # type: ignore[attr-defined]
    waits_for.set_exception(Killed("killed"))


def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()


WAYS = {fail: "Killed: killed", cancel: "it was cancelled"}


def tasks_of(name: str) -> list[asyncio.Task[Any]]:
    """The tasks of this name, or that run a coroutine of this name."""
    return [
        task
        for task in asyncio.all_tasks()
        if task.get_name() == name or getattr(task.get_coro(), "__qualname__", "") == name
    ]


async def one_task(name: str) -> asyncio.Task[Any]:
    """The task of this name, as soon as it waits for something."""

    async def found() -> asyncio.Task[Any] | None:
        return next((task for task in tasks_of(name) if task._fut_waiter), None)  # type: ignore[attr-defined]

    return await soon(f"there is a task {name}", found)


# --- how each task shows that it works


async def copies(companion: Served) -> None:
    """replication, http"""
    await companion.posted(companion.hello())
    assert (await companion.posted(companion.says()))["have"] == companion.count


async def hears_over_mqtt(companion: Served) -> None:
    """mqtt, broker"""
    where = urlsplit(companion.running.addresses()["mqtt"])

    async def is_answered() -> bool:
        with contextlib.suppress(aiomqtt.MqttError, TimeoutError):
            async with aiomqtt.Client(where.hostname or "", where.port or 0, username="kitchen", timeout=5) as board:
                await board.subscribe("engram/v1/kitchen/down", qos=1)
                await board.publish("engram/v1/kitchen/up", companion.hello(), qos=1)
                async with asyncio.timeout(2):
                    async for answer in board.messages:
                        assert isinstance(answer.payload, bytes)
                        return log_line.decode(answer.payload)["op"] == "welcome"
        return False

    await soon("a board is answered over MQTT", is_answered)


async def embeds(companion: Served) -> None:
    await copies(companion)
    said = f"number {companion.count}"

    async def is_embedded() -> bool:
        asked = [text for request in companion.embedder.requests for text in request["input"]]
        return any(said in text for text in asked) and companion.running.service.meaning.left == 0

    await soon(f"{said} has a vector", is_embedded)


async def reads_folders(companion: Served) -> None:
    companion.count += 1
    word = f"zebra{companion.count}"
    write(companion.root, {f"{word}.md": f"# {word}\n\nsomething of it\n"})

    async def is_found() -> bool:
        answer = await companion.client.post("/v1/search", json={"query": word, "meaning": False})
        return [hit["citation"] for hit in answer.json()["hits"]] == [f"notes/{word}.md#1"]

    await soon(f"{word} is found", is_found)


async def warms(companion: Served) -> None:
    async def is_warm() -> bool:
        return companion.running.service.searching.indexed == ["kitchen"]

    await soon("the index is made before anybody asks", is_warm)


WORKS = {
    "broker": hears_over_mqtt,
    "embedding": embeds,
    "folders": reads_folders,
    "http": copies,
    "mqtt": hears_over_mqtt,
    "replication": copies,
    "warming": warms,
}


@pytest.fixture
def mosquitto(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a mosquitto for the test of the MQTT client, empty for others: these have the broker inside."""
    with ExitStack() as stack:
        name = request.node.callspec.params.get("name")
        if name == "mqtt" and not get_mosquitto.usable():
            pytest.skip("there is no mosquitto for this machine")
        yield stack.enter_context(Broker()).url if name == "mqtt" else ""


def test_the_background_tasks_that_are_killed_here_are_all_there_are():
    assert set(WORKS) == set(TASKS)


@pytest.mark.parametrize("kill", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", WORKS)
def test_a_task_that_is_killed_comes_back_and_health_tells_it(
    tmp_path: Path, name: str, kill, mosquitto: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(searching, "LARGE", 1)
    monkeypatch.setattr(service, "_WARM_AFTER_SECONDS", 2.0 if name == "warming" else 0.0)

    async def play(companion: Served) -> None:
        works = WORKS[name]
        if name == "warming":
            await copies(companion)
        else:
            await works(companion)
        before = await companion.health()
        assert [task["restarts"] for task in before["tasks"]] == [0] * len(before["tasks"])
        kill(await one_task(name))

        async def is_back() -> bool:
            task = await companion.task(name)
            return task["restarts"] == 1 and task["state"] in ("running", "finished")

        await soon(f"{name} is back", is_back)
        told = await companion.health()
        task = await companion.task(name)
        assert task["error"].startswith(WAYS[kill]) and task["since"] >= int(time.time()) - SECONDS
        if name != "warming" or task["state"] == "running":
            assert told["status"] == "degraded"
            assert any(f"the background task {name} failed ({WAYS[kill]}" in problem for problem in told["problems"])
        await works(companion)
        assert (await companion.task(name))["restarts"] == 1

    run(tmp_path / "home", play, mqtt_url=mosquitto)
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.name for record in errors] == ["engram.supervisor"] and name in errors[0].message
