"""Each background task of a running companion is killed: it comes back, does its work again, and /v1/health tells of it."""

import asyncio
import contextlib
import itertools
import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiomqtt
import pytest

from engram import log_line
from engram_host.companion import app, supervisor
from engram_host.companion.alerts import service as alerts
from engram_host.companion.alerts import service as alerts_watch
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.supervisor import TASKS
from engram_host.companion.types import ConversationLimits, Said
from extent import matrix
from failing_network import PASSWORD, fake_network
from markdown_folders import write
from peers import ROOT, Broker
from served_companion import SECONDS, WAYS, Killed, Served, cancel, coroutine_of, file_of, one_task, run, served, soon
from webhook import Webhook

# --- how each task shows that it works


async def copies(companion: Served) -> None:
    """replication, http"""
    await companion.posted(companion.hello())
    assert (await companion.posted(companion.says()))["have"] == companion.count


async def hears_over_mqtt(companion: Served) -> None:
    """mqtt"""
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
        return any(said in text for text in asked) and companion.running.app.embedding.changes_left == 0

    await soon(f"{said} has a vector", is_embedded)


async def reads_folders(companion: Served) -> None:
    companion.count += 1
    word = f"zebra{companion.count}"
    write(companion.root, {f"{word}.md": f"# {word}\n\nsomething of it\n"})

    async def is_found() -> bool:
        answer = await companion.client.post("/v1/search", json={"query": word, "meaning": False})
        return [hit["citation"] for hit in answer.json()["hits"]] == [f"notes/{word}.md#1"]

    await soon(f"{word} is found", is_found)


async def expires(companion: Served) -> None:
    database = companion.running.app.store.database
    counts = "SELECT count(*) FROM device_use WHERE device = 'long-ago'"
    add = "INSERT INTO device_use (day, device, lines, bytes) VALUES (1, 'long-ago', 1, 1)"
    await asyncio.to_thread(database.write, lambda rows: rows.run(add))

    async def is_gone() -> bool:
        return await asyncio.to_thread(database.read, lambda rows: rows.run(counts)) == [(0,)]

    await soon("what is too old is removed", is_gone)


async def looks_after_conversations(companion: Served) -> None:
    """A message that another process has kept is given to a board that listens here."""
    await companion.posted(companion.hello())
    companion.count += 1
    mid = f"m{companion.count}"
    store = companion.running.app.store

    async def is_offered() -> bool:
        companion.sent.offered(5)
        listening = asyncio.create_task(companion.posted(companion._messages.pop()))
        said = Said(mid, "ann", "hi", "phone")
        await asyncio.to_thread(
            store.conversations.add_conversation, "kitchen", said, ConversationLimits(), int(time.time())
        )
        head = await listening
        if head["op"] != "say" or head["mid"] != mid:
            return False
        ended = {"mid": mid, "offer": head["offer"], "k": 1, "items": [["end", ""]]}
        companion.sent.ask("reply", b"", **ended)
        return (await companion.posted(companion._messages.pop()))["op"] == "received"

    await soon(f"{mid} is offered", is_offered)


async def imports_lines(companion: Served) -> None:
    """A line of an import is given to the board, and its answer ends the import."""
    await companion.posted(companion.hello())
    path, content = "/v1/boards/kitchen/imports", b'{"content":"fact %d"}' % next(_NUMBERS)
    made = (await companion.client.post(f"{path}?name=in.jsonl", content=content)).json()
    await companion.client.post(f"{path}/{made['id']}", json={"action": "start"})
    companion.sent.offered(30)
    head = await companion.posted(companion._messages.pop())
    assert head["op"] == "say" and head["text"] == f"/import {content.decode().replace(':', ': ')}", head
    report = {"counts": {"stored": 1}, "ids": [], "files": [], "unknown": [], "notes": []}
    items = [["report", json.dumps(report)], ["end", ""]]
    companion.sent.ask("reply", b"", mid=head["mid"], offer=head["offer"], k=1, items=items)
    assert (await companion.posted(companion._messages.pop()))["op"] == "received"

    async def is_done() -> bool:
        return (await companion.client.get(f"{path}/{made['id']}")).json()["state"] == "done"

    await soon("the import is done", is_done)


async def sends_alerts(companion: Served) -> None:
    async def has_looked() -> bool:
        return bool(await asyncio.to_thread(companion.running.app.store.values.get, alerts_watch.NOTE))

    await soon("the first look, before which all is old", has_looked)
    said = await _pushes(companion, "phone")
    assert companion.hook
    taken = companion.hook.taken

    async def is_sent() -> bool:
        return said in [each["message"] for each in taken]

    await soon(f"{said} is sent", is_sent)


