"""What the guarded broker needs of amqtt: the methods that it overrides, and that amqtt asks them before it acts.

The methods are private, so another version of amqtt may rename them, or decide elsewhere: each topic would be open then.
"""

import asyncio
import importlib.metadata
import inspect
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from amqtt.adapters import StreamReaderAdapter
from amqtt.broker import Broker
from amqtt.contexts import Action
from amqtt.session import Session
from packaging.requirements import Requirement

from engram_host.companion.mqtt import guarded_broker
from engram_host.companion.mqtt.guarded_broker import GuardedBroker
from guarded_place import Place, gets, reasons, run
from one_case import in_one_case
from peers import ROOT
from waiting import wait_until_async

OVERRIDDEN = {
    "__init__": ["self", "config", "loop", "plugin_namespace"],
    "_authenticate": ["self", "session", "_"],
    "_create_server_instance": ["self", "listener_name", "listener_type", "address", "port", "ssl_context"],
    "_create_ssl_context": ["listener"],
    "_initialize_client_session": ["self", "reader", "writer", "remote_address", "remote_port"],
    "_topic_filtering": ["self", "session", "topic", "action"],
    "retain_message": ["self", "source_session", "topic_name", "data", "qos"],
    "stream_connected": ["self", "reader", "writer", "listener_name"],
}
"""Methods of amqtt's broker in whose place are the guarded broker's, with their parameters."""

UP, DOWN = "engram/v1/kitchen/up", "engram/v1/kitchen/down"


def _requirement() -> Requirement:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [line] = [line for line in project["optional-dependencies"]["companion"] if line.startswith("amqtt")]
    return Requirement(line)


def test_the_version_of_amqtt_is_bounded_on_both_sides():
    assert sorted(bound.operator for bound in _requirement().specifier) == ["<", ">="]


