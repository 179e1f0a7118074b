"""Conversations over bridges: admission, the board of a chat, and pending deliveries.

engine = BridgeEngine(boards=..., bridges=..., deliveries=..., conversations=..., ...)
engine.start()
host = engine.attach("home", "matrix", network)      # a bridge's runner calls network.run(host)
await engine.detach("home")
await engine.stop()
"""

import asyncio
import logging
import time
from collections.abc import Sequence

from engram_host.companion.bridges.network import Network
from engram_host.companion.conversations.bridge_commands import BridgeCommands
from engram_host.companion.conversations.bridge_host import AttachedBridge
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.conversations.wakers import wait_for_event
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.media.service import MediaService
from engram_host.companion.settings import ChatSettings
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.table import BridgeTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.bridges")

LOOK_SECONDS = 60.0

EXPIRE_SECONDS = 600.0

_DAY_SECONDS = 86400
_HOUR_SECONDS = 3600


class BridgeEngine:
    """Conversations over all bridges; runs between start() and stop()."""

    def __init__(
        self,
        *,
        boards: BoardTable,
        bridges: BridgeTable,
        deliveries: DeliveryTable,
        conversations: ConversationService,
        people: PeopleService,
        commands: BridgeCommands,
        chat: ChatSettings,
        supervisor: Supervisor,
        media: MediaService | None = None,
    ):
        self._boards = boards
        self._bridges = bridges
        self._deliveries = deliveries
        self._conversations = conversations
        self._people = people
        self._chat = chat
        self._supervisor = supervisor
        self._media = media
        self._commands = commands
        self._attached: dict[str, AttachedBridge] = {}
        self._task: BackgroundTask | None = None
        self._wake = asyncio.Event()

    def start(self) -> None:
        self._task = self._supervisor.start("deliveries", self._run)

    async def stop(self) -> None:
        if self._task:
            await self._task.stop()
        for bridge in list(self._attached):
            await self.detach(bridge)

    async def claim(self, bridge: str, account: str) -> None:
        if await asyncio.to_thread(self._bridges.claim_bridge, bridge, account):
            _log.info("the bridge %s has another account: what was kept of the former one is removed", bridge)

    async def forget(self, bridge: str) -> None:
        await asyncio.to_thread(self._bridges.forget_bridge, bridge)

    def attach(self, bridge: str, kind: str, network: Network, boards: Sequence[str] = ()) -> AttachedBridge:
        """Attach a detached bridge, to all boards if none are named, and return its host."""
        if bridge in self._attached:
            raise ValueError(f"the bridge {bridge} is attached already")
        attached = AttachedBridge(
            bridge=bridge,
            kind=kind,
            network=network,
            board_names=boards,
            boards=self._boards,
            bridges=self._bridges,
            deliveries=self._deliveries,
            conversations=self._conversations,
            people=self._people,
            commands=self._commands,
            chat=self._chat,
            on_connected=self._wake_up,
            media=self._media,
        )
        self._attached[bridge] = attached
        return attached

    async def detach(self, bridge: str) -> None:
        if attached := self._attached.pop(bridge, None):
            await attached.stop()

    # --- in the background

    def _wake_up(self) -> None:
        self._wake.set()

    async def _run(self) -> None:
        expired = time.monotonic()
        with self._conversations.waiting_for_pushes() as pushed:
            self._wake = pushed
            while True:
                await wait_for_event(pushed, LOOK_SECONDS)
                if not self._attached:
                    continue
                try:
                    await self._take_pushes()
                    if time.monotonic() - expired > EXPIRE_SECONDS:
                        await self._expire()
                        expired = time.monotonic()
                except StoreUnavailable as problem:
                    _log.warning("what boards begin to say waits: %s", problem, extra={"repeat": "deliveries"})

    async def _take_pushes(self) -> None:
        while True:
            names = list(self._attached)
            added, notices = await asyncio.to_thread(self._deliveries.add_pushes, names, int(time.time()))
            for delivery in (*added, *notices):
                if attached := self._attached.get(delivery.place.bridge):
                    attached.deliver(delivery)
            if not added:
                return

    async def _expire(self) -> None:
        now, chat = int(time.time()), self._chat
        kept = chat.kept_hours * _HOUR_SECONDS
        # A push's delivery outlives the push, which would count as new without it.
        since = now - chat.waiting_days * _DAY_SECONDS - kept, now - kept - _HOUR_SECONDS
        dropped = await asyncio.to_thread(self._deliveries.expire_deliveries, *since, now)
        if dropped:
            _log.warning("answers that could not be delivered were dropped: %d", len(dropped))
