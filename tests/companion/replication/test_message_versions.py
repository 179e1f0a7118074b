"""Greetings and damaged messages: refused in a sentence that says what to update, over HTTP and MQTT."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import aiomqtt
import pytest

from companion_store import replication_of
from engram import log_line
from engram.link import messages
from engram_host.companion.errors import StoreFull, StoreUnavailable
from engram_host.companion.replication import messages as message_versions
from engram_host.companion.replication.protocol import MessageDispatcher
from one_case import in_one_case
from peers import Broker, Companion
from waiting import SECONDS


def heads(answer: bytes) -> list[dict[str, Any]]:
    return [log_line.decode(line) for line in answer.splitlines(keepends=True)]


def hello(**fields: Any) -> bytes:
    """A greeting with some fields other than those of an ordinary one; None leaves one out."""
    usual = {"version": 1, "zone": 0, "records": [7, 1, 1, 0], "journal": [8, 1, 1, 0], "relied": 0, "rule": ""}
    address = {"op": "hello", "board": "5f3a9c01", "link": 1, "n": 1}
    return log_line.encode((address | usual | fields).items())


@pytest.fixture(scope="module")
def connected(mosquitto: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion that hears boards over MQTT too."""
    with Companion(tmp_path_factory.mktemp("connected"), mosquitto.url) as running:
        yield running


def over_mqtt(port: int, device: str, message: bytes) -> list[dict[str, Any]]:
    """What a board is answered over MQTT."""

    async def work() -> bytes:
        async with aiomqtt.Client("127.0.0.1", port, timeout=SECONDS) as board, asyncio.timeout(SECONDS):
            await board.subscribe(f"engram/v1/{device}/down", qos=1)
            await board.publish(f"engram/v1/{device}/up", message, qos=1)
            answer = await anext(aiter(board.messages))
            assert isinstance(answer.payload, bytes)
            return answer.payload

    return heads(asyncio.run(work()))


def test_a_greeting_with_a_rule_that_is_none_is_refused(companion: Companion):
    for rule, why in (("CET-1CEST", "a rule that the companion does not know"), (5, "rule must be a text of 0 to 64")):
        (answer,) = heads(companion.posted("zoneless", hello(rule=rule)))
        assert answer["op"] == "refused" and why in answer["why"]


@in_one_case("version, update", [(2, "update Engram on the companion"), (9, "update Engram"), (255, "update")])
def test_a_board_of_another_version_is_refused_with_the_side_to_update(companion: Companion, version: int, update: str):
    (answer,) = heads(companion.posted("newer", hello(version=version)))
    assert (
        answer["op"] == "refused" and f"version {version} of the messages, the companion 1: {update}" in answer["why"]
    )


def test_a_newer_board_whose_greeting_cannot_be_read_is_told_to_have_the_companion_updated(companion: Companion):
    (answer,) = heads(companion.posted("newest", hello(version=9, journal=None)))
    assert (answer["op"], answer["again"]) == ("refused", message_versions.UPDATE_SECONDS)
    assert "version 9 of the messages, the companion 1: update Engram on the companion's computer" in answer["why"]


@in_one_case("message", [b"weather", b"hello"])
def test_a_message_that_is_not_known_is_refused_in_a_sentence_over_mqtt_too(
    connected: Companion, mosquitto: Broker, message: bytes
):
    whole = log_line.encode([("op", message.decode()), ("board", "5f3a9c01"), ("link", 1), ("n", 1)])
    for answer in (heads(connected.posted("odd", whole))[0], over_mqtt(mosquitto.port, "odd-mqtt", whole)[0]):
        assert answer["op"] == "refused" and "update the older one" in answer["why"] and ".)" not in answer["why"]
        assert (answer["board"], answer["link"], answer["n"]) == ("5f3a9c01", 1, 1)


def test_a_damaged_message_is_not_answered_as_if_it_were_one_of_another_version(companion: Companion):
    answer = companion.client.post("/v1/devices/odd/messages", content=hello().replace(b"hello", b"hullo"))
    assert answer.status_code == 400


# --- numbers


@in_one_case("log", messages.LOGS)
@in_one_case("state", [[1 << 30, 1, 1, 0], [7, 1, 1, 1 << 30], [7, 1, 10**9 + 2, 0], [7, 10**9 + 1, 1, 0]])
def test_a_greeting_with_a_number_that_lines_could_not_name_is_refused(
    companion: Companion, log: str, state: list[int]
):
    (answer,) = heads(companion.posted("beyond", hello(**{log: state})))
    assert answer["op"] == "refused" and f"of its {log}" in answer["why"]
    assert companion.client.get("/v1/devices/beyond").status_code == 404


# --- what is logged of bad messages, and what a board is told of the database


def test_bad_messages_of_a_board_are_one_line_of_the_log(connected: Companion, mosquitto: Broker):
    whole = log_line.encode([("op", "weather"), ("board", "5f3a9c01"), ("link", 1), ("n", 1)])
    for _ in range(20):
        connected.posted("flood", whole)

    async def work() -> None:
        async with aiomqtt.Client("127.0.0.1", mosquitto.port, timeout=SECONDS) as board, asyncio.timeout(SECONDS):
            await board.subscribe("engram/v1/flood-mqtt/down", qos=1)
            for number in range(20):
                await board.publish("engram/v1/flood-mqtt/up", b"x" * number, qos=1)
            await board.publish("engram/v1/flood-mqtt/up", hello(), qos=1)
            await anext(aiter(board.messages))

    asyncio.run(work())
    printed = connected.printed()
    assert printed.count("flood: refused: ") == 1 and printed.count("flood-mqtt: a message was passed over") == 1


@in_one_case("op", ["hello", "search"])
@in_one_case("problem", [StoreUnavailable, StoreFull])
def test_a_board_learns_nothing_of_where_the_database_is(op: str, problem: type[StoreUnavailable]):
    class Broken:
        def greet(self, *_: object) -> None:
            raise problem("/home/ann/companion.db at db.example:5432 cannot be used.")

    async def search(*_: object) -> list[bytes]:
        raise problem("/home/ann/companion.db at db.example:5432 cannot be used.")

    async def work() -> list[bytes]:
        store: Any = SimpleNamespace(replication=Broken(), notes=None, senses=None, status=None)
        dispatcher = MessageDispatcher(replication_of(store), search, search, search, search)
        asked = {"query": "x", "limit": 1, "principal": "owner", "group": False, "workspace": "", "tags": []}
        times = {"since": 0, "until": 0, "folders": False}
        message = hello() if op == "hello" else messages.encode("search", "5f3a9c01", 1, 1, **asked, **times)
        return await dispatcher.answers("kitchen", message)

    (answer,) = heads(b"".join(asyncio.run(work())))
    assert (answer["op"], answer["why"]) == ("refused", problem("it").public)
    assert "db" not in answer["why"].replace("database", "")
