"""Talks of people with boards through bridges: who may talk, which board answers, and what is owed to each chat.

engine = BridgeEngine(store, conversations, people, settings, supervisor)
engine.start()
host = engine.attach("home", "matrix", network)      # the runner of a bridge passes it to network.run(host)
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
"""Between two looks for what boards have begun to say to another process."""

EXPIRE_SECONDS = 600.0
"""Between two times that what is old is removed."""

_DAY_SECONDS = 86400
_HOUR_SECONDS = 3600


@dataclass(frozen=True)
class EngineSettings:
    """How long what is owed is kept, as messages to boards are; and a call that gives the boards of a bridge by its name, none
    for all that there are.
    """

    chat: ChatSettings = field(default_factory=ChatSettings)
    boards_of: Callable[[str], Sequence[str]] = lambda bridge: ()


class BridgeEngine:
    """Takes what people say through networks, and delivers what boards answer. Runs between start() and stop()."""

    def __init__(
        self,
        store: CompanionStore,
        conversations: ConversationService,
        people: PeopleService,
        settings: EngineSettings,
        supervisor: Supervisor,
        media: MediaService | None = None,
    ):
        """`media` keeps the photos and sounds that come; without it, only their captions are taken."""
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
        """Begin to deliver what boards begin to say, and to remove what is old."""
        self._task = self._supervisor.start("deliveries", self._run)

    async def stop(self) -> None:
        """End all of it, and close all bridges; what is owed is delivered after the next start."""
        if self._task:
            await self._task.stop()
        for bridge in list(self._attached):
            await self.detach(bridge)

    async def claim(self, bridge: str, account: str) -> None:
        """A bridge has this account from now on: what is kept of another one that it had is removed. StoreUnavailable."""
        if await asyncio.to_thread(self._store.claim_bridge, bridge, account):
            _log.info("the bridge %s has another account: what was kept of the former one is removed", bridge)

    async def forget(self, bridge: str) -> None:
        """There is no such bridge any more: what is kept of it is removed. StoreUnavailable."""
        await asyncio.to_thread(self._store.forget_bridge, bridge)

    def attach(self, bridge: str, kind: str, network: Network) -> AttachedBridge:
        """Let a bridge talk: what `network.run` is given. `kind` is its network's name, before the ids of its people; a bridge
        that is attached already is to be detached before.
        """
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
        """Let a bridge talk no more; what its chats are owed is kept."""
        if attached := self._attached.pop(bridge, None):
            await attached.stop()

    def count_owed(self) -> dict[str, int]:
        """How much is being delivered now, by bridge."""
        return {bridge: attached.owed for bridge, attached in self._attached.items()}

    # --- in the background

    def _wake_up(self) -> None:
        """A bridge is there (again): boards may have begun to say something meanwhile."""
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
        # Of what boards begin to say the delivery stays longer than the message, which would count as new without it.
        since = now - chat.waiting_days * _DAY_SECONDS - kept, now - kept - _HOUR_SECONDS
        dropped = await asyncio.to_thread(self._store.expire_deliveries, *since, now)
        await asyncio.to_thread(self._store.expire_chat_files, now - _DAY_SECONDS)
        if dropped:
            _log.warning("answers that could not be delivered were dropped: %d", len(dropped))
