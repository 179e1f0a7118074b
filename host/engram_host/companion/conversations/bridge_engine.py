"""Conversations over bridges: admission, the board of a chat, and pending deliveries.

engine = BridgeEngine(store, conversations, people, settings, supervisor)
engine.start()
host = engine.attach("home", "matrix", network)      # a bridge's runner calls network.run(host)
await engine.detach("home")
await engine.stop()
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engram_host.companion.bridges.network import Network
from engram_host.companion.conversations.bridge_commands import BridgeCommands
from engram_host.companion.conversations.bridge_host import AttachedBridge
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.conversations.wakers import wait_for_event
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.media.service import MediaService
from engram_host.companion.settings import ChatSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.bridges")

LOOK_SECONDS = 60.0

EXPIRE_SECONDS = 600.0

_DAY_SECONDS = 86400
_HOUR_SECONDS = 3600


@dataclass(frozen=True)
class EngineSettings:
    """Delivery retention, and a function that returns a bridge's boards (none: all boards)."""

    chat: ChatSettings = field(default_factory=ChatSettings)
    boards_of: Callable[[str], Sequence[str]] = lambda bridge: ()


class BridgeEngine:
    """Conversations over all bridges; runs between start() and stop()."""

    def __init__(
        self,
        store: CompanionStore,
        conversations: ConversationService,
        people: PeopleService,
        settings: EngineSettings,
        supervisor: Supervisor,
        media: MediaService | None = None,
    ):
        self._store = store
        self._conversations = conversations
        self._people = people
        self._settings = settings
        self._supervisor = supervisor
        self._media = media
        self._commands = BridgeCommands(store, conversations)
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
        """Set a bridge's account, removing data of a former one. Raise StoreUnavailable."""
        if await asyncio.to_thread(self._store.claim_bridge, bridge, account):
            _log.info("the bridge %s has another account: what was kept of the former one is removed", bridge)

    async def forget(self, bridge: str) -> None:
        await asyncio.to_thread(self._store.forget_bridge, bridge)

    def attach(self, bridge: str, kind: str, network: Network) -> AttachedBridge:
        """Attach a bridge and return its host; detach it first if it is attached already."""
        if bridge in self._attached:
            raise ValueError(f"the bridge {bridge} is attached already")
        boards = self._settings.boards_of(bridge)
        parts = self._store, self._conversations, self._people, self._commands
        attached = AttachedBridge(
            bridge, kind, network, boards, *parts, self._settings.chat, self._wake_up, self._media
        )
        self._attached[bridge] = attached
        return attached

    async def detach(self, bridge: str) -> None:
        if attached := self._attached.pop(bridge, None):
            await attached.stop()

    def count_owed(self) -> dict[str, int]:
        return {bridge: attached.owed for bridge, attached in self._attached.items()}

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
            added, notices = await asyncio.to_thread(self._store.add_pushes, names, int(time.time()))
            for delivery in (*added, *notices):
                if attached := self._attached.get(delivery.place.bridge):
                    attached.deliver(delivery)
            if not added:
                return

    async def _expire(self) -> None:
        now, chat = int(time.time()), self._settings.chat
        kept = chat.kept_hours * _HOUR_SECONDS
        # A push's delivery outlives the push, which would count as new without it.
        since = now - chat.waiting_days * _DAY_SECONDS - kept, now - kept - _HOUR_SECONDS
        dropped = await asyncio.to_thread(self._store.expire_deliveries, *since, now)
        await asyncio.to_thread(self._store.expire_chat_files, now - _DAY_SECONDS)
        if dropped:
            _log.warning("answers that could not be delivered were dropped: %d", len(dropped))
