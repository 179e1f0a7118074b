"""Wrappers around a network and the engine that count messages."""

import time
from collections.abc import Callable, Sequence
from typing import Literal

from engram_host.companion.bridges.network import BridgeHost, Chat, Features, Incoming, MenuCommand, Network
from engram_host.companion.errors import StoreUnavailable

# A message received, a message sent, or a connection that ended.
Counted = Literal["in", "out", "failure"]


class Traffic:
    def __init__(self, count: Callable[[Counted], None]):
        self._count = count
        self.received = self.sent = 0
        self.heard = 0.0  # Unix seconds of the last activity of the network

    def add_received(self) -> None:
        self.received += 1
        self.heard = time.time()
        self._count("in")

    def add_sent(self) -> None:
        self.sent += 1
        self._count("out")


class CountedHost:
    def __init__(self, host: BridgeHost, traffic: Traffic):
        self._host = host
        self._traffic = traffic
        self._is_over = False
        self.on_connected: Callable[[str], None] = lambda account: None

    def end(self) -> None:
        self._is_over = True

    @property
    def menu(self) -> Sequence[MenuCommand]:
        return self._host.menu

    async def receive(self, message: Incoming) -> None:
        self._require_open()
        await self._host.receive(message)
        self._traffic.add_received()

    async def note_members(self, chat: Chat) -> None:
        self._require_open()
        await self._host.note_members(chat)

    def connected(self, account: str) -> None:
        if not self._is_over:
            self._traffic.heard = time.time()
            self._host.connected(account)
            self.on_connected(account)

    async def claim(self, account: str) -> None:
        self._require_open()
        await self._host.claim(account)

    async def load_mark(self) -> str:
        return await self._host.load_mark()

    async def save_mark(self, mark: str) -> None:
        self._require_open()
        await self._host.save_mark(mark)

    def _require_open(self) -> None:
        if self._is_over:
            raise StoreUnavailable("this connection is over: what comes of it is left to the next one.")


class CountedNetwork:
    def __init__(self, network: Network, traffic: Traffic):
        self._network = network
        self._traffic = traffic

    @property
    def features(self) -> Features:
        return self._network.features

    async def run(self, host: BridgeHost) -> None:
        await self._network.run(host)

    async def check(self) -> str:
        return await self._network.check()

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        sent = await self._network.send(chat, text, key, reply_to, is_plain)
        self._traffic.add_sent()
        return sent

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        await self._network.edit(chat, message, text, is_plain)

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        await self._network.show_typing(chat, is_typing)
