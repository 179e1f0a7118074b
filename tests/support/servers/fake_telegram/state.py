"""What the service knows: the bot, people, chats, messages, files; and what of it the bot gets as updates."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import TypeVar

from .clock import Clock
from .errors import ApiError
from .limits import FloodControl, FloodLimits
from .records import Chat, Json, Message, StoredFile, User
from .text.entities import Entity, utf16_slice
from .updates import UpdateQueue

ACTION_SECONDS = 5
"""A chat action is shown so long, or until the bot's next message."""
OFFERED_SECONDS = 3600
"""A file can be fetched so long after its getFile."""
DOWNLOAD_BYTES = 20 * 1024 * 1024
"""A larger file cannot be fetched by a bot."""

_MESSAGES = 10_000
"""Messages of a chat, the newest; protects the memory of a server that runs for days, as the next does."""
_FILE_BYTES = 256 * 1024 * 1024
"""Bytes of all files, the newest."""

# Ids do not fit into 32 bits, as those of people who joined lately.
_FIRST_USER = 5_100_000_001
_FIRST_GROUP = -4_100_000_001
_FIRST_SUPERGROUP = -1_002_200_000_001
_Found = TypeVar("_Found")


class TelegramState:
    """The service's memory. `changed` is called after each change."""

    def __init__(self, bot: User, clock: Clock, limits: FloodLimits, *, first_update: int):
        self.bot = bot
        self.clock = clock
        self.flood = FloodControl(clock, limits)
        self.updates = UpdateQueue(clock, first_update)
        self.reads_all_group_messages = False
        """Privacy mode is off: the bot gets all messages of its groups."""
        self.users: dict[int, User] = {bot.id: bot}
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, StoredFile] = {}
        self.offered: dict[str, float] = {}
        """Paths that getFile named, and when: a file can be fetched for an hour after that."""
        self.commands: dict[tuple[object, ...], list[Json]] = {}
        self._watchers: list[asyncio.Future[None]] = []
        self._user_ids = count(_FIRST_USER)
        self._group_ids = count(_FIRST_GROUP, -1)
        self._supergroup_ids = count(_FIRST_SUPERGROUP, -1)
        self._file_numbers = count(1)
        self._shared_ids = count(1)
        self._own_ids: dict[int, count[int]] = {}

    # --- users and chats

    def add_user(self, user_id: int | None, first_name: str, **fields: object) -> User:
        """A new user; ValueError if the id is taken."""
        number = next(self._user_ids) if user_id is None else user_id
        if number in self.users or number <= 0:
            raise ValueError(f"{number} is no free id of a user")
        user = User(number, first_name)
        for name, value in fields.items():
            setattr(user, name, value)
        self.users[number] = user
        return user

    def private_chat(self, user: User) -> Chat:
        """The private chat of a person with the bot."""
        if user.id not in self.chats:
            self.chats[user.id] = Chat(user.id, "private", user=user)
        return self.chats[user.id]

    def add_group(self, kind: str, title: str) -> Chat:
        """A new group or supergroup without members."""
        number = next(self._supergroup_ids if kind == "supergroup" else self._group_ids)
        self.chats[number] = chat = Chat(number, kind, title)
        if kind == "supergroup":
            self._own_ids[number] = count(1)
        return chat

    def find_chat(self, identifier: object, *, writes: bool = True) -> Chat:
        """The chat that a bot names by id or @username; ApiError where the bot may not act in it."""
        chat = self._named_chat(identifier)
        if chat.user is not None:
            if writes and chat.user.has_blocked:
                raise ApiError(403, "Forbidden: bot was blocked by the user")
            if writes and not chat.user.has_started:
                raise ApiError(403, "Forbidden: bot can't initiate conversation with a user")
            return chat
        if chat.migrated_to:
            parameters = {"migrate_to_chat_id": chat.migrated_to}
            raise ApiError(400, "Bad Request: group chat was upgraded to a supergroup chat", parameters)
        if chat.bot_status == "kicked":
            raise ApiError(403, f"Forbidden: bot was kicked from the {chat.type} chat")
        if chat.bot_status == "left":
            raise ApiError(403, f"Forbidden: bot is not a member of the {chat.type} chat")
        return chat

    def _named_chat(self, identifier: object) -> Chat:
        if isinstance(identifier, str):
            name = identifier.removeprefix("@").lower()
            chats = [
                chat for chat in self.chats.values() if chat.type == "supergroup" and chat.username.lower() == name
            ]
            if name and chats:
                return chats[0]
        elif isinstance(identifier, int):
            if identifier in self.chats:
                return self.chats[identifier]
            if identifier in self.users and identifier != self.bot.id:
                return self.private_chat(self.users[identifier])
        raise ApiError(400, "Bad Request: chat not found")

    # --- messages

    def new_message(self, chat: Chat, sender: User, **fields: object) -> Message:
        """A message with the next id of its chat: supergroups count by themselves, all other chats together."""
        number = next(self._own_ids.get(chat.id, self._shared_ids))
        message = Message(number, chat, sender, self.now())
        for name, value in fields.items():
            setattr(message, name, value)
        chat.messages[number] = message
        if len(chat.messages) > _MESSAGES:
            del chat.messages[next(iter(chat.messages))]
        if sender is self.bot:
            chat.actions.clear()
        return message

    def find_message(self, chat: Chat, message_id: int, what: str) -> Message:
        """A message that is there; ApiError if not."""
        message = chat.messages.get(message_id)
        if message is None or message.is_deleted:
            raise ApiError(400, f"Bad Request: {what} not found")
        return message

    def deliver(self, message: Message, kind: str = "message") -> int:
        """Let the bot know of a message if it may; the update's id, or 0."""
        body = message.as_json(self.users)
        update = self.updates.put(kind, body) if self._is_for_bot(message) else 0
        self.changed()
        return update

    def _is_for_bot(self, message: Message) -> bool:
        chat = message.chat
        is_of_chat = "sender_chat" in message.origin
        if message.sender.is_bot and message.sender is not self.bot and chat.is_group and not is_of_chat:
            return False
        if chat.user is not None:
            return not chat.user.has_blocked
        if chat.bot_status not in ("member", "administrator"):
            return False
        if self.reads_all_group_messages or chat.bot_status == "administrator" or message.service:
            return True
        is_reply = message.reply_to is not None and message.reply_to.sender is self.bot
        return is_reply or any(self._names_bot(message.text, entity) for entity in message.entities)

    def _names_bot(self, text: str, entity: Entity) -> bool:
        own = f"@{self.bot.username}".lower()
        part = utf16_slice(text, entity.offset, entity.length).lower()
        if entity.type == "bot_command":
            return "@" not in part or part.endswith(own)
        return (entity.type == "mention" and part == own) or entity.user_id == self.bot.id

    def set_bot_status(self, chat: Chat, status: str, by: User) -> None:
        """Change what the bot is in a chat, and let it know."""
        before, chat.bot_status = chat.bot_status, status
        body: Json = {"chat": chat.as_json(), "from": by.as_json(), "date": self.now()}
        body["old_chat_member"] = member_as_json(self.bot, before)
        body["new_chat_member"] = member_as_json(self.bot, status)
        self.updates.put("my_chat_member", body)
        self.changed()

    # --- files

    def store_file(self, data: bytes, folder: str, name: str, mime: str) -> StoredFile:
        """Keep a file under a new id."""
        number = next(self._file_numbers)
        suffix = name.rpartition(".")[2] if "." in name else "bin"
        path = f"{folder}/file_{number}.{suffix if suffix.isalnum() and suffix.isascii() else 'bin'}"
        file = StoredFile(f"BQACAgIAAxkBAAI{number:08d}", f"AgAD{number:08d}", path, data, name, mime)
        self.files[file.file_id] = file
        while sum(len(kept.data) for kept in self.files.values()) > _FILE_BYTES:
            del self.files[next(iter(self.files))]
        return file

    # --- time and changes

    def now(self) -> int:
        """The time as the service writes it."""
        return int(self.clock.now())

    def action(self, chat: Chat, thread_id: int = 0) -> str:
        """What the bot is shown to do, such as typing, or "" if nothing."""
        name, until = chat.actions.get(thread_id, ("", 0.0))
        return name if self.clock.now() < until else ""

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

    async def wait_until(self, condition: Callable[[], _Found], timeout: float = 10) -> _Found:
        """What `condition` gives as soon as it is true; TimeoutError after `timeout` seconds of real time."""
        async with asyncio.timeout(timeout):
            while not (found := condition()):
                await self.next_change()
        return found


_RIGHTS = (
    *("can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages", "can_manage_video_chats"),
    *("can_restrict_members", "can_promote_members", "can_change_info", "can_invite_users", "can_post_stories"),
    *("can_edit_stories", "can_delete_stories", "can_send_welcome_messages"),
)


def member_as_json(user: User, status: str) -> Json:
    """A member of a chat as the Bot API writes it."""
    result: Json = {"user": user.as_json(), "status": status}
    if status == "administrator":
        result |= dict.fromkeys(_RIGHTS, False) | {"can_manage_chat": True, "can_delete_messages": True}
    elif status == "creator":
        result["is_anonymous"] = False
    elif status == "kicked":
        result["until_date"] = 0
    return result
