"""What the service knows: the bot, people, chats, messages, files, and the updates that the bot has not confirmed."""

import asyncio
import time
from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

from .records import Chat, Json, Message, StoredFile, User
from .text import ApiError, utf16_slice

UPDATES = ("message", "edited_message")
"""The kinds of updates that this service makes."""
CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

_FUTURE = 10
"""An offset so far behind the last update is of another bot, and counts as none."""
# Ids do not fit into 32 bits, as those of people who joined lately.
_FIRST_USER = 5_100_000_001
_FIRST_GROUP = -4_100_000_001
_FIRST_SUPERGROUP = -1_002_200_000_001
_FIRST_UPDATE = 700_000_001
_Found = TypeVar("_Found")


class TelegramState:
    """The service's memory. `changed` is called after each change."""

    def __init__(self, bot: User, *, reads_all_group_messages: bool):
        """Without privacy mode the bot `reads_all_group_messages`."""
        self.bot = bot
        self.reads_all_group_messages = reads_all_group_messages
        self.updates = UpdateQueue()
        self.users: dict[int, User] = {bot.id: bot}
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, StoredFile] = {}
        self.commands: list[Json] = []
        self._watchers: list[asyncio.Future[None]] = []
        self._user_ids = count(_FIRST_USER)
        self._group_ids = count(_FIRST_GROUP, -1)
        self._supergroup_ids = count(_FIRST_SUPERGROUP, -1)
        self._shared_ids = count(1)
        self._own_ids: dict[int, count[int]] = {}

    # --- users and chats

    def add_user(self, first_name: str, **fields: Any) -> User:
        """A new user."""
        user = User(next(self._user_ids), first_name, **fields)
        self.users[user.id] = user
        return user

    def private_chat(self, user: User) -> Chat:
        """The private chat of a person with the bot."""
        return self.chats.setdefault(user.id, Chat(user.id, "private", user=user))

    def add_group(self, kind: str, title: str) -> Chat:
        """A new group or supergroup without members."""
        number = next(self._supergroup_ids if kind == "supergroup" else self._group_ids)
        self.chats[number] = chat = Chat(number, kind, title)
        if kind == "supergroup":
            self._own_ids[number] = count(1)
        return chat

    def find_chat(self, number: int) -> Chat:
        """The chat that a bot names; ApiError where the bot may not write in it."""
        if number in self.users and number != self.bot.id:
            chat = self.private_chat(self.users[number])
        elif number in self.chats:
            chat = self.chats[number]
        else:
            raise ApiError(400, "Bad Request: chat not found")
        if chat.user and not chat.user.has_started:
            raise ApiError(403, "Forbidden: bot can't initiate conversation with a user")
        if chat.migrated_to:
            problem = "Bad Request: group chat was upgraded to a supergroup chat"
            raise ApiError(400, problem, migrate_to_chat_id=chat.migrated_to)
        return chat

    # --- messages

    def new_message(self, chat: Chat, sender: User, **fields: Any) -> Message:
        """A message with the next id of its chat: supergroups count by themselves, all other chats together."""
        number = next(self._own_ids.get(chat.id, self._shared_ids))
        message = Message(number, chat, sender, int(time.time()), **fields)
        chat.messages[number] = message
        if sender is self.bot:
            chat.typing_until = 0.0
        return message

    def find_message(self, chat: Chat, number: int, what: str) -> Message:
        """A message that is there; ApiError if not."""
        message = chat.messages.get(number)
        if message is None or message.is_deleted:
            raise ApiError(400, f"Bad Request: {what} not found")
        return message

    def deliver(self, message: Message, kind: str = "message") -> None:
        """Let the bot know of a message if it may."""
        if self._is_for_bot(message):
            self.updates.put(kind, message.as_json())
        self.changed()

    def _is_for_bot(self, message: Message) -> bool:
        chat = message.chat
        if chat.user is not None:
            return True
        if message.sender.is_bot and "sender_chat" not in message.more:
            return False
        is_reply = message.reply_to is not None and message.reply_to.sender is self.bot
        return self.reads_all_group_messages or message.is_service or is_reply or self._is_named(message)

    def _is_named(self, message: Message) -> bool:
        own = f"@{self.bot.username}".lower()
        named = [
            utf16_slice(message.text, entity.offset, entity.length).lower()
            for entity in message.entities
            if entity.type in ("bot_command", "mention")
        ]
        return any("@" not in part or part.endswith(own) for part in named)

    def store_file(self, data: bytes, name: str = "") -> StoredFile:
        """Keep a file under a new id."""
        number = len(self.files) + 1
        file = StoredFile(f"BQACAgIAAxkBAAI{number:08d}", f"files/file_{number}.bin", data, name)
        self.files[file.file_id] = file
        return file

    # --- changes

    def changed(self) -> None:
        """Wake all that wait for a change."""
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)

    async def next_change(self) -> None:
        """Wait for the next change."""
        watcher: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watchers.append(watcher)
        await watcher

    async def wait_until(self, condition: Callable[[], _Found], timeout: float) -> _Found:
        """What `condition` gives as soon as it is true; TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            while not (found := condition()):
                await self.next_change()
        return found


class UpdateQueue:
    """Updates in their order, kept until an offset confirms them, given to one poller at a time."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] = UPDATES
        """What the bot last asked for."""
        self._all: dict[int, Json] = {}
        self._confirmed = _FIRST_UPDATE
        self._again: list[int] = []
        self._poller: asyncio.Future[None] | None = None

    @property
    def pending(self) -> int:
        """How many wait for their confirmation."""
        return self.last_id + 1 - self._confirmed

    @property
    def is_polled(self) -> bool:
        """Whether a long poll waits now."""
        return self._poller is not None

    @property
    def last_id(self) -> int:
        """The id of the newest update."""
        return _FIRST_UPDATE + len(self._all) - 1

    def put(self, kind: str, body: Json) -> None:
        """Add an update, if the bot wants this kind."""
        if kind in self.allowed:
            self._all[self.last_id + 1] = {kind: body}
            self._wake()

    def repeat(self, number: int, *, same_id: bool) -> None:
        """Deliver an update once more, under its own id even if it is confirmed, or as a new one."""
        if same_id:
            self._again.append(number)
            self._wake()
        else:
            self.put(*next(iter(self._all[number].items())))

    async def get(self, offset: int, limit: int, timeout: float) -> list[Json]:
        """Answer getUpdates: confirm what is before the offset, wait for something, end an older poll with a conflict."""
        if offset <= self.last_id + 1 + _FUTURE:
            self._confirmed = max(self._confirmed, min(offset, self.last_id + 1))
        found = self._take(limit)
        if found or timeout <= 0:
            return found
        if self._poller is not None and not self._poller.done():
            self._poller.set_exception(ApiError(409, CONFLICT))
        own = self._poller = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait({own}, timeout=timeout)
            if own.done():
                own.result()
        finally:
            own.cancel()
            if self._poller is own:
                self._poller = None
        return self._take(limit)

    def _take(self, limit: int) -> list[Json]:
        numbers = [*self._again, *range(self._confirmed, self.last_id + 1)][:limit]
        self._again = self._again[limit:]
        return [{"update_id": number, **self._all[number]} for number in numbers]

    def _wake(self) -> None:
        if self._poller is not None and not self._poller.done():
            self._poller.set_result(None)
