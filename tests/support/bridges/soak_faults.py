"""Faults on all links of a town: connections that are cut or fall silent, calls that fail, processes that are killed.

People see when a server is down, and say nothing meanwhile; what they said before has come to the companion by then, since
what dies with a server is no bridge's to answer. On IRC, which keeps nothing, they wait for each fault of the bridge, too.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from bridge_peers import Server
from bridged_companion import BridgedCompanion
from chat_networks import NETWORKS
from cut_proxy import CutProxy
from server_process import ServerProcess
from soak_town import Town
from waiting import wait_until_async

PROXIED = {"xmpp": "server", "irc": "server", "matrix": "server", "telegram": "url"}
"""The bridges that reach their server through a proxy, and the field that says where it is."""

SENDING = {"discord": "POST channels messages", "slack": "chat.postMessage"}
"""The calls of fakes that send a message."""

Fault = Callable[[], Coroutine[Any, Any, None]]


class Faults:
    """All faults that there are, by name."""

    def __init__(
        self,
        town: Town,
        proxies: Mapping[str, CutProxy],
        companion: BridgedCompanion,
        broker: ServerProcess,
        boards: Mapping[str, ServerProcess],
    ):
        self._town, self._proxies, self._companion = town, proxies, companion
        self._broker, self._boards = broker, boards
        self.all: dict[str, Fault] = {}
        for name, server in town.servers.items():
            self.all[f"cut {name}"] = lambda name=name: self._cut(name)
            self.all[f"kill {name}"] = lambda name=name, server=server: self._kill_server(name, server)
        for name in PROXIED:
            self.all[f"silence {name}"] = lambda name=name: self._silence(name)
        for name, call in SENDING.items():
            for kind in ("cut_before", "cut_after", "status"):
                self.all[f"{kind} {name}"] = lambda name=name, call=call, kind=kind: self._fail(name, kind, call)
        for kind in ("cut_before", "cut_after", "cut_within", "fail"):
            self.all[f"{kind} telegram"] = lambda kind=kind: self._fail_telegram(kind)
        self.all["kill companion"] = self._kill_companion
        self.all["kill broker"] = lambda: self._kill(broker)
        for name, board in boards.items():
            self.all[f"kill {name}"] = lambda board=board: self._kill(board)

    def pending(self) -> list[object]:
        """The faults of calls that have not happened yet."""
        fakes: list[Any] = [self._town.servers[name] for name in SENDING]
        telegram: Any = self._town.servers["telegram"]
        return [*(fault for fake in fakes for fault in fake._faults), *telegram.fake.faults.waiting]

    # --- who speaks

    async def _quiet(self, name: str) -> None:
        """Let nobody speak on a network, and wait until the companion has all that was said."""
        self._town.may_speak[name].clear()
        await wait_until_async(
            lambda: f"the companion has all of {name}: {self._missing(name)}", lambda: not self._missing(name), 120
        )

    def _missing(self, name: str) -> set[str]:
        given = {text for (text,) in self._companion.query("SELECT text FROM conversations")}
        return {message.token for message in self._town.said if message.network == name} - given

    # --- faults

    async def _cut(self, name: str) -> None:
        before = await self._begin(name)
        if name in self._proxies:
            await self._proxies[name].cut()
        else:
            server: Any = self._town.servers[name]
            await asyncio.to_thread(server.cut_connections)
        await self._end(name, before)

    async def _silence(self, name: str) -> None:
        before = await self._begin(name)
        self._proxies[name].fall_silent()
        await asyncio.sleep(1)
        await self._proxies[name].cut()
        await self._end(name, before)

    async def _begin(self, name: str) -> int:
        """Before a connection ends: how often it was started."""
        if not NETWORKS[name].keeps:
            await self._quiet(name)
        return (await self._status(name))["starts"]

    async def _end(self, name: str, before: int) -> None:
        """After it has ended: on a network that keeps nothing people wait until there is another one."""
        while not NETWORKS[name].keeps and (await self._status(name))["starts"] == before:
            await asyncio.sleep(0.1)
        await asyncio.to_thread(self._companion.wait_for_bridges, "connected", name)
        self._town.may_speak[name].set()

    async def _status(self, name: str) -> dict[str, Any]:
        return (await asyncio.to_thread(self._companion.statuses))[name]

    async def _kill_server(self, name: str, server: Server) -> None:
        before = await self._begin(name)
        if not NETWORKS[name].is_fake:
            await self._quiet(name)
            self._proxies[name].is_shut = True
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await self._town.sign_in_again(name)
        if name in self._proxies:
            self._proxies[name].is_shut = False
        await self._end(name, before)

    async def _fail(self, name: str, kind: str, call: str) -> None:
        server: Any = self._town.servers[name]
        await server.do(lambda: server.fail(kind, call))

    async def _fail_telegram(self, kind: str) -> None:
        server: Any = self._town.servers["telegram"]

        async def add() -> None:
            getattr(server.fake.faults, kind)(method="sendMessage")

        await server.thread.join(add())

    async def _kill_companion(self) -> None:
        gone = [name for name, network in NETWORKS.items() if not network.keeps]
        for name in gone:
            await self._quiet(name)
        self._companion.kill()
        await asyncio.to_thread(self._companion.start)
        await asyncio.to_thread(self._companion.wait_for_bridges)
        for name in gone:
            self._town.may_speak[name].set()

    async def _kill(self, process: ServerProcess) -> None:
        await asyncio.to_thread(process.kill)
        await asyncio.to_thread(process.start)
