"""The engine as one bridge sees it: receives its messages and delivers to its chats."""

import asyncio
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from engram.memory.access import Caller
from engram_host.companion.bridge_types import ChatFile, ChatPlace, Delivery, DeliveryEnd, KeptMessage
from engram_host.companion.bridges.network import Chat, Incoming, MenuCommand, Network
from engram_host.companion.conversations.attached_media import AttachedMedia
from engram_host.companion.conversations.bridge_commands import HELP, BridgeCommands, menu
from engram_host.companion.conversations.delivery import Deliverer
from engram_host.companion.conversations.file_imports import FileImports
from engram_host.companion.conversations.message_keeper import MessageKeeper
from engram_host.companion.conversations.notices import Notices
from engram_host.companion.conversations.outlet import Outlet, Outlets
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.routing import Spoken, keepable, parse_spoken, which_board
from engram_host.companion.conversations.service import BRIDGE_IDS, ConversationService
from engram_host.companion.conversations.wakers import Wakers, wait_for_event
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.media.service import MediaService
from engram_host.companion.settings import ChatSettings, conversation_limits
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.table import BridgeTable
from engram_host.companion.supervisor import describe_error
from engram_host.companion.types import Conversation, Said

_log = logging.getLogger("engram.bridges")

STOP_SECONDS = 3.0

MOST_FAILURES = 5

FAILED_SECONDS = 10.0

RECEIVE_TRIES = 3

RECEIVE_PAUSE = 0.5

STORE_SECONDS = 5.0

_MID_CHARS = 40
_ABOUT_FILES = "-f"

_BACK = "back"


