"""A broker that asks for tokens, with the companion's own connection, for tests of who may do what."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiomqtt
from paho.mqtt.reasoncodes import ReasonCode

from engram_host.companion.auth import tokens
from engram_host.companion.auth.connections import Connections
from engram_host.companion.auth.identity import CallerLookup
from engram_host.companion.auth.rate_limit import FailedLogins, RateLimiter
from engram_host.companion.mqtt.client import BrokerLogin, MqttClient
from engram_host.companion.mqtt.embedded_broker import EmbeddedBroker
from engram_host.companion.mqtt.guarded_broker import WORKER, BrokerAccess
from engram_host.companion.store import open_store
from engram_host.companion.supervisor import Supervisor
from mqtt_marks import MARK, Received, received_before_mark
from peers import free_port
from waiting import SECONDS

SECRET = tokens.new_token()


class Place:
    """A broker that asks for tokens, with the companion's own connection; `heard` is what came to that: (device, data)."""

    def __init__(self, broker: EmbeddedBroker, made: dict[str, str], callers: CallerLookup, heard: Received):
        self.broker = broker
        self.tokens = made
        self.callers = callers
        self.heard = heard

    def transport(self, name: str) -> asyncio.WriteTransport:
        """The broker's side of a device's connection."""
        writer: Any = self._sessions(name)[0][1].writer
        return writer._writer.transport

    def is_connected(self, name: str) -> bool:
        """Whether the broker takes a device for connected."""
        return any(session.transitions.is_connected() for session, _ in self._sessions(name))

    def _sessions(self, name: str) -> list[tuple[Any, Any]]:
        broker = self.broker._broker
        assert broker
        return [(session, handler) for session, handler in broker._sessions.values() if session.username == name]

    def client(self, name: str, password: str = "", **more) -> aiomqtt.Client:
        """A client that says it is somebody; with that one's token if no password is given."""
        password = password or self.tokens.get(name, "")
        login: dict[str, Any] = {"username": name or None, "password": password or None}
        return aiomqtt.Client("127.0.0.1", self.broker.port, timeout=SECONDS, **login, **more)


@contextlib.asynccontextmanager
async def place(tmp_path: Path, rates: RateLimiter | None = None, *, asks: bool = True) -> AsyncIterator[Place]:
    store = open_store(folder=tmp_path)
    made = {device: tokens.new_token() for device in ("kitchen", "garden")}
    for device, token in made.items():
        store.add_token(tokens.stored_token(device, token))
    heard: Received = []

    async def answers(device: str, data: bytes) -> list[bytes]:
        if data == MARK:
            return [MARK]
        heard.append((device, data))
        return [b"to " + data]

    callers = CallerLookup(store, tokens.new_token())
    door = BrokerAccess(callers, asks, rates or RateLimiter(0, 1), SECRET, FailedLogins())
    supervisor = Supervisor()
    broker = EmbeddedBroker("127.0.0.1", free_port(), door, supervisor, Connections(1024))
    await broker.start()
    bus = MqttClient(broker.own_url, BrokerLogin(WORKER, SECRET), answers, supervisor)
    bus.start()
    assert await bus.wait(SECONDS)
    try:
        yield Place(broker, made, callers, heard)
    finally:
        await bus.stop()
        await broker.stop()
        store.close()


def run(tmp_path: Path, work: Callable[[Place], Awaitable[None]], **more) -> None:
    async def all_of_it() -> None:
        async with asyncio.timeout(SECONDS), place(tmp_path, **more) as where:
            await work(where)

    asyncio.run(all_of_it())


async def gets(client: aiomqtt.Client, device: str) -> Received:
    """What comes to a device's client, which reads its own topic, before the answer to what it says now."""
    await client.publish(f"engram/v1/{device}/up", MARK, qos=1)
    return await received_before_mark(client)


async def reasons(client: aiomqtt.Client, topic: str) -> list[int]:
    """Subscribe to a topic; the reasons that the broker gives, 128 and above for a refusal."""
    granted = await client.subscribe(topic, qos=1)
    return [code.value if isinstance(code, ReasonCode) else code for code in granted]
