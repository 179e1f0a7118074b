"""A companion's engine of bridges with a faulty network and boards, which can be killed and started again on its database."""

import asyncio
import contextlib
import functools
import inspect
import itertools
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from companion_store import media_of, replication_of
from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.network import Chat, Features, Incoming
from engram_host.companion.conversations import bridge_engine, delivery
from engram_host.companion.conversations import service as conversations
from engram_host.companion.conversations.bridge_engine import AttachedBridge, BridgeEngine, BridgeParts
from engram_host.companion.conversations.chat_messages import ChatImports
from engram_host.companion.conversations.people import AdmissionRules, PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.replication.protocol import MessageDispatcher
from engram_host.companion.settings import ChatSettings, conversation_limits
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Sender
from faulty_network import EDITED, KINDS, FaultyNetwork
from talking_board import TalkingBoard, hurry
from waiting import wait_until_async

SECONDS = 60
OPEN = AdmissionRules("open", allow=frozenset({"*"}), rate=10_000)
CHAT = ChatSettings(person_messages=1000, board_messages=1000)

HURRY: Mapping[Any, Mapping[str, float]] = {
    conversations: {"LOOK_SECONDS": 0.02, "RARE_LOOK_SECONDS": 0.05, "AWAY_SECONDS": 60.0},
    delivery: {
        "FIRST_SECONDS": 0.005,
        "PARAGRAPH_SECONDS": 0.005,
        "RETRY_SECONDS": 0.01,
        "FIRST_PAUSE": 0.005,
        "LONGEST_PAUSE": 0.02,
        "STORE_SECONDS": 0.01,
    },
    bridge_engine: {"RECEIVE_PAUSE": 0.01},
}
"""The pauses of the engine, for tests that do not try these; on a loaded machine no board counts as away."""


class Steps:
    """Counts what changes something outside of the process, and kills it at one of these."""

    def __init__(self) -> None:
        self.count = 0
        self.kill_at = 0
        self.is_dead = False

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.kill_at:
            self.is_dead = True
        if self.is_dead:
            raise Dead("the process was killed.")


class Dead(StoreUnavailable):
    """What the code sees that runs on for a moment after its process was killed: nothing that it does has any effect."""


class Unwatched:
    """A BridgeWatch that notes nothing."""

    def note_connected(self, account: str) -> None: ...

    def note_received(self) -> None: ...

    def note_sent(self) -> None: ...


