"""The people's side: what persons do with their phones, and what they see there.

ann = people.add_user("Ann")
message = people.write(ann, "hello")
people.messages(people.private_chat(ann))
"""

import time
from collections.abc import Iterable
from typing import Any

from .methods import LONGEST_TEXT, change_text
from .records import Chat, Json, Message, User
from .state import TelegramState
from .text import Rich, find_entities, finish_text, utf16_length


class People:
    """Persons and their chats. All methods belong to the server's event loop; `serving` calls them there.

    ValueError for what a phone would not let a person do.
    """

    def __init__(self, state: TelegramState):
        self._state = state

    # --- persons and chats

    def add_user(self, first_name: str, *, username: str = "", is_bot: bool = False) -> User:
        """A new person, or another bot."""
        return self._state.add_user(first_name, username=username, is_bot=is_bot)

    @property
    def users(self) -> list[User]:
        """All persons, and other bots."""
        return [user for user in self._state.users.values() if user is not self._state.bot]

    @property
    def chats(self) -> list[Chat]:
        """All chats."""
        return list(self._state.chats.values())

    def private_chat(self, user: User) -> Chat:
        """The person's chat with the bot."""
        return self._state.private_chat(user)

    def group(self, title: str, members: Iterable[User]) -> Chat:
        """A new basic group with the bot."""
        return self._new_group("group", title, members)

    def supergroup(self, title: str, members: Iterable[User], *, is_forum: bool = False) -> Chat:
        """A new supergroup with the bot, with topics if `is_forum`."""
        chat = self._new_group("supergroup", title, members)
        chat.is_forum = is_forum
        return chat

    def _new_group(self, kind: str, title: str, members: Iterable[User]) -> Chat:
        chat = self._state.add_group(kind, title)
        chat.members = {user.id for user in members}
        return chat

    def topic(self, chat: Chat, name: str, by: User) -> int:
        """A new topic of a forum; its message_thread_id."""
        if not chat.is_forum:
            raise ValueError("only a forum has topics")
        message = self._state.new_message(chat, by, more={"forum_topic_created": {"name": name}})
        message.thread_id = message.id
        chat.topics[message.id] = name
        self._state.deliver(message)
        return message.id

    def add_member(self, chat: Chat, user: User) -> None:
        """Let a person join a group."""
        chat.members.add(user.id)
        self._state.deliver(self._state.new_message(chat, user, more={"new_chat_members": [user.as_json()]}))

    def upgrade(self, group: Chat, by: User) -> Chat:
        """Turn a basic group into a supergroup, which has another id."""
        chat = self._state.add_group("supergroup", group.title)
        chat.members = group.members
        self._state.deliver(self._state.new_message(group, by, more={"migrate_to_chat_id": chat.id}))
        group.migrated_to = chat.id
        self._state.deliver(self._state.new_message(chat, by, more={"migrate_from_chat_id": group.id}))
        return chat

    # --- what a person sends

    def write(
        self, user: User, text: str, *, chat: Chat | None = None, reply_to: Message | None = None, thread_id: int = 0
    ) -> Message:
        """Write a message, to the bot by default. The service finds commands and mentions in it."""
        return self._send(user, chat, _written(text), reply_to=reply_to, thread_id=thread_id)

    def forward(self, user: User, message: Message) -> Message:
        """Forward to the bot what somebody else has written."""
        origin: Json = {"type": "user", "sender_user": message.sender.as_json(), "date": message.date}
        return self._send(user, None, (message.text, message.entities), more={"forward_origin": origin})

    def send_document(
        self, user: User, name: str, data: bytes, *, caption: str = "", chat: Chat | None = None, thread_id: int = 0
    ) -> Message:
        """Send a file."""
        file = self._state.store_file(data, name)
        return self._send(user, chat, _written(caption, is_caption=True), file=file, thread_id=thread_id)

    def send_photo(
        self,
        user: User,
        data: bytes,
        *,
        caption: str = "",
        album: str = "",
        chat: Chat | None = None,
        thread_id: int = 0,
    ) -> Message:
        """Send a photo, with an `album` as one of several."""
        fields = {"file": self._state.store_file(data), "album": album, "thread_id": thread_id}
        return self._send(user, chat, _written(caption, is_caption=True), **fields)

    def edit(self, message: Message, text: str) -> Message:
        """Change what a message of a person says."""
        change_text(message, _written(text, is_caption=message.file is not None))
        self._state.deliver(message, "edited_message")
        return message

    def _send(self, user: User, chat: Chat | None, rich: Rich, **fields: Any) -> Message:
        place = chat or self._state.private_chat(user)
        if place.user is None and user.id not in place.members and not user.is_bot:
            raise ValueError(f"{user.first_name} is not in {place.title}")
        user.has_started |= place.user is user
        message = self._state.new_message(place, user, text=rich[0], entities=rich[1], **fields)
        message.thread_id = message.thread_id or _thread_of(message.reply_to)
        self._state.deliver(message)
        return message

    # --- what a person sees

    def messages(self, chat: Chat) -> list[Message]:
        """The messages of a chat in their order; `versions` of each has its edits."""
        return [message for message in chat.messages.values() if not message.is_deleted]

    def from_bot(self, chat: Chat) -> list[Message]:
        """The bot's messages in a chat."""
        return [message for message in self.messages(chat) if message.sender is self._state.bot]

    def is_typing(self, chat: Chat) -> bool:
        """Whether the bot is shown typing now."""
        return time.time() < chat.typing_until

    def menu(self) -> list[Json]:
        """The command menu that a person sees."""
        return self._state.commands

    def repeat_update(self, update_id: int, *, same_id: bool = True) -> None:
        """Let the service deliver an update once more: under its own id, confirmed or not, or as a new one."""
        self._state.updates.repeat(update_id, same_id=same_id)

    @property
    def last_update_id(self) -> int:
        """The id of the newest update."""
        return self._state.updates.last_id


def _written(text: str, *, is_caption: bool = False) -> Rich:
    text, _ = finish_text(text, allow_empty=is_caption)
    if utf16_length(text) > LONGEST_TEXT:
        raise ValueError(f"a phone sends at most {LONGEST_TEXT} units in one message")
    return text, find_entities(text)


def _thread_of(message: Message | None) -> int:
    """The thread of a reply: in a supergroup without topics it is named after the message at its root, too."""
    if message is None or message.chat.type != "supergroup":
        return 0
    return message.thread_id or (0 if message.chat.is_forum else message.id)
