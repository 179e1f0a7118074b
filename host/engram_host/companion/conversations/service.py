"""Conversations of people with boards: stores messages, reports progress and streams answers."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from engram.errors import ArgumentError
from engram.link.messages import MID_CHARS
from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.bridges.texts import separate
from engram_host.companion.conversations.board_side import PUSHED, BoardSide, storable
from engram_host.companion.errors import StoreUnavailable, UnknownConversation
from engram_host.companion.replication.messages import Head
from engram_host.companion.settings import ChatSettings, conversation_limits
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.conversations.table import ConversationTable
from engram_host.companion.store.database import Notice
from engram_host.companion.supervisor import BackgroundPart, Supervisor, Wakers, wait_for_event
from engram_host.companion.types import Conversation, Piece, Said, without_secret
from engram_host.sentences import SentenceTable
from engram_host.wording import counted


@dataclass
class Answer:
    """An answer so far; `reports` are JSON for programs."""

    text: str = ""
    notices: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    last: int = 0

    def add(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            self.last = piece.number
            if piece.kind == "again":
                self.text, self.notices, self.lines, self.problems, self.reports = "", [], [], [], []
            elif piece.kind == "text":
                self.text += piece.text
            else:
                lists = {"notice": self.notices, "line": self.lines, "problem": self.problems, "report": self.reports}
                lists[piece.kind].append(piece.text)


@dataclass(frozen=True)
class Exchange:
    """A message to a board with its answer so far."""

    message: Conversation
    answer: Answer


_log = logging.getLogger("engram.conversations")

AWAY_SECONDS = 10.0

BUSY_SECONDS = 120

HEARD_SECONDS = 120
"""A board heard this recently is connected; its hello comes every 50 seconds."""

LOOK_SECONDS = 1.0

RARE_LOOK_SECONDS = 60.0

KEEP_ALIVE_SECONDS = 15.0

MOST_CHARACTERS = 8000

MOST_FOLLOWERS = 256

DOOR_IDS = "mqtt:"

PUSH_IDS = "push:"

BRIDGE_IDS = "bridge:"

WAITING = SentenceTable("waiting")

CORRECTED_SECONDS = 3600

ROOM = "companion"

BOARD_ROOM = "link "

_EXPIRE_SECONDS = 60.0
_DAY_SECONDS = 86400
_HOUR_SECONDS = 3600


@dataclass(frozen=True)
class Progress:
    conversation: Conversation
    told: str = ""
    is_away: bool = False


Event = Progress | Piece | None


class ConversationService(BackgroundPart):
    """Messages to boards and their answers; runs between start() and stop()."""

    def __init__(
        self, *, boards: BoardTable, conversations: ConversationTable, settings: ChatSettings, supervisor: Supervisor
    ):
        super().__init__(supervisor, "conversations")
        self._boards = boards
        self._conversations = conversations
        self._settings = settings
        self._limits = conversation_limits(settings)
        self._changed = Wakers()
        self._board_side = BoardSide(conversations, self._limits, self._changed)
        self._is_stopping = False
        self.followers = 0

    def release(self) -> None:
        self._is_stopping = True
        self._board_side.stop()
        self._changed.wake_all()

    async def stop(self) -> None:
        self.release()
        await super().stop()

    async def answer_board(self, device: str, head: Head, body: bytes) -> list[bytes]:
        return await self._board_side.answer(device, head, body)

    # --- for people

    async def say(self, device: str, said: Said) -> Conversation:
        """Store a message once per id. Raise UnknownDevice, TooManyWaiting or MessageIdTaken."""
        checked = check_said(said)
        if checked.edits and await self._found(device, checked.mid) is None:
            original = await self._found(device, checked.edits)
            if original and (original.said.principal, original.said.room) != (checked.principal, checked.room):
                original = None
            if why := why_not_corrected(original, int(time.time())):
                raise ArgumentError("edits", why)
        found = await asyncio.to_thread(
            self._conversations.add_conversation, device, checked, self._limits, int(time.time())
        )
        self._board_side.wake(device)
        return _shown(found)

    async def check_room(self, device: str, said: Said) -> None:
        """Raise TooManyWaiting if a message cannot be stored now."""
        await asyncio.to_thread(self._conversations.check_room, device, said, self._limits)

    def take_notice(self, notice: Notice) -> None:
        if notice.kind == "board":
            self._board_side.wake(notice.device)
        elif notice.kind == "message":
            self._changed.wake((notice.device, notice.mid))
        elif notice.kind == "pushed":
            self._changed.wake(PUSHED)
        elif notice.kind == "":
            self._board_side.wake_all()
            self._changed.wake_all()

    def wake_pushes(self) -> None:
        self._changed.wake(PUSHED)

    def wake_board(self, device: str) -> None:
        self._board_side.wake(device)

    async def cancel(self, device: str, mid: str) -> Conversation:
        found = await asyncio.to_thread(self._conversations.cancel_conversation, device, mid, int(time.time()))
        self._board_side.wake(device)
        self._changed.wake((device, mid))
        return _shown(found)

    async def find(self, device: str, mid: str) -> Conversation:
        return _shown(await asyncio.to_thread(self._conversations.conversation, device, mid))

    async def _found(self, device: str, mid: str) -> Conversation | None:
        try:
            return await self.find(device, mid)
        except UnknownConversation:
            return None

    async def unfinished(self, prefix: str, seconds: int, limit: int) -> list[Conversation]:
        since = int(time.time()) - seconds
        return await asyncio.to_thread(self._conversations.unfinished_conversations, prefix, since, limit)

    async def list_messages(self, device: str, limit: int, before: int = 0, room: str = "") -> list[Conversation]:
        await asyncio.to_thread(self._boards.device, device)
        found = await asyncio.to_thread(self._conversations.conversations, device, limit, before, room)
        return [_shown(each) for each in found]

    def waiting_for_pushes(self) -> AbstractContextManager[asyncio.Event]:
        return self._changed.waiting(PUSHED)

    async def exchange(self, device: str, mid: str) -> Exchange:
        return await asyncio.to_thread(self._exchange, device, mid)

    async def exchanges(self, device: str, limit: int, before: int = 0, room: str = "") -> list[Exchange]:
        found = await self.list_messages(device, limit, before, room)
        return await asyncio.to_thread(lambda: [self._exchange(device, each.said.mid) for each in found])

    def _exchange(self, device: str, mid: str) -> Exchange:
        answer = Answer()
        while True:
            found, pieces = self._conversations.conversation_after(device, mid, answer.last)
            answer.add(pieces)
            if not pieces:
                return Exchange(_shown(found), answer)

    async def why_waiting(self, found: Conversation) -> str:
        is_late = found.state == "waiting" and time.time() - found.at >= AWAY_SECONDS
        return (await self._why_waiting(found))[0] if is_late else ""

    async def follow(self, device: str, mid: str, after: int = 0, seconds: float = math.inf) -> AsyncIterator[Event]:
        """Yield progress and pieces after `after` until a timeout. Raise UnknownConversation."""
        self.followers += 1
        try:
            with self._changed.waiting((device, mid)) as event:
                async for each in self._follow(device, mid, after, event, time.monotonic() + seconds):
                    yield each
        finally:
            self.followers -= 1

    async def follow_patiently(self, device: str, mid: str) -> AsyncIterator[Event]:
        """Like follow(), with rare checks while the board is away. Raise UnknownConversation."""
        with self._changed.waiting((device, mid)) as event:
            async for each in self._follow(device, mid, 0, event, math.inf, RARE_LOOK_SECONDS):
                yield each

    async def _follow(
        self, device: str, mid: str, after: int, event: asyncio.Event, until: float, look_if_away: float = LOOK_SECONDS
    ) -> AsyncIterator[Event]:
        state, told = "", ""
        heard = time.monotonic()
        while not self._is_stopping:
            found, pieces = await asyncio.to_thread(self._conversations.conversation_after, device, mid, after)
            found = _shown(found)
            if found.state != state and found.is_open:
                yield Progress(found)
            for piece in pieces:
                yield piece
                after = piece.number
            if not found.is_open and not pieces:
                yield Progress(found)
                return
            if pieces or found.state != state:
                state, told, heard = found.state, "", time.monotonic()
                continue
            if found.state == "waiting" and time.time() - found.at >= AWAY_SECONDS:
                before, (told, is_away) = told, await self._why_waiting(found)
                if told != before:
                    yield Progress(found, told, is_away)
            if time.monotonic() - heard > KEEP_ALIVE_SECONDS:
                heard = time.monotonic()
                yield None
            if time.monotonic() >= until:
                return
            look = look_if_away if told else LOOK_SECONDS
            await wait_for_event(event, min(look, until - time.monotonic()))

    async def _why_waiting(self, found: Conversation) -> tuple[str, bool]:
        now = int(time.time())
        if await asyncio.to_thread(self._conversations.is_behind_another, found, now - BUSY_SECONDS):
            return WAITING.say("behind", board=found.device), False
        silence = now - (await asyncio.to_thread(self._boards.device, found.device)).heard
        if silence > HEARD_SECONDS:
            return WAITING.say("away", board=found.device), True
        if found.unnamed > 1:
            return WAITING.say("unnamed", board=found.device), False
        if found.offers:
            return WAITING.say("queued", board=found.device), False
        return WAITING.say("not_taken", board=found.device), True

    # --- in the background

    async def _run(self) -> None:
        expired = 0.0
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                if self._board_side.listening:
                    for device in (
                        await asyncio.to_thread(self._conversations.boards_with_messages) & self._board_side.listening
                    ):
                        self._board_side.wake(device)
                if time.monotonic() - expired > _EXPIRE_SECONDS:
                    await self._expire()
                    expired = time.monotonic()
            except StoreUnavailable as problem:
                _log.warning("conversations stand still: %s", problem, extra={"repeat": "conversations"})

    async def _expire(self) -> None:
        now, settings = int(time.time()), self._settings
        why = f"the board did not answer within {counted(settings.waiting_days, 'day', 'days')}: say it again."
        since = now - settings.waiting_days * _DAY_SECONDS, now - settings.kept_hours * _HOUR_SECONDS
        for key in await asyncio.to_thread(self._conversations.end_old_conversations, *since, why, now):
            self._changed.wake(key)


def _shown(found: Conversation) -> Conversation:
    return replace(found, said=without_secret(found.said))


def check_said(said: Said) -> Said:
    room = said.room or ROOM
    access.check_caller(Caller(said.principal, BOARD_ROOM + room, said.is_group, said.workspace))
    if said.is_group and not said.room:
        raise ArgumentError("room", "is needed for a group.")
    content = storable(said.text).strip()
    forwarded, quoted = storable(said.forwarded), storable(said.quoted)
    if said.is_command and (forwarded or said.edits):
        raise ArgumentError("forwarded" if forwarded else "edits", "is for a text, not for a command.")
    if len(said.edits) > MID_CHARS:
        raise ArgumentError("edits", f"is an id of at most {MID_CHARS} characters.")
    if said.is_command:
        quoted = ""
    else:
        content, quoted, forwarded = separate(content, quoted, forwarded)
    if not content or len(content) > MOST_CHARACTERS:
        raise ArgumentError("text", f"must have 1 to {MOST_CHARACTERS} characters.")
    if said.is_command and (content[0] != "/" or "\n" in content):
        raise ArgumentError("command", "begins with a slash and is one line; /help lists them.")
    return replace(said, text=content, room=room, forwarded=forwarded, quoted=quoted)


def why_not_corrected(original: Conversation | None, now: int) -> str:
    """Return the reason that an edit is not passed on, or ""."""
    if original is None or original.is_push:
        return "I do not have that message any more. Send the correction as a new message."
    if original.said.is_command:
        return "An edit does not change what a command has done. Send the command as a new message."
    if now - original.at > CORRECTED_SECONDS:
        return "I correct only messages of the last hour. Send the correction as a new message."
    return ""
