"""A network `fake` of the companion under test, whose library fails in every way that a test asks for, and an engine that
records what it is given.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.errors import SignInRefused
from engram_host.companion.bridges.kinds import KINDS, BridgeField, NetworkKind
from engram_host.companion.bridges.network import (
    BridgeHost,
    BridgeWatch,
    Chat,
    Features,
    Incoming,
    MenuCommand,
    Network,
)
from engram_host.companion.errors import StoreUnavailable

KIND = NetworkKind(
    "fake",
    "Fake",
    (
        BridgeField("server", "address of the server"),
        BridgeField("nickname", "nickname", "engram"),
        BridgeField("password", "its password", is_secret=True),
        BridgeField("token", "a token", is_secret=True, is_optional=True),
    ),
    "Ask nobody.",
)
PASSWORD = "open sesame, ünïcode"

Behaviour = Callable[[BridgeHost], Coroutine[Any, Any, None]]


class FakeServer:
    """What the networks `fake` connect to: `behaviours` are what the next connections do, the last one again and again."""

    def __init__(self) -> None:
        self.behaviours: list[Behaviour] = [serve]
        self.connections: list[FakeNetwork] = []
        self.running = 0
        self.ended: list[object] = []

    def next_behaviour(self) -> Behaviour:
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]

    def connect(self, values: Mapping[str, str]) -> Network:
        network = FakeNetwork(self, dict(values))
        self.connections.append(network)
        return network


class FakeNetwork:
    """A connection."""

    features = Features(most_units=400)

    def __init__(self, server: FakeServer, values: dict[str, str]):
        self.server = server
        self.values = values
        self.host: BridgeHost | None = None
        self.sent: list[str] = []

    async def run(self, host: BridgeHost) -> None:
        self.host = host
        self.server.running += 1
        try:
            await self.server.next_behaviour()(host)
        finally:
            self.server.running -= 1

    async def check(self) -> str:
        if self.values["password"] != PASSWORD:
            raise SignInRefused("the server does not know this password.")
        return f"{self.values['nickname']}@{self.values['server']}"

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        self.sent.append(text)
        return str(len(self.sent))

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        self.sent.append(text)

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        pass


async def serve(host: BridgeHost) -> None:
    """Be connected until it is cancelled."""
    host.connected("engram@fake")
    await asyncio.get_running_loop().create_future()


def serve_then(error: BaseException) -> Behaviour:
    """Be connected, then fail."""

    async def behave(host: BridgeHost) -> None:
        host.connected("engram@fake")
        raise error

    return behave


def fail(error: BaseException) -> Behaviour:
    """Fail before anything else."""

    async def behave(_host: BridgeHost) -> None:
        raise error

    return behave


async def end_at_once(host: BridgeHost) -> None:
    """End as if all was done."""


async def cancel_itself(host: BridgeHost) -> None:
    """What a library does whose own scope was cancelled."""
    task = asyncio.current_task()
    assert task
    task.cancel()
    await asyncio.sleep(0)


class Stubborn:
    """A connection that does not end when it is cancelled, before `may_end` is set."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def __call__(self, host: BridgeHost) -> None:
        host.connected("engram@fake")
        while not self.may_end.is_set():
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                continue


@contextmanager
def fake_network() -> Iterator[FakeServer]:
    """There is a network `fake` inside the block."""
    server = FakeServer()
    name = "engram_host.companion.bridges.fake.bridge"
    module = ModuleType(name)
    module.__dict__["connect"] = server.connect
    with mock.patch.dict(KINDS, {"fake": KIND}):
        # Not patch.dict: what is loaded inside of the block would be forgotten with it, and be there twice later.
        sys.modules[name] = module
        try:
            yield server
        finally:
            del sys.modules[name]


class RecordingEngine:
    """The engine's side of bridges: who is attached, and what came."""

    def __init__(self) -> None:
        self.attached: dict[str, Network] = {}
        self.received: list[Incoming] = []
        self.accounts: list[str] = []
        self.marks: dict[str, str] = {}
        self.forgotten: list[str] = []
        self.refuses: Exception | None = None

    async def forget(self, bridge: str) -> None:
        assert bridge not in self.attached, bridge
        if self.refuses is not None:
            raise self.refuses
        self.forgotten.append(bridge)

    def attach(self, bridge: BridgeSettings, network: Network, watch: BridgeWatch) -> BridgeHost:
        assert bridge.name not in self.attached, bridge
        self.attached[bridge.name] = network
        return RecordingSide(self, bridge.name, watch)

    async def detach(self, bridge: str) -> None:
        del self.attached[bridge]


class RecordingSide:
    """A BridgeHost."""

    menu: Sequence[MenuCommand] = ()

    def __init__(self, engine: RecordingEngine, bridge: str, watch: BridgeWatch):
        self._engine = engine
        self._bridge = bridge
        self._watch = watch

    async def receive(self, message: Incoming) -> None:
        if self._bridge not in self._engine.attached:
            raise StoreUnavailable("this connection is over.")
        self._engine.received.append(message)
        self._watch.note_received()

    async def note_members(self, chat: Chat) -> None:
        raise AssertionError("no chat of these networks becomes a group")

    def connected(self, account: str) -> None:
        self._engine.accounts.append(account)
        self._watch.note_connected(account)

    async def claim(self, account: str) -> None:
        raise AssertionError("the settings name the account")

    async def load_mark(self) -> str:
        return self._engine.marks.get(self._bridge, "")

    async def save_mark(self, mark: str) -> None:
        self._engine.marks[self._bridge] = mark
