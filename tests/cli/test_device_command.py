"""`engram device` as a person uses it, and a real mosquitto with the files that it writes."""

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import aiomqtt
import pytest

from cli_case import engram
from engram_host.companion.auth.tokens import MOSQUITTO_USER
from mqtt_marks import MARK, received_before_mark
from peers import Broker, Companion
from serve_process import VARIABLES
from waiting import wait_until


def device(home: Path, *words: str) -> tuple[int, str, str]:
    """Run `engram device`; status, output and errors."""
    ran = engram("device", *words, "--home", home)
    return ran.status, ran.out, ran.err


def made(home: Path, name: str, how: str = "add") -> str:
    status, told, _ = device(home, how, name, "--json")
    assert status == 0
    return json.loads(told)["token"]


def test_a_token_is_shown_once_with_what_the_board_needs(tmp_path: Path):
    status, told, _ = device(tmp_path / "home", "add", "kitchen")
    lines = [json.loads(line) for line in told.splitlines() if line.strip().startswith("{")]
    assert status == 0 and lines[0]["companion"]["device"] == "kitchen"
    token = lines[1]["companion"]["token"]
    _, listed, _ = device(tmp_path / "home", "list")
    assert "kitchen" in listed and token not in listed
    assert token.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "home").iterdir())


def test_the_command_is_there(tmp_path: Path):
    command = [sys.executable, "-m", "engram_host", "device", "list", "--json", "--home", str(tmp_path / "home")]
    done = subprocess.run(command, env=VARIABLES, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_an_impossible_request_is_explained_in_a_sentence(tmp_path: Path):
    home = tmp_path / "home"
    made(home, "kitchen")
    for expected, *words in (
        (1, "add", "kitchen"),
        (4, "rotate", "garden"),
        (4, "remove", "garden"),
        (2, "add", "../x"),
        (2, "add", "Ünö"),
        (2, "add", "+"),
    ):
        status, told, problem = device(home, *words)
        assert status == expected and not told and "Traceback" not in problem and words[1].strip("./+Ü") in problem, (
            words
        )


def test_a_companion_that_runs_sees_tokens_come_change_and_go(tmp_path: Path):
    with Companion(tmp_path / "home", ENGRAM_TOKENS="on") as companion:

        def status(token: str) -> int:
            return companion.client.get("/v1/health", headers={"Authorization": f"Bearer {token}"}).status_code

        first = made(companion.home, "kitchen")
        assert status(first) == 200
        second = made(companion.home, "kitchen", "rotate")
        assert status(second) == 200
        assert device(companion.home, "remove", "kitchen", "--json")[0] == 0

        wait_until("both tokens are nobody's", lambda: {status(first), status(second)} == {401})


class GuardedBroker(Broker):
    """mosquitto with the files of `engram device mosquitto`."""

    def __init__(self, files: Path):
        super().__init__()
        # It gives up root's rights unless told otherwise, and the files are their owner's alone.
        user = "user root\n" if os.getuid() == 0 else ""
        text = (files / "engram.conf").read_text()
        self._config.write_text(f"per_listener_settings false\n{user}listener {self.port} 127.0.0.1\n{text}")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory):
    """A mosquitto for two devices; its port and everybody's password."""
    folder = tmp_path_factory.mktemp("mosquitto")
    words = {name: made(folder / "home", name) for name in ("kitchen", "garden")}
    status, told, _ = device(folder / "home", "mosquitto", str(folder / "files"), "--json")
    assert status == 0
    words[MOSQUITTO_USER] = json.loads(told)["password"]
    for path in (folder / "files").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert not [word for word in words.values() if word in path.read_text()]
    with GuardedBroker(folder / "files") as broker:
        yield broker.port, words
    shutil.rmtree(folder, ignore_errors=True)


def _client(guarded, name: str, password: str = "") -> aiomqtt.Client:
    port, words = guarded
    return aiomqtt.Client("127.0.0.1", port, username=name or None, password=password or words.get(name))


@pytest.mark.parametrize(
    ("name", "password"), [("", ""), ("kitchen", "wrong"), ("stranger", "x"), (MOSQUITTO_USER, "x")]
)
def test_mosquitto_lets_no_stranger_in(guarded, name: str, password: str):
    async def work() -> None:
        with pytest.raises(aiomqtt.MqttError):
            async with _client(guarded, name, password):
                raise AssertionError("is in")

    asyncio.run(work())


def test_mosquitto_gives_each_device_its_own_topics_only(guarded):
    async def work() -> None:
        async with (
            _client(guarded, MOSQUITTO_USER) as companion,
            _client(guarded, "kitchen") as board,
            _client(guarded, "garden") as other,
        ):
            await companion.subscribe("$share/companion/engram/v1/+/up", qos=1)
            await other.subscribe("engram/v1/garden/down", qos=1)
            await board.subscribe("engram/v1/kitchen/down", qos=1)
            for topic in ("engram/v1/+/down", "engram/v1/garden/down", "#"):
                await board.subscribe(topic, qos=1)
            for topic in ("engram/v1/garden/up", "engram/v1/garden/down", "engram/v1/kitchen/down"):
                await board.publish(topic, b"forged", qos=1)
            await board.publish("engram/v1/kitchen/up", b"own", qos=1)
            await companion.publish("engram/v1/garden/down", b"for the garden", qos=1)
            await companion.publish("engram/v1/kitchen/down", b"for the kitchen", qos=1)
            await board.publish("engram/v1/kitchen/up", MARK, qos=1)
            await companion.publish("engram/v1/garden/down", MARK, qos=1)
            await companion.publish("engram/v1/kitchen/down", MARK, qos=1)
            assert await received_before_mark(companion) == [("engram/v1/kitchen/up", b"own")]
            assert await received_before_mark(other) == [("engram/v1/garden/down", b"for the garden")]
            assert await received_before_mark(board) == [("engram/v1/kitchen/down", b"for the kitchen")]

    asyncio.run(work())
