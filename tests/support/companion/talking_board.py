"""The board's own code for conversations, in this process, over a way that loses, doubles and reorders messages.

Behind it stands what a board's inbox does: it answers each message once, knows from its journal what it has answered, and
dies at any moment.
"""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from engram.channels.deliveries import SavedReply
from engram.errors import EngramError, NetError
from engram.link import conversation, inbound_messages, replication
from engram.link.inbound_messages import InboundMessages
from engram.link.rpc import Rpc
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import LOGS, Hello, LogName, LogState, Sender

AnswerBoard = Callable[[str, bytes], Awaitable[list[bytes]]]


class Killed(BaseException):
    """The power went."""


def hurry() -> dict[Any, dict[str, Any]]:
    """The waits of the board's code, so that what is lost is sent again at once."""
    inbound = {"_LOOK_MS": 2, "_SPARE_MS": 30, "_SAVED_MS": 5, "_FIRST_PAUSE_MS": 2, "_LONGEST_PAUSE_MS": 8}
    return {
        inbound_messages: inbound,
        conversation: {"_ROOM_MS": 200},
        replication: {"_ANSWER_MS": (15, 30, 60)},
    }


class FaultyWay:
    """A transport to a companion; with `chance` a message either way is lost, comes twice, or late."""

    pause_ms = 1

    def __init__(self, device: str, answer: AnswerBoard, chance: random.Random | None, wait_seconds: int = 0):
        self._device, self._answer, self._chance = device, answer, chance
        self.wait_seconds = wait_seconds
        self.take: Callable[[bytes], None] = lambda data: None
        self.sent: list[str] = []
        """The kinds of messages that went either way, in order."""
        self._late: dict[str, list[bytes]] = {"up": [], "down": []}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, head: bytes, body: Any = None) -> None:
        """Send a message; its answers come when they do."""
        data = bytes(head) + b"".join(body.pieces() if body else ())
        for message in self._fate("up", data):
            task = asyncio.create_task(self._pass_on(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    listen = send

    async def _pass_on(self, message: bytes) -> None:
        self.sent.append(message.split(b'"')[3].decode())
        for answer in await self._answer(self._device, message):
            for each in self._fate("down", answer):
                self.sent.append(each.split(b'"')[3].decode())
                self.take(each)

    def _fate(self, way: str, message: bytes) -> list[bytes]:
        if self._chance is None:
            return [message]
        late, self._late[way] = self._late[way], []
        match self._chance.randrange(16):
            case 0:
                return late
            case 1:
                return [*late, message, message]
            case 2:
                self._late[way] = [message]
                return late
            case 3:
                return [message, *late]
            case _:
                return [*late, message]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class TalkingBoard:
    """A board with a journal in RAM that survives kills; `answers` gives the reply to a text."""

    def __init__(self, store: CompanionStore, answer: AnswerBoard, chance: random.Random | None = None, **more: Any):
        self.store, self._answer, self._chance = store, answer, chance
        self.device = more.pop("device", "kitchen")
        self.mode = more.pop("mode", "owner")
        self.wait_seconds = more.pop("wait_seconds", 0)
        self.reply_to: Callable[[str], list[str]] = more.pop("reply_to", lambda text: [f"You said {text}."])
        self.journal: dict[str, list[Any]] = {}
        """By the id of a message: [text, reply or None, how often it was answered by the model]."""
        self.callers: dict[str, Any] = {}
        self.origins: dict[str, tuple[str, str, str]] = {}
        """Who wrote a message, what it answers, and the id of the one that it corrects."""
        self.has_room = asyncio.Event()
        """Whether a message has its turn: it waits otherwise, as behind those of other channels."""
        self.has_room.set()
        self.die_at = 0.0
        """How likely the power goes at each step."""
        self.link = 0
        self._tasks: list[asyncio.Task[Any]] = []

    async def start(self) -> None:
        """Begin a new connection."""
        self.link += 1
        sender = Sender("b1", self.link, 1)
        state: dict[LogName, LogState] = {name: LogState(7, 1, 1, 0) for name in LOGS}
        await asyncio.to_thread(self.store.replication.greet, Hello(self.device, sender, 0, state), 1_795_000_000)
        self.way = FaultyWay(self.device, self._answer, self._chance, self.wait_seconds)
        self.exchange = Rpc("b1", self.way)
        self.exchange.n = 1
        self.way.take = self.exchange.receive
        self.exchange.open(self.link)
        self.sync = SimpleNamespace(is_greeted=True, ask=self._ask, copies=[None, SimpleNamespace(epoch=7)])
        self.inbound = InboundMessages(self.exchange, self.sync, (self._take, self._redeliver), lambda: self.mode)
        self._tasks.append(asyncio.create_task(self.inbound.run()))

    async def _ask(self, op: str, body: Any = None, **fields: Any) -> dict[str, Any]:
        sync: Any = SimpleNamespace(_exchange=self.exchange)
        return await replication.Replication.ask(sync, op, body, **fields)

    async def kill(self) -> None:
        """As when the power goes: nothing of it is awaited, and only the journal is left."""
        self.exchange.close(NetError("the power went"))
        await self.way.stop()
        answering = [self.inbound._task] if self.inbound._task else []
        for task in [*self._tasks, *answering]:
            task.cancel()
        with contextlib.suppress(Killed):
            await asyncio.gather(*self._tasks, *answering, return_exceptions=True)
        self._tasks = []

    async def restart(self) -> None:
        await self.kill()
        await self.start()

    async def _redeliver(self) -> None:
        pass

    async def _take(self, mid: str, caller: Any, text: str, is_command: bool, origin: Any, sink: Any) -> None:
        """What an inbox does with a message that has an id."""
        await self.has_room.wait()
        self.origins[mid] = origin
        self.callers[mid] = caller
        entry = self.journal.setdefault(mid, [text, None, 0])
        await sink.on_saved(f"t{1 + list(self.journal).index(mid)}")
        reply = entry[1]
        if reply is not None:
            await sink.on_saved_reply(SavedReply("t1", reply, "", is_cut=False, is_repeat=False))
        else:
            entry[2] += 1
            pieces = self.reply_to(text)
            try:
                for piece in pieces:
                    await asyncio.sleep(0)
                    await sink.text(piece)
            except EngramError as error:
                await sink.problem(str(error))
            entry[1] = reply = "".join(pieces)
        await sink.end(SimpleNamespace(turn="t1", reply=reply))