def test_the_locked_and_the_installed_version_are_within_the_bounds():
    locked = re.search(r"^amqtt==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked and _requirement().specifier.contains(locked[1])
    assert _requirement().specifier.contains(importlib.metadata.version("amqtt"))


def test_all_methods_of_amqtt_that_are_overridden_are_known_here():
    assert {
        name for name in vars(GuardedBroker) if callable(getattr(Broker, name, None)) and name in vars(Broker)
    } == set(OVERRIDDEN)


@in_one_case("name", OVERRIDDEN)
def test_a_method_that_is_overridden_has_the_parameters_that_it_had(name: str):
    theirs = getattr(Broker, name, None)
    assert theirs and list(inspect.signature(theirs).parameters) == OVERRIDDEN[name]


@in_one_case("name", sorted(set(OVERRIDDEN) - {"__init__"}))
def test_the_method_in_its_place_is_called_in_the_same_way(name: str):
    theirs, ours = getattr(Broker, name), getattr(GuardedBroker, name)
    parameters = list(inspect.signature(ours).parameters)
    is_static = isinstance(vars(Broker)[name], staticmethod)
    assert (parameters[1:] if is_static else parameters) == OVERRIDDEN[name]
    assert inspect.iscoroutinefunction(ours) == inspect.iscoroutinefunction(theirs)


def test_the_reader_of_a_connection_has_the_method_that_is_overridden():
    assert list(inspect.signature(StreamReaderAdapter.read).parameters) == ["self", "n"]
    assert list(inspect.signature(guarded_broker._Reader.read).parameters) == ["self", "n"]


# --- what amqtt asks, and when


class Asked:
    """Notes in order what the broker asks of its door, and what it passes on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.notes: list[tuple[str, str]] = []
        self.disconnected = asyncio.Event()
        self._watch(monkeypatch, "_topic_filtering", lambda session, topic, action: (action.name, topic))
        self._watch(monkeypatch, "_broadcast_message", lambda session, topic, *_: ("passed on", topic))
        self._watch(monkeypatch, "retain_message", lambda session, topic, *_: ("RETAIN", topic))
        self._watch(monkeypatch, "_initialize_client_session", lambda *_: ("CONNECT", ""))
        real = Broker._handle_disconnect

        async def handle_disconnect(broker: Broker, *arguments: Any) -> None:
            await real(broker, *arguments)
            self.disconnected.set()

        monkeypatch.setattr(Broker, "_handle_disconnect", handle_disconnect)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, name: str, note: Callable[..., tuple[str, str]]) -> None:
        real = getattr(GuardedBroker, name)

        async def noted(broker: GuardedBroker, *arguments: Any, **named: Any) -> Any:
            self.notes.append(note(*arguments, **named))
            return await real(broker, *arguments, **named)

        monkeypatch.setattr(GuardedBroker, name, noted)

    def of(self, topic: str) -> list[str]:
        """What was noted of a topic."""
        return [what for what, where in self.notes if where == topic]


def test_a_client_that_connects_goes_through_the_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work(where: Place) -> None:
        asked = Asked(monkeypatch)
        async with where.client("kitchen"):
            assert asked.of("") == ["CONNECT"]

    run(tmp_path, work)


def test_a_message_is_checked_before_it_is_passed_on_and_before_it_is_received(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def work(where: Place) -> None:
        asked = Asked(monkeypatch)
        async with where.client("kitchen") as board:
            await board.subscribe(DOWN, qos=1)
            await board.publish(UP, b"hello", qos=1)
            async for _ in board.messages:
                break
        checks = [Action.PUBLISH.name, "passed on", Action.RECEIVE.name]
        assert asked.of(UP) == checks
        assert asked.of(DOWN) == [Action.SUBSCRIBE.name, *checks]

    run(tmp_path, work)


@in_one_case("refused", [Action.PUBLISH, Action.RECEIVE])
def test_a_message_that_the_check_refuses_goes_no_further(
    tmp_path: Path, refused: Action, monkeypatch: pytest.MonkeyPatch
):
    check = GuardedBroker._topic_filtering
    first = iter([True])

    async def refuses_the_first(broker: GuardedBroker, session: Session, topic: str, action: Action) -> bool:
        if action is refused and topic == UP and next(first, False):
            return False
        return await check(broker, session, topic, action)

    async def work(where: Place) -> None:
        monkeypatch.setattr(GuardedBroker, "_topic_filtering", refuses_the_first)
        async with where.client("kitchen") as board:
            await board.publish(UP, b"refused", qos=1)
            await board.publish(UP, b"let through", qos=1)
            await wait_until_async("a message", lambda: where.heard)
            assert where.heard == [("kitchen", b"let through")]

    run(tmp_path, work)


def test_a_subscription_that_the_check_refuses_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def refuses(broker: GuardedBroker, session: Session, topic: str, action: Action) -> bool:
        return action is not Action.SUBSCRIBE

    async def work(where: Place) -> None:
        monkeypatch.setattr(GuardedBroker, "_topic_filtering", refuses)
        async with where.client("kitchen") as board:
            assert await reasons(board, DOWN) == [128]
            assert where.broker._broker and DOWN not in where.broker._broker.subscriptions

    run(tmp_path, work)


def test_a_message_to_be_retained_goes_to_the_method_that_keeps_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work(where: Place) -> None:
        asked = Asked(monkeypatch)
        async with where.client("kitchen") as board:
            await board.subscribe(DOWN, qos=1)
            await board.publish(UP, b"hello", qos=1, retain=True)
            assert await gets(board, "kitchen")
            assert "RETAIN" in asked.of(UP)
            assert where.broker._broker and where.broker._broker.retained_messages == {}

    run(tmp_path, work)


@in_one_case("door", ["there", "taken away"])
def test_a_last_will_is_sent_by_amqtt_alone_and_not_with_the_door(
    tmp_path: Path, door: str, monkeypatch: pytest.MonkeyPatch
):
    async def work(where: Place) -> None:
        if door == "taken away":
            monkeypatch.delattr(GuardedBroker, "_initialize_client_session")
        asked = Asked(monkeypatch)
        board = where.client("kitchen", will=aiomqtt.Will(UP, b"I have died", qos=1))
        await board.__aenter__()
        connection = board._client.socket()
        assert connection
        connection.close()
        await asked.disconnected.wait()
        assert asked.of(UP)[:1] == ([] if door == "there" else ["passed on"])

    run(tmp_path, work)