class House:
    """A life after the other of one companion. Boards and the network live on."""

    def __init__(
        self,
        open_store: Callable[[], CompanionStore],
        network: FaultyNetwork,
        rules: AdmissionRules = OPEN,
        boards: tuple[str, ...] = ("kitchen",),
        media_home: Path | None = None,
        imports: ChatImports | None = None,
        **more: Any,
    ):
        self._media_home = media_home
        self._open_store = open_store
        self.network = network
        self._rules = rules
        self._boards = boards
        self._more = more
        self.settings = BridgeSettings("home", "net")
        self.imports = imports
        self.steps = Steps()
        network.step = self.steps
        self.boards: dict[str, TalkingBoard] = {}
        self.kills = 0
        self._ids = itertools.count(1)

    async def start(self) -> None:
        """Begin a life."""
        self.steps.is_dead, self.steps.kill_at = False, 0
        self.network.busy.clear()
        self.store = self._open_store()
        self._guard(self.store)
        supervisor = Supervisor()
        self.service = ConversationService(
            boards=self.store.boards, conversations=self.store.conversations, settings=CHAT, supervisor=supervisor
        )
        nothing: Any = None
        replication = replication_of(self.store, supervisor)
        self.dispatcher = MessageDispatcher(replication, nothing, nothing, nothing, self.service.answer_board)
        self.people = PeopleService(self.store.people, self._rules, on_owed=self.service.wake_pushes)
        store = self.store
        self.parts = BridgeParts(
            boards=store.boards,
            deliveries=store.deliveries,
            conversations=self.service,
            people=self.people,
            limits=conversation_limits(CHAT),
            media=media_of(store, self._media_home) if self._media_home else None,
            imports=self.imports,
        )
        self.engine = BridgeEngine(self.parts, CHAT, supervisor)
        self.service.start()
        self.engine.start()
        for name in self._boards:
            await self.start_board(name)
        self.host: AttachedBridge = self.engine.attach(self.settings, self.network, Unwatched())
        self.host.connected("engram")

    async def start_board(self, name: str) -> None:
        """Let a board connect, with what it remembers."""
        board = self.boards.get(name)
        if board is None:
            board = TalkingBoard(self.store, self._answer, device=name, wait_seconds=20, **self._more)
            self.boards[name] = board
        board.store = self.store
        await board.start()

    async def _answer(self, device: str, data: bytes) -> list[bytes]:
        return [] if self.steps.is_dead else await self.dispatcher.answers_or_nothing(device, data)

    async def stop(self) -> None:
        """End a life in order."""
        for board in self.boards.values():
            await board.kill()
        await self.engine.stop()
        await self.service.stop()

    async def kill(self) -> None:
        """End a life at once: nothing that still runs changes anything."""
        self.steps.is_dead = True
        self.kills += 1
        await self.stop()

    async def restart(self) -> None:
        """Kill it, and start again."""
        await self.kill()
        await self.start()

    def _guard(self, store: CompanionStore) -> None:
        """Let a write be a step before it and a step after it."""
        write = store.database.write
        steps = self.steps

        def guarded(work: Any) -> Any:
            steps()
            done = write(work)
            steps()
            return done

        store.database.write = guarded  # pyright: ignore[reportAttributeAccessIssue]

    # --- people

    def message(self, text: str, chat: str = "5", sender: str = "5", **more: Any) -> Incoming:
        """A new message of somebody."""
        place = Chat(chat, more.pop("thread", ""), more.pop("is_group", False))
        return replace(Incoming(f"m{next(self._ids)}", place, sender, "Ann", text), **more)

    async def say(self, text: str, chat: str = "5", sender: str = "5", **more: Any) -> Incoming:
        """Say something through the network, which gives it to the engine once."""
        message = self.message(text, chat, sender, **more)
        await self.host.receive(message)
        return message

    async def give(self, message: Incoming) -> None:
        """Give the engine a message as networks do: again until it has taken it."""
        while True:
            with contextlib.suppress(StoreUnavailable):
                await self.host.receive(message)
                return
            await self.restart()

    def texts(self, chat: str = "5", thread: str = "") -> list[str]:
        """What a chat shows."""
        return self.network.texts(chat, thread)

    async def wait_for(self, text: str, chat: str = "5", thread: str = "") -> str:
        """The newest message of a chat that has a text in it."""

        def find() -> str:
            return next((each for each in reversed(self.texts(chat, thread)) if text in each), "")

        return await wait_until_async(lambda: f"{text!r} in {self.texts(chat, thread)}", find, 20)

    async def wait_until_delivered(self) -> None:
        """Wait until no chat is owed anything."""
        await wait_until_async(
            lambda: f"still owed: {self.store.deliveries.open_deliveries('home')}",
            lambda: not self.host.owed and not self.store.deliveries.open_deliveries("home"),
            30,
        )

    async def wait_until_known(self) -> None:
        """Wait until it is kept of each message that was sent that it has arrived."""
        await wait_until_async(
            lambda: f"still being sent: {self.store.deliveries.open_deliveries('home')}",
            lambda: not any(each.shown.is_sending for each in self.store.deliveries.open_deliveries("home")),
        )

    async def restart_engine(self) -> None:
        """Let the bridge go and come again, as when its runner starts it again."""
        await self.engine.detach("home")
        self.host = self.engine.attach(self.settings, self.network, Unwatched())
        self.host.connected("engram")

    def open_another(self) -> CompanionStore:
        """Another process's view of the database."""
        return self._open_store()

    def now(self) -> int:
        """Unix seconds."""
        return int(time.time())

    def sender(self, board: str) -> Sender:
        """A board, as its messages say."""
        return Sender("b1", self.boards[board].link, 1)

    async def push(self, board: str, room: str, text: str, mid: str) -> None:
        """Let a board begin to say something."""
        head: Any = {"op": "push", "mid": mid, "room": room, "text": text, "board": "b1", "n": 1}
        await self.service.answer_board(board, head | {"link": self.boards[board].link}, b"")


@contextlib.asynccontextmanager
async def living(
    open_store: Callable[[], CompanionStore], network: FaultyNetwork, *args: Any, **more: Any
) -> AsyncIterator[House]:
    """A companion with bridges that runs."""
    house = House(open_store, network, *args, **more)
    await house.start()
    try:
        yield house
    finally:
        await house.stop()


def in_house(
    features: Features = EDITED,
    rules: AdmissionRules = OPEN,
    *,
    has_media: bool = False,
    prepare: Callable[[House], Coroutine[Any, Any, None]] | None = None,
    **more: Any,
) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Callable[..., None]]:
    """Give a test a `house` that runs in a hurry; the network has the features of the test's `kind` or `features`, if any."""

    def decorate(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
        wanted = inspect.signature(test).parameters

        @functools.wraps(test)
        def run(open_store: Callable[[], CompanionStore], monkeypatch: Any, tmp_path: Path, **values: Any) -> None:
            for module, pauses in [*hurry().items(), *HURRY.items()]:
                for name, seconds in pauses.items():
                    monkeypatch.setattr(module, name, seconds)
            shown = KINDS[values["kind"]] if "kind" in values else values.get("features", features)
            own = {"open_store": open_store, "monkeypatch": monkeypatch, "tmp_path": tmp_path, **values}
            home = tmp_path if has_media else None

            async def timed() -> None:
                async with (
                    asyncio.timeout(SECONDS),
                    living(open_store, FaultyNetwork(shown), rules, media_home=home, **more) as house,
                ):
                    if prepare:
                        await prepare(house)
                    await test(house, **{name: value for name, value in own.items() if name in wanted})

            asyncio.run(timed())

        fixtures = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in _FIXTURES]
        others = [each for name, each in wanted.items() if name not in ("house", *_FIXTURES)]
        run.__signature__ = inspect.Signature([*others, *fixtures])  # pyright: ignore[reportAttributeAccessIssue]
        return run

    return decorate


_FIXTURES = ("open_store", "monkeypatch", "tmp_path")