async def runs_bridges(companion: Served) -> None:
    async def is_connected() -> bool:
        bridges = (await companion.client.get("/v1/bridges")).json()
        return [bridge["state"] for bridge in bridges] == ["connected"]

    await soon("the bridge is connected", is_connected)
    await companion.running.app.people.approve("fake:ann")
    await _say(companion, board := f"/board nobody-{next(_NUMBERS)}")
    await _is_shown(companion, board.removeprefix("/board "))


async def delivers_what_boards_say(companion: Served) -> None:
    await companion.posted(companion.hello())
    await runs_bridges(companion)
    await _say(companion, "hello")
    await _is_shown(companion, await _pushes(companion, "fake c"))


_NUMBERS = itertools.count(1)


async def _say(companion: Served, text: str) -> None:
    """Somebody writes to the bridge."""
    assert companion.network
    host = companion.network.connections[-1].host
    assert host
    await host.receive(Incoming(str(next(_NUMBERS)), Chat("c"), "ann", text=text))


async def _is_shown(companion: Served, text: str) -> None:
    assert companion.network
    connections = companion.network.connections

    async def is_sent() -> bool:
        return any(text in sent for connection in connections for sent in connection.sent)

    await soon(f"{text} is shown", is_sent)


async def _pushes(companion: Served, room: str) -> str:
    """The board says something by itself; what."""
    await companion.posted(companion.hello())
    number = next(_NUMBERS)
    said = f"push number {number}"
    companion.sent.ask("push", mid=f"push:1:t{number}", room=room, text=said)
    answer = await companion.posted(companion._messages.pop())
    assert answer["op"] == "received", answer
    return said


WORKS = {
    "alerts": sends_alerts,
    "bridges": runs_bridges,
    "conversations": looks_after_conversations,
    "deliveries": delivers_what_boards_say,
    "embedding": embeds,
    "expiry": expires,
    "folders": reads_folders,
    "http": copies,
    "imports": imports_lines,
    "mqtt": hears_over_mqtt,
    "replication": copies,
}


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Served], None]]:
    """A network `fake` and a service for alerts, that the companion of a test knows; gives them to it."""
    monkeypatch.setattr(alerts, "LOOK_SECONDS", 0.05)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "companion.toml").write_text('[bridges.fake]\nserver = "localhost"\n')
    with fake_network() as network, contextlib.closing(Webhook()) as hook:
        secrets = SecretStore(home)
        secrets.keep("bridges.fake.password", PASSWORD)
        secrets.keep("alerts.urls", hook.url)

        def give(companion: Served) -> None:
            companion.network, companion.hook = network, hook

        yield give


def test_the_background_tasks_that_are_killed_here_are_all_there_are():
    # A SQLite file has no leases: see processes/test_leases.py. Merges go on after a restart in test_change_memories.py. The
    # others are periodic as the expiry.
    assert {*WORKS, "leases", "merges", "anomalies", "habits", "backup", "checking", "media"} == set(TASKS)


@pytest.mark.parametrize("name, kill", matrix([*WORKS], [*WAYS]))
def test_a_task_that_is_killed_comes_back_and_health_shows_it(
    tmp_path: Path,
    name: str,
    kill,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    needs_outside = name in ("alerts", "bridges", "deliveries")
    outside = request.getfixturevalue("outside") if needs_outside else lambda companion: None
    url = request.getfixturevalue("mosquitto").url if name == "mqtt" else ""
    if name == "expiry":
        monkeypatch.setattr(app, "FIRST_SECONDS", 0.1)
        monkeypatch.setattr(app, "EXPIRE_SECONDS", 0.1)

    async def play(companion: Served) -> None:
        outside(companion)
        works = WORKS[name]
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
        assert told["status"] == "degraded"
        assert any(f"the background task {name} failed ({WAYS[kill]}" in problem for problem in told["problems"])
        await works(companion)
        assert (await companion.task(name))["restarts"] == 1

    run(tmp_path / "home", play, {("mqtt", "url"): url})
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.name for record in errors] == ["engram.supervisor"] and name in errors[0].message


# --- tasks below them


async def _restarts(companion: Served, name: str) -> bool:
    return (await companion.task(name))["restarts"] == 1


