"""Conversations over bridges: admission, the board of a chat, and pending deliveries.

engine = BridgeEngine(parts, chat_settings, supervisor)
engine.start()
host = engine.attach(bridge_settings, network, watch)      # a bridge's runner calls network.run(host)
await engine.detach("home")
await engine.stop()
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from engram.errors import EngramError
from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.network import BridgeWatch, Chat, Incoming, MenuCommand, Network
from engram_host.companion.conversations.chat_messages import (
    HELP,
    Attachments,
    BridgeCommands,
    ChatImports,
    Spoken,
    edited,
    keepable,
    menu,
    parse_spoken,
    which_board,
)
from engram_host.companion.conversations.delivery import Lanes
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import BRIDGE_IDS, ConversationService, check_said, why_not_corrected
from engram_host.companion.errors import CompanionError, StoreUnavailable
from engram_host.companion.media.service import MediaService
from engram_host.companion.settings import ChatSettings
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.types import ChatPlace, Delivery, KeptMessage
from engram_host.companion.supervisor import BackgroundPart, Supervisor, TaskSet, describe_error, wait_for_event
from engram_host.companion.types import ConversationLimits, Said

_log = logging.getLogger("engram.bridges")

LOOK_SECONDS = 60.0

EXPIRE_SECONDS = 600.0

RECEIVE_TRIES = 3

RECEIVE_PAUSE = 0.5

_DAY_SECONDS = 86400
_HOUR_SECONDS = 3600
_MID_CHARS = 40
_ABOUT_FILES, _REPORT = "-f", "-r"
_NO_COMMAND = "An edit does not become a command. Send the command as a new message."


@dataclass(frozen=True)
class BridgeParts:
    """Tables and services that all bridges use."""

    boards: BoardTable
    deliveries: DeliveryTable
    conversations: ConversationService
    people: PeopleService
    limits: ConversationLimits
    media: MediaService | None = None
    imports: ChatImports | None = None


class AttachedBridge:
    def __init__(
        self, bridge: BridgeSettings, network: Network, watch: BridgeWatch, parts: BridgeParts, reports: TaskSet
    ):
        self._bridge = bridge.name
        self._kind = bridge.network
        self._board_names = bridge.boards
        self._watch = watch
        self._parts = parts
        self._store = parts.deliveries
        self._conversations = parts.conversations
        self._people = parts.people
        self._imports = parts.imports
        self._reports = reports
        self._commands = BridgeCommands(parts.deliveries, parts.conversations, parts.people)
        self._files = Attachments(bridge.name, parts.media, parts.imports)
        self._signs = network.features.command_signs
        self._lanes = Lanes(
            bridge=bridge.name,
            network=network,
            store=parts.deliveries,
            conversations=parts.conversations,
            may_hear=self._may_hear,
            on_sent=watch.note_sent,
        )
        self._tasks = TaskSet(f"the bridge {bridge.name}")
        self._is_stopping = False
        self._account = ""

    # --- for the network

    @property
    def menu(self) -> Sequence[MenuCommand]:
        return menu()

    async def receive(self, message: Incoming) -> None:
        self._require_open()
        taken = keepable(message)
        if taken is None:
            _log.warning("the bridge %s passes over a message whose ids no network gives", self._bridge)
            return
        for tries in range(1, RECEIVE_TRIES + 1):
            try:
                await self._receive(taken)
                self._watch.note_received()
                return
            except StoreUnavailable:
                raise
            # Database libraries raise their own errors for odd texts, and the network would repeat
            # such a message for ever.
            except Exception as error:  # noqa: BLE001
                _log.error("the bridge %s failed to take a message: %s", self._bridge, describe_error(error))
            if tries < RECEIVE_TRIES:
                await asyncio.sleep(RECEIVE_PAUSE)
        _log.error("the bridge %s passes a message over", self._bridge)

    async def note_members(self, chat: Chat) -> None:
        self._require_open()
        if not chat.is_group or not await asyncio.to_thread(self._store.is_kept_as_private, self._bridge, chat.id):
            return
        dropped = await asyncio.to_thread(self._store.note_group, self._bridge, chat.id, int(time.time()))
        _log.info("a private chat of the bridge %s is a group now: dropped %d deliveries", self._bridge, dropped)

    def connected(self, account: str) -> None:
        if not self._is_stopping:
            self._lanes.retry_now()
            self._tasks.begin(self._resume())
            self._conversations.wake_pushes()
            self._watch.note_connected(account)

    async def claim(self, account: str) -> None:
        self._require_open()
        self._account = f"{self._kind} {account}"
        if await asyncio.to_thread(self._store.claim_bridge, self._bridge, self._account):
            _log.info("the bridge %s has another account: removed the data of the former one", self._bridge)

    async def load_mark(self) -> str:
        return await asyncio.to_thread(self._store.bridge_mark, self._bridge)

    async def save_mark(self, mark: str) -> None:
        self._require_open()
        await asyncio.to_thread(self._store.save_bridge_mark, self._bridge, mark)

    def _require_open(self) -> None:
        if self._is_stopping:
            raise StoreUnavailable("this connection is over: the next one takes the message.")

    # --- for the engine

    @property
    def owed(self) -> int:
        return self._lanes.owed

    def deliver(self, delivery: Delivery) -> None:
        self._lanes.add(delivery)

    async def stop(self) -> None:
        self._is_stopping = True
        await self._tasks.stop()
        await self._lanes.stop()

    async def _resume(self) -> None:
        try:
            for delivery in await asyncio.to_thread(self._store.open_deliveries, self._bridge):
                self.deliver(delivery)
        except StoreUnavailable as problem:
            _log.warning("open deliveries are not known: %s", problem)

    async def _may_hear(self, delivery: Delivery) -> bool:
        return await self._people.may_hear(self._bridge, self._kind, delivery)

    # --- messages

    async def _receive(self, message: Incoming) -> None:
        mid = message_id(self._bridge, message, self._account)
        if await asyncio.to_thread(self._store.is_known, mid):
            return
        await self.note_members(message.chat)
        ref, kept = f"{self._kind}:{message.sender}", None
        if message.edits:
            edited_mid = message_id(self._bridge, replace(message, id=message.edits), self._account)
            kept = await asyncio.to_thread(self._store.kept_message, edited_mid)
            kept = kept if kept and kept.delivery.ref == ref else None
            if not kept and message.chat.is_group:
                return  # the original was not for a board
            message = replace(message, is_mentioned=True)
        admission = await self._people.admit(self._bridge, self._kind, message)
        now, chat = int(time.time()), message.chat
        place = ChatPlace(self._bridge, chat.id, chat.thread, chat.is_group)
        at = message.at if 0 < message.at < now else now
        owed = Delivery(0, place, message.edits or message.id, "", mid, "", at, ref=ref)
        if not admission.caller:
            if admission.reply:
                await self._keep_text(owed, admission.reply)
            return
        is_kept = False
        try:
            is_kept = await self._take(message, owed, admission.caller, kept)
        finally:
            if not is_kept:  # a repeated message
                self._people.take_back(admission)

    async def _take(self, message: Incoming, owed: Delivery, caller: Caller, kept: KeptMessage | None) -> bool:
        """Store a message or an edit with its delivery; False for a repeated message."""
        boards = list(self._board_names) or list(await asyncio.to_thread(self._parts.boards.heard_times))
        if message.edits:
            return await self._keep_edit(message, owed, caller, kept, boards)
        spoken = parse_spoken(message, boards, self._signs)
        board = spoken.board or await self._default_board(owed.place, boards)
        sentence = await self._files.offer_imports(message, caller, board)
        if sentence and spoken.text:  # the text beside a file is a message of its own
            await self._keep_text(replace(owed, mid=owed.mid + _ABOUT_FILES), sentence)
            sentence = ""
        sentence = sentence or await self._answer_import(spoken, caller, owed, board)
        sentence = sentence or await self._commands.answer(message, spoken, caller, owed, boards)
        if not (sentence or board):
            sentence = HELP if spoken.command == "help" else which_board(boards)
        if sentence:
            return await self._keep_text(owed, sentence)
        if not spoken.is_command:
            message = await self._files.keep_media(message, caller, board)
            spoken = parse_spoken(message, boards, self._signs)
        text = f"/session new {spoken.rest}".strip() if spoken.command == "new" else spoken.text
        said = Said(owed.mid, caller.principal, text, caller.room, caller.group, "", spoken.is_command)
        return await self._keep(owed, replace(said, forwarded=message.forwarded, quoted=message.quoted), board)

    async def _default_board(self, place: ChatPlace, boards: Sequence[str]) -> str:
        chosen = await asyncio.to_thread(self._store.chosen_board, place)
        if chosen in boards:
            return chosen
        return boards[0] if len(boards) == 1 else ""

    async def _answer_import(self, spoken: Spoken, caller: Caller, owed: Delivery, board: str) -> str:
        """Begin or stop an import; return a reply, or "" if the command is about something else."""
        imports = self._imports
        if spoken.command not in ("import", "cancel") or not imports or not board:
            return ""
        if owed.place.is_group or not access.is_owner(caller):
            return ""
        try:
            if spoken.command == "cancel":
                return await imports.cancel(board)
            import_id = await imports.begin(board, spoken.rest)
        except StoreUnavailable:
            raise
        except CompanionError as problem:
            return str(problem)
        if not import_id:
            return ""
        self._reports.begin(self._report_import(imports, owed, board, import_id))
        return f"{board} is given {spoken.rest}: its report follows. /cancel stops it."

    async def _report_import(self, imports: ChatImports, owed: Delivery, board: str, import_id: str) -> None:
        report = await imports.report(board, import_id)
        # The engine gives a text that answers no message to the bridge's present connection.
        told = replace(owed, message="", mid=owed.mid + _REPORT, text=report)
        await asyncio.to_thread(self._store.add_text, told, int(time.time()))
        self._conversations.wake_pushes()

    # --- rows, each with its delivery in one transaction

    async def _keep(self, owed: Delivery, said: Said, board: str) -> bool:
        """Store a message for a board, or the reason not to; False for a repeated message."""
        try:
            delivery, checked = replace(owed, device=board), check_said(said)
            added = await asyncio.to_thread(
                self._store.add_message, delivery, checked, self._parts.limits, int(time.time())
            )
        except StoreUnavailable:
            raise
        except (CompanionError, EngramError) as problem:
            return await self._keep_text(owed, str(problem))
        if added:
            self._conversations.wake_board(board)
            self.deliver(added)
        return added is not None

    async def _keep_text(self, owed: Delivery, sentence: str) -> bool:
        added = await asyncio.to_thread(self._store.add_text, replace(owed, text=sentence), int(time.time()))
        if added:
            self.deliver(added)
        return added is not None

    async def _keep_edit(
        self, message: Incoming, owed: Delivery, caller: Caller, kept: KeptMessage | None, boards: Collection[str]
    ) -> bool:
        """Store a correction, or the reason to ignore it; False if nothing is new."""
        owed = replace(owed, place=kept.delivery.place) if kept else owed
        spoken = edited(message, kept.text if kept else "", boards, self._signs)
        if not spoken.text or (kept and spoken.text == kept.text):
            return False
        given = kept.given if kept else None
        why = why_not_corrected(given, int(time.time())) or (_NO_COMMAND if spoken.is_command else "")
        if why or not given:
            return await self._keep_text(owed, why)
        quoted, before = message.quoted or given.said.quoted, given.said
        forwarded = message.forwarded or before.forwarded
        said = replace(before, mid=owed.mid, principal=caller.principal, text=spoken.text, edits=before.mid)
        return await self._keep(owed, replace(said, forwarded=forwarded, quoted=quoted), given.device)


class BridgeEngine(BackgroundPart):
    """Conversations over all bridges; runs between start() and stop()."""

    def __init__(self, parts: BridgeParts, settings: ChatSettings, supervisor: Supervisor):
        super().__init__(supervisor, "deliveries")
        self._parts = parts
        self._store = parts.deliveries
        self._settings = settings
        self._attached: dict[str, AttachedBridge] = {}
        self._reports = TaskSet("a report of an import")

    async def stop(self) -> None:
        await super().stop()
        await self._reports.stop()
        for bridge in list(self._attached):
            await self.detach(bridge)

    async def forget(self, bridge: str) -> None:
        await asyncio.to_thread(self._store.forget_bridge, bridge)

    def attach(self, bridge: BridgeSettings, network: Network, watch: BridgeWatch) -> AttachedBridge:
        """Attach a detached bridge, and return its host."""
        if bridge.name in self._attached:
            raise ValueError(f"the bridge {bridge.name} is attached already")
        self._attached[bridge.name] = AttachedBridge(bridge, network, watch, self._parts, self._reports)
        return self._attached[bridge.name]

    async def detach(self, bridge: str) -> None:
        if attached := self._attached.pop(bridge, None):
            await attached.stop()

    # --- in the background

    async def _run(self) -> None:
        expired = time.monotonic()
        with self._parts.conversations.waiting_for_pushes() as pushed:
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
                    _log.warning("messages that boards begin wait: %s", problem, extra={"repeat": "deliveries"})

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
        now, chat = int(time.time()), self._settings
        kept = chat.kept_hours * _HOUR_SECONDS
        # A push's delivery outlives the push, which would count as new without it.
        since = now - chat.waiting_days * _DAY_SECONDS - kept, now - kept - _HOUR_SECONDS
        await asyncio.to_thread(self._store.expire_deliveries, *since, now)


def message_id(bridge: str, message: Incoming, account: str = "") -> str:
    """Return a stable id of a network's message."""
    seed = "\0".join((bridge, account, message.chat.id, message.id))
    return BRIDGE_IDS + hashlib.sha256(seed.encode()).hexdigest()[:_MID_CHARS]
