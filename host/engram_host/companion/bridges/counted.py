"""What passes between a network and the engine, counted: two wrappers that change nothing else."""

import time
from collections.abc import Callable, Sequence
from typing import Literal

from engram_host.companion.bridges.network import BridgeHost, Chat, Features, Incoming, MenuCommand, Network
from engram_host.companion.errors import StoreUnavailable

Counted = Literal["in", "out", "failure"]
"""A message of a person, one for a person, or a connection that ended."""


class Traffic:
    """Messages of a bridge since the companion started."""

    def __init__(self, count: Callable[[Counted], None]):
        self._count = count
        self.received = self.sent = 0
        self.heard = 0.0
        """When something was last heard of the network, in Unix seconds."""

    def add_received(self) -> None:
        """A message came."""
        self.received += 1
        self.heard = time.time()
        self._count("in")

    def add_sent(self) -> None:
        """The network has confirmed a message."""
        self.sent += 1
        self._count("out")


class CountedHost:
    """A BridgeHost for a network; after end() it takes nothing more."""

    def __init__(self, host: BridgeHost, traffic: Traffic):
        self._host = host
        self._traffic = traffic
        self._is_over = False
        self.on_connected: Callable[[str], None] = lambda account: None

    def end(self) -> None:
        """The connection is over: what comes of it later is left to the next one."""
        self._is_over = True

    @property
    def menu(self) -> Sequence[MenuCommand]:
        """See BridgeHost."""
        return self._host.menu

    async def receive(self, message: Incoming) -> None:
        """See BridgeHost."""
        self._require_open()
        await self._host.receive(message)
        self._traffic.add_received()

    async def note_members(self, chat: Chat) -> None:
        """See BridgeHost."""
        self._require_open()
        await self._host.note_members(chat)

    def connected(self, account: str) -> None:
        """See BridgeHost."""
        if not self._is_over:
            self._traffic.heard = time.time()
            self._host.connected(account)
            self.on_connected(account)

    async def claim(self, account: str) -> None:
        """See BridgeHost."""
        self._require_open()
        await self._host.claim(account)

    async def load_mark(self) -> str:
        """See BridgeHost."""
        return await self._host.load_mark()

    async def save_mark(self, mark: str) -> None:
        """See BridgeHost."""
        self._require_open()
        await self._host.save_mark(mark)

    def _require_open(self) -> None:
        if self._is_over:
            raise StoreUnavailable("this connection is over: what comes of it is left to the next one.")


class CountedNetwork:
    """A Network for the engine."""

    def __init__(self, network: Network, traffic: Traffic):
        self._network = network
        self._traffic = traffic

    @property
    def features(self) -> Features:
        """See Network."""
        return self._network.features

    async def run(self, host: BridgeHost) -> None:
        """See Network."""
        await self._network.run(host)

    async def check(self) -> str:
        """See Network."""
        return await self._network.check()

    async def send(self, chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        """See Network."""
        sent = await self._network.send(chat, text, key, reply_to, is_plain)
        self._traffic.add_sent()
        return sent

    async def edit(self, chat: Chat, message: str, text: str, is_plain: bool = False) -> None:
        """See Network."""
        await self._network.edit(chat, message, text, is_plain)

    async def show_typing(self, chat: Chat, is_typing: bool) -> None:
        """See Network."""
        await self._network.show_typing(chat, is_typing)