def test_a_companion_at_rest_runs_no_other_task(tmp_path: Path, mosquitto: Broker):
    async def play(companion: Served) -> None:
        for works in (embeds, reads_folders, hears_over_mqtt):
            await works(companion)

        async def other_tasks() -> set[str]:
            own = [task for task in asyncio.all_tasks() if "engram_host" in file_of(task)]
            return {coroutine_of(task) for task in own if not {task.get_name(), coroutine_of(task)} & {*TASKS}}

        async def are_none() -> bool:
            return not await other_tasks()

        await soon("nothing but the tasks that are killed here", are_none)

    run(tmp_path / "home", play, {("mqtt", "url"): mosquitto.url})


# --- what waits for a task


@pytest.mark.parametrize("way", ["fail", "cancel"])
def test_lines_that_the_writer_held_when_it_was_killed_are_refused_and_those_behind_are_answered(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
):
    async def play(companion: Served) -> None:
        store = companion.running.app.store
        take, is_taking, may_end = store.replication.store_batches, asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def slow(batches: Any, now: int, quota: Any) -> Any:
            monkeypatch.setattr(store.replication, "store_batches", take)
            loop.call_soon_threadsafe(is_taking.set)
            may_end.wait(SECONDS)
            raise Killed("killed")

        await companion.posted(companion.hello())
        monkeypatch.setattr(store.replication, "store_batches", slow)
        first = asyncio.create_task(companion.posted(companion.says()))
        await is_taking.wait()
        behind = asyncio.create_task(companion.posted(companion.says()))

        async def waits() -> bool:
            return companion.running.app.replication.waiting == 1

        await soon("another message waits", waits)
        if way == "cancel":
            cancel(await one_task("replication"))
        else:
            may_end.set()
        refused = await first
        assert (refused["op"], refused["again"]) == ("refused", 15)
        assert ("fault" if way == "fail" else "interrupted") in refused["why"]
        assert (await behind)["op"] in ("have", "differs")
        may_end.set()

    assert run(tmp_path / "home", play) == []


def test_a_message_over_mqtt_whose_answer_fails_is_reported_in_the_log_and_nowhere_else(
    tmp_path: Path, mosquitto: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def play(companion: Served) -> None:
        store = companion.running.app.store
        greet = store.replication.greet

        def fails_once(*arguments: Any) -> Any:
            monkeypatch.setattr(store.replication, "greet", greet)
            raise Killed("killed")

        monkeypatch.setattr(store.replication, "greet", fails_once)
        await hears_over_mqtt(companion)  # asks again
        assert (await companion.health())["status"] == "well"

    assert run(tmp_path / "home", play, {("mqtt", "url"): mosquitto.url}) == []
    assert "an answer to a board failed" in caplog.text


# --- the end


MODEL = {("gateway", "url"): "http://127.0.0.1:9", ("gateway", "model"): "m"}
"""A model for the habits to ask."""


def test_a_companion_whose_tasks_have_all_failed_ends_at_once_and_leaves_none(
    tmp_path: Path, outside: Callable[[Served], None], mosquitto: Broker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(supervisor, "FIRST_PAUSE", SECONDS)
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE", SECONDS)
    left: list[str] = []

    async def play(companion: Served) -> None:
        for name in (*set(TASKS) - {"leases"}, "bridges fake"):
            cancel(await one_task(name))

        async def have_failed() -> bool:
            running = companion.running.app.supervisor.statuses()
            return not any(status.state == "running" for status in running if status.name != "replication")

        await soon("all wait to start again", have_failed)

    async def whole() -> None:
        async with asyncio.timeout(SECONDS / 2):
            async with served(tmp_path / "home", {("mqtt", "url"): mosquitto.url, **MODEL}) as companion:
                await play(companion)
            left.extend(task.get_name() for task in asyncio.all_tasks() if "engram_host" in file_of(task))

    asyncio.run(whole())
    assert left == []


_FAILING_SERVER = """
import asyncio, uvicorn
async def fail(self):
    await asyncio.sleep(0.2)
    raise RuntimeError("killed")
uvicorn.Server.main_loop = fail
from engram_host.__main__ import main
main()
"""


def test_serve_ends_with_status_1_when_the_http_server_fails_again_and_again(tmp_path: Path):
    words = [sys.executable, "-c", _FAILING_SERVER, "serve", "--home", str(tmp_path / "home")]
    words += ["--http-port", "0"]
    variables = {"PYTHONPATH": f"{ROOT / 'host'}:{ROOT / 'firmware'}", "EMBEDDING_PROVIDER": "none"}
    ended = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 1
    assert "engram serve: the background task http failed (RuntimeError: killed" in ended.stderr
    assert "Traceback" not in ended.stderr


# --- where it is told
