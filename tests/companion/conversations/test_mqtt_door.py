"""The door for programs at the broker: engram/v1/NAME/chat/in and out, and who may use them."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from cli_case import fine
from device_tokens import make_tokens
from engram_host.companion.conversations.mqtt_door import DoorRefused, parse
from one_case import in_one_case
from peers import BoardProcess, Broker, Companion
from skips import needs_64_bit
from waiting import SECONDS, wait_until

DOOR = {"ENGRAM_CHAT_MQTT": "1"}
OUT = "engram/v1/kitchen/chat/out"


@contextlib.asynccontextmanager
async def program(port: int) -> AsyncIterator[aiomqtt.Client]:
    """A program that listens to what comes of its messages."""
    async with asyncio.timeout(SECONDS), aiomqtt.Client("127.0.0.1", port, timeout=SECONDS) as client:
        await client.subscribe(OUT, qos=1)
        yield client


async def said(client: aiomqtt.Client, **message: Any) -> list[dict[str, Any]]:
    """What is published after a message, until its end."""
    await client.publish("engram/v1/kitchen/chat/in", json.dumps(message), qos=1)
    return await heard(client)


async def heard(client: aiomqtt.Client) -> list[dict[str, Any]]:
    """What is published until the end of an answer."""
    found: list[dict[str, Any]] = []
    async for answer in client.messages:
        assert isinstance(answer.payload, bytes) and answer.topic.value == OUT
        found.append(json.loads(answer.payload))
        if "end" in found[-1] or "problem" in found[-1]:
            return found
    return found


@pytest.fixture
def port(mosquitto: Broker, tmp_path: Path) -> Iterator[int]:
    """The port of a companion's broker, with a board on its link."""
    with (
        Companion(tmp_path / "companion", mosquitto.url, **DOOR) as companion,
        BoardProcess(tmp_path / "board", mosquitto.url, "kitchen"),
    ):
        wait_until("it is known", lambda: companion.client.get("/v1/devices/kitchen").status_code == 200)
        yield mosquitto.port


@needs_64_bit
def test_a_program_talks_to_a_board(port: int):
    async def work() -> None:
        async with program(port) as client:
            first = await said(client, id="1", text="remember that my bike is green", principal="ann", room="phone")
            assert {each["id"] for each in first} == {"1"} and first[-1]["end"] == "done"
            assert "bike" in "".join(each["text"] for each in first if each.get("kind") == "text")
            again = await said(client, id="1", text="remember that my bike is green", principal="ann", room="phone")
            assert [each for each in again if "n" in each] == [each for each in first if "n" in each]
            owner = await said(client, id="2", command="/recall bike", principal="owner")
            assert any(each.get("kind") == "problem" and "companion.chat owner" in each["text"] for each in owner)
            other = await said(client, id="3", command="/recall bike", principal="bob")
            assert "green" not in json.dumps(other)

    asyncio.run(work())


# --- who may use it


def test_the_files_for_mosquitto_have_a_user_for_programs_where_they_may_talk(tmp_path: Path):
    home = tmp_path / "home"
    make_tokens(home, "kitchen")
    shut = fine("device", "mosquitto", tmp_path / "shut", "--home", home, "--json").json
    assert "programs" not in shut and "engram.program" not in (tmp_path / "shut" / "engram.passwords").read_text()
    (home / "companion.toml").write_text("[chat]\nmqtt = true\n")
    opened = fine("device", "mosquitto", tmp_path / "open", "--home", home, "--json").json
    assert list(opened["programs"]) == ["engram.program"]
    topics = (tmp_path / "open" / "engram.topics").read_text()
    assert "user engram.program\ntopic write engram/v1/+/chat/in\ntopic read engram/v1/+/chat/out\n" in topics


# --- what is no message


@in_one_case("data", [
    b"", b"[]", b"null", b"\xff", b"[" * 100000, b'{"text":"x"}', b'{"principal":"ann"}', b'{"text":1,"principal":"ann"}',
    b'{"text":"x","command":"/y","principal":"ann"}', b'{"text":"x","principal":"ann","more":1}',
    b'{"text":"x","principal":"ann","id":""}', b'{"text":"x","principal":"ann","id":"a b"}',
    b'{"text":"x","principal":"ann","group":1}', b'{"cancel":""}',
    b'{"text":"x","principal":"a","sender":"signal:1"}', b'{"text":"x","sender":"signal:1","group":true}',
])  # fmt: skip
def test_what_is_no_message_is_refused_in_a_sentence(data: bytes):
    with pytest.raises(DoorRefused) as refused:
        parse(data)
    assert str(refused.value).endswith(".")