class AttachedBridge:
    def __init__(
        self,
        *,
        bridge: str,
        kind: str,
        network: Network,
        board_names: Sequence[str],
        boards: BoardTable,
        bridges: BridgeTable,
        deliveries: DeliveryTable,
        conversations: ConversationService,
        people: PeopleService,
        commands: BridgeCommands,
        chat: ChatSettings,
        on_connected: Callable[[], None],
        media: MediaService | None = None,
    ):
        self._bridge = bridge
        self._kind = kind
        self._network = network
        self._board_names = board_names
        self._boards = boards
        self._bridges = bridges
        self._deliveries = deliveries
        self._conversations = conversations
        self._people = people
        self._commands = commands
        signs = network.features.command_signs
        self._keeper = MessageKeeper(deliveries, conversations, conversation_limits(chat), signs)
        self._on_connected = on_connected
        self._menu = menu()
        self._back = Wakers()
        self._lanes: dict[tuple[ChatPlace, str], deque[Delivery]] = {}
        self._numbers: set[int] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._calls: set[asyncio.Task[Any]] = set()
        self._outlets = Outlets(network, self._calls)
        self._notices = Notices(bridge, people, self._outlets, self._begin, self._wait_to_retry, network.features)
        self._files = FileImports(bridges, conversations, self._begin, self.deliver, self._may_import)
        self._media = AttachedMedia(bridge, media)
        self._is_stopping = False
        self._user = ""

    # --- for the network

    @property
    def menu(self) -> Sequence[MenuCommand]:
        return self._menu

    async def receive(self, message: Incoming) -> None:
        taken = keepable(message)
        if taken is None:
            _log.warning("the bridge %s passes over a message whose ids no network gives", self._bridge)
            return
        for tries in range(1, RECEIVE_TRIES + 1):
            try:
                await self._receive(taken)
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

    async def _receive(self, message: Incoming) -> None:
        mid = message_id(self._bridge, message, self._user)
        if await asyncio.to_thread(self._deliveries.is_known, mid):
            return
        await self.note_members(message.chat)
        kept = None
        if message.edits:
            edited = message_id(self._bridge, replace(message, id=message.edits), self._user)
            kept = await self._keeper.find_edited(edited, f"{self._kind}:{message.sender}")
            if not kept and message.chat.is_group:
                return  # the original was not for a board
            message = replace(message, is_mentioned=True)
        admission = await self._people.admit(self._bridge, self._kind, message)
        if admission.caller:
            is_kept = False
            try:
                is_kept = await self._take(message, mid, admission.caller, kept)
            finally:
                if not is_kept:  # a repeated message
                    self._people.take_back(admission)
        elif admission.reply:
            self._notices.send(message, mid, admission)

    async def note_members(self, chat: Chat) -> None:
        if not chat.is_group or not await asyncio.to_thread(self._deliveries.is_kept_as_private, self._bridge, chat.id):
            return
        dropped = await asyncio.to_thread(self._deliveries.note_group, self._bridge, chat.id, int(time.time()))
        _log.info("a private chat of the bridge %s is a group now: %d that it was owed dropped", self._bridge, dropped)

    def connected(self, account: str) -> None:
        _log.info("the bridge %s is connected as %s", self._bridge, account)
        self._back.wake(_BACK)
        self._begin(self._resume())
        self._on_connected()

    async def claim(self, account: str) -> None:
        await asyncio.to_thread(self._bridges.claim_user, self._bridge, account)
        self._user = account

    async def load_mark(self) -> str:
        return await asyncio.to_thread(self._bridges.bridge_mark, self._bridge)

    async def save_mark(self, mark: str) -> None:
        await asyncio.to_thread(self._bridges.save_bridge_mark, self._bridge, mark)

    # --- for the engine

    @property
    def owed(self) -> int:
        return len(self._numbers)

    def deliver(self, delivery: Delivery) -> None:
        if delivery.number in self._numbers or self._is_stopping:
            return
        self._numbers.add(delivery.number)
        lane = delivery.place, "" if delivery.text else delivery.device
        waiting = self._lanes.get(lane)
        if waiting is None:
            self._lanes[lane] = deque([delivery])
            self._begin(self._run_lane(lane))
        else:
            waiting.append(delivery)

    async def stop(self) -> None:
        self._is_stopping = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._calls:
            await asyncio.wait(self._calls, timeout=STOP_SECONDS)
        for task in list(self._calls):
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    # --- messages

    async def _take(self, message: Incoming, mid: str, caller: Caller, kept: KeptMessage | None) -> bool:
        """Store a message or an edit with its delivery; False for a repeated message."""
        place = ChatPlace(self._bridge, message.chat.id, message.chat.thread, message.chat.is_group)
        now = int(time.time())
        at = message.at if 0 < message.at < now else now
        owed = Delivery(0, place, message.edits or message.id, "", mid, "", at, ref=f"{self._kind}:{message.sender}")
        boards = await self._known_boards()
        if message.edits:
            if added := await self._keeper.keep_edit(message, owed, caller, kept, boards):
                self.deliver(added)
            return added is not None
        spoken = parse_spoken(message, boards, self._network.features.command_signs)
        board = spoken.board or await self._default_board(place, boards)
        sentence = await self._files.take(message, caller, place)
        if sentence and spoken.text:  # the text beside a file is a message of its own
            about_files = replace(owed, mid=owed.mid + _ABOUT_FILES)
            if added := await self._keeper.keep_text(about_files, sentence):
                self.deliver(added)
            sentence = ""
        sentence = sentence or await self._answer_of_import(spoken, caller, owed, board)
        sentence = sentence or await self._commands.answer(message, spoken, caller, owed, boards)
        added = None
        if not sentence:
            if board and not spoken.is_command:
                message = await self._media.keep(message, caller, board)
                spoken = parse_spoken(message, boards, self._network.features.command_signs)
            added, sentence = await self._pass_on(message, owed, spoken, caller, board, boards)
        if sentence:
            added = await self._keeper.keep_text(owed, sentence)
        if added:
            self.deliver(added)
        return added is not None

    async def _known_boards(self) -> list[str]:
        return list(self._board_names) or list(await asyncio.to_thread(self._boards.heard_times))

    async def _answer_of_import(self, spoken: Spoken, caller: Caller, owed: Delivery, board: str) -> str:
        if spoken.command == "import" and board:
            return await self._files.import_file(owed, spoken.rest, caller, board)
        if spoken.command == "cancel":
            return await self._files.cancel(owed.place, caller)
        return ""

    async def _pass_on(
        self, message: Incoming, owed: Delivery, spoken: Spoken, caller: Caller, board: str, boards: Sequence[str]
    ) -> tuple[Delivery | None, str]:
        """Store a message for its board; return its delivery (None if repeated) or a refusal."""
        if not board:
            return None, HELP if spoken.command == "help" else which_board(boards)
        text = f"/session new {spoken.rest}".strip() if spoken.command == "new" else spoken.text
        said = Said(owed.mid, caller.principal, text, caller.room, caller.group, "", spoken.is_command)
        return await self._keeper.keep(owed, replace(said, forwarded=message.forwarded, quoted=message.quoted), board)

    async def _default_board(self, place: ChatPlace, boards: Sequence[str]) -> str:
        chosen = await asyncio.to_thread(self._deliveries.chosen_board, place)
        if chosen in boards:
            return chosen
        return boards[0] if len(boards) == 1 else ""

    # --- deliveries

    async def _resume(self) -> None:
        try:
            for delivery in await asyncio.to_thread(self._deliveries.open_deliveries, self._bridge):
                self.deliver(delivery)
            for file in await asyncio.to_thread(self._bridges.open_imports, self._bridge):
                self._files.resume(file)
        except StoreUnavailable as problem:
            _log.warning("what chats are owed is not known: %s", problem)

    async def _run_lane(self, lane: tuple[ChatPlace, str]) -> None:
        waiting = self._lanes[lane]
        failures = 0
        try:
            while waiting:
                delivery = waiting[0]
                if await self._is_delivered(delivery, failures):
                    self._numbers.discard(waiting.popleft().number)
                    failures = 0
                else:
                    failures += 1
                    await self._wait_to_retry(FAILED_SECONDS)
        finally:
            del self._lanes[lane]
            self._numbers.difference_update(delivery.number for delivery in waiting)

    async def _is_delivered(self, delivery: Delivery, failures: int) -> bool:
        task = asyncio.get_running_loop().create_task(self._deliver(delivery, is_new=not failures))
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            await asyncio.wait([task])
        # Reads the error instead of a broad `except`; a library may even cancel its caller.
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            return True
        _log.error("the bridge %s failed to deliver: %s", self._bridge, describe_error(error))
        if failures + 1 < MOST_FAILURES:
            return False
        _log.error("the bridge %s gives an answer up", self._bridge)
        try:
            await self._end(delivery, "refused")
        except StoreUnavailable as problem:
            _log.warning("a delivery waits: %s", problem, extra={"repeat": "deliveries"})
            return False
        return True

    async def _end(self, delivery: Delivery, end: DeliveryEnd) -> None:
        await asyncio.to_thread(self._deliveries.end_delivery, delivery.number, end, int(time.time()))

    async def _deliver(self, delivery: Delivery, *, is_new: bool) -> None:
        place = delivery.place
        chat = Chat(place.chat, place.thread, place.is_group)
        outlet = self._outlets.take(chat.id)
        try:
            while not self._is_stopping:
                try:
                    current = delivery
                    if not is_new:
                        current = await asyncio.to_thread(self._deliveries.open_delivery, delivery.number)
                    is_new = False
                    if current is None:
                        return
                    if end := await self._deliverer(current, outlet).run():
                        await self._end(delivery, end)
                    return
                except StoreUnavailable as problem:
                    _log.warning("a delivery waits: %s", problem, extra={"repeat": "deliveries"})
                await self._wait_to_retry(STORE_SECONDS)
        finally:
            self._outlets.release(chat.id)

    def _deliverer(self, delivery: Delivery, outlet: Outlet) -> Deliverer:
        services = self._deliveries, self._conversations, outlet, self._network.features
        return Deliverer(*services, delivery, self._wait_to_retry, lambda: self._may_send(delivery), _tail_of)

    async def _may_send(self, delivery: Delivery) -> bool:
        if await asyncio.to_thread(self._deliveries.open_delivery, delivery.number) is None:
            return False
        return await self._people.may_hear(self._bridge, self._kind, delivery.place, delivery.ref)

    async def _may_import(self, file: ChatFile) -> bool:
        if file.device not in await self._known_boards() or not await self._people.is_owner(file.ref):
            return False
        return await self._people.may_hear(self._bridge, self._kind, file.place, file.ref)

    async def _wait_to_retry(self, seconds: float) -> None:
        with self._back.waiting(_BACK) as event:
            await wait_for_event(event, seconds)

    # --- tasks

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            _log.error("the bridge %s failed to deliver: %s", self._bridge, describe_error(error))


def message_id(bridge: str, message: Incoming, user: str = "") -> str:
    """Return a stable id of a network's message; `user` separates accounts with equal ids."""
    seed = "\0".join((bridge, message.chat.id, message.id, *([user] if user else [])))
    return BRIDGE_IDS + hashlib.sha256(seed.encode()).hexdigest()[:_MID_CHARS]


def _tail_of(conversation: Conversation) -> str:
    return HELP if conversation.said.is_command and conversation.said.text == "/help" else ""
