"""The people's side: what persons do with their phones, and what they see there.

ann = people.add_user("Ann")
message = people.write(ann, "hello")
people.messages(people.private_chat(ann))
"""

from collections.abc import Iterable, Sequence

from .api.sending import LONGEST_CAPTION, LONGEST_TEXT, change_text
from .records import Chat, Json, Message, StoredFile, User
from .state import TelegramState
from .text.entities import Entity, finish_text, utf16_length

_ANONYMOUS = 1087968824
"""The bot in whose name the service shows what anonymous administrators write."""


class People:
    """Persons and their chats. All methods belong to the server's event loop; `serving` calls them there.

    ValueError for what a phone would not let a person do.
    """

    def __init__(self, state: TelegramState):
        self._state = state

    # --- persons and chats

    def add_user(
        self,
        first_name: str,
        *,
        last_name: str = "",
        username: str = "",
        language_code: str = "",
        is_bot: bool = False,
        user_id: int | None = None,
    ) -> User:
        """A new person, or another bot."""
        return self._state.add_user(
            user_id,
            first_name,
            last_name=last_name,
            username=username,
            language_code=language_code,
            is_bot=is_bot,
        )

    @property
    def users(self) -> list[User]:
        """All persons and other bots."""
        return [user for user in self._state.users.values() if user is not self._state.bot]

    @property
    def chats(self) -> list[Chat]:
        """All chats."""
        return list(self._state.chats.values())

    def chat(self, chat_id: int) -> Chat:
        """The chat of an id; a person's id is their private chat."""
        if chat_id in self._state.users:
            return self._state.private_chat(self._state.users[chat_id])
        if chat_id not in self._state.chats:
            raise ValueError(f"there is no chat {chat_id}")
        return self._state.chats[chat_id]

    def private_chat(self, user: User) -> Chat:
        """The person's chat with the bot."""
        return self._state.private_chat(user)

    def group(self, title: str, members: Iterable[User], *, with_bot: bool = True) -> Chat:
        """A new basic group; its first member created it."""
        return self._new_group("group", title, list(members), with_bot=with_bot)

    def supergroup(
        self,
        title: str,
        members: Iterable[User],
        *,
        is_forum: bool = False,
        username: str = "",
        with_bot: bool = True,
    ) -> Chat:
        """A new supergroup, with topics if `is_forum`; its first member created it."""
        users = list(members)
        chat = self._new_group("supergroup", title, users, with_bot=False)
        chat.is_forum, chat.username = is_forum, username
        if with_bot:
            self.add_bot(chat, users[0])
        return chat

    def _new_group(self, kind: str, title: str, members: Sequence[User], *, with_bot: bool) -> Chat:
        if not members:
            raise ValueError("a group has a member who created it")
        chat = self._state.add_group(kind, title)
        chat.bot_status = "left"
        chat.members = {user.id for user in members}
        chat.administrators = {members[0].id}
        if with_bot:
            self.add_bot(chat, members[0])
        return chat

    def topic(self, chat: Chat, name: str, by: User) -> int:
        """A new topic of a forum; its message_thread_id."""
        if not chat.is_forum:
            raise ValueError("only a forum has topics")
        created: Json = {"forum_topic_created": {"name": name, "icon_color": 0x6FB9F0}}
        message = self._state.new_message(chat, by, service=created)
        message.thread_id = message.id
        chat.topics[message.id] = name
        self._state.deliver(message)
        return message.id

    def delete_topic(self, chat: Chat, thread_id: int) -> None:
        """Delete a topic with its messages; a bot never learns of it."""
        del chat.topics[thread_id]
        for message in chat.messages.values():
            message.is_deleted = message.is_deleted or message.thread_id == thread_id
        self._state.changed()

    def add_bot(self, chat: Chat, by: User, *, as_administrator: bool = False) -> None:
        """Take the bot into a group, or make it an administrator there."""
        is_new = chat.bot_status in ("left", "kicked")
        self._state.set_bot_status(chat, "administrator" if as_administrator else "member", by)
        if is_new:
            bot = self._state.bot.as_json()
            service: Json = {"new_chat_members": [bot], "new_chat_member": bot, "new_chat_participant": bot}
            self._state.deliver(self._state.new_message(chat, by, service=service))

    def remove_bot(self, chat: Chat, by: User) -> None:
        """Remove the bot from a group."""
        self._state.set_bot_status(chat, "kicked", by)

    def add_member(self, chat: Chat, user: User) -> None:
        """Let a person join a group."""
        chat.members.add(user.id)
        member = user.as_json()
        service: Json = {"new_chat_members": [member], "new_chat_member": member, "new_chat_participant": member}
        self._state.deliver(self._state.new_message(chat, user, service=service))

    def remove_member(self, chat: Chat, user: User) -> None:
        """Let a person leave a group."""
        chat.members.discard(user.id)
        member = user.as_json()
        service: Json = {"left_chat_member": member, "left_chat_participant": member}
        self._state.deliver(self._state.new_message(chat, user, service=service))

    def upgrade(self, group: Chat, by: User) -> Chat:
        """Turn a basic group into a supergroup, which has another id."""
        chat = self._state.add_group("supergroup", group.title)
        chat.members, chat.administrators, chat.bot_status = group.members, group.administrators, group.bot_status
        self._state.deliver(self._state.new_message(group, by, service={"migrate_to_chat_id": chat.id}))
        group.migrated_to = chat.id
        self._state.deliver(self._state.new_message(chat, by, service={"migrate_from_chat_id": group.id}))
        return chat

    def block_bot(self, user: User, *, blocks: bool = True) -> None:
        """Block the bot, or take it back."""
        user.has_blocked = blocks
        self._state.set_bot_status(self.private_chat(user), "kicked" if blocks else "member", user)

    # --- what a person sends

    def write(
        self,
        user: User,
        text: str,
        *,
        chat: Chat | None = None,
        reply_to: Message | None = None,
        thread_id: int = 0,
        entities: Sequence[Entity] = (),
    ) -> Message:
        """Write a message, to the bot by default. The service finds commands, mentions and links in it."""
        text, found = finish_text(text, entities)
        if utf16_length(text) > LONGEST_TEXT:
            raise ValueError(f"a phone sends at most {LONGEST_TEXT} units in one message")
        return self._send(user, chat, reply_to, thread_id, text=text, entities=found)

    def forward(self, user: User, message: Message, *, chat: Chat | None = None) -> Message:
        """Forward what somebody else has written, to the bot by default."""
        origin: Json = {"type": "user", "sender_user": message.sender.as_json(), "date": message.date}
        fields = {"text": message.text, "entities": message.entities}
        return self._send(user, chat, None, 0, origin={"forward_origin": origin}, **fields)

    def write_as_chat(self, chat: Chat, text: str) -> Message:
        """Write in the name of a group, as an anonymous administrator."""
        sender = self._state.users.get(_ANONYMOUS) or self.add_user(
            "Group", username="GroupAnonymousBot", is_bot=True, user_id=_ANONYMOUS
        )
        text, found = finish_text(text, ())
        return self._send(sender, chat, None, 0, text=text, entities=found, origin={"sender_chat": chat.as_json()})

    def send_document(
        self,
        user: User,
        name: str,
        data: bytes,
        *,
        mime: str = "application/octet-stream",
        caption: str = "",
        chat: Chat | None = None,
        reply_to: Message | None = None,
        thread_id: int = 0,
    ) -> Message:
        """Send a file."""
        text, entities = self._caption(caption)
        file = self._state.store_file(data, "documents", name, mime)
        return self._send(user, chat, reply_to, thread_id, text=text, entities=entities, document=file)

    def send_photo(
        self,
        user: User,
        data: bytes,
        *,
        caption: str = "",
        size: tuple[int, int] = (640, 480),
        album: str = "",
        chat: Chat | None = None,
        reply_to: Message | None = None,
        thread_id: int = 0,
    ) -> Message:
        """Send a photo, with an `album` as one of several."""
        text, entities = self._caption(caption)
        file = self._state.store_file(data, "photos", "photo.jpg", "image/jpeg")
        fields = {"text": text, "entities": entities, "photo": file, "photo_size": size, "album": album}
        return self._send(user, chat, reply_to, thread_id, **fields)

    def edit(self, message: Message, text: str) -> Message:
        """Change what a message of a person says."""
        if message.sender is self._state.bot or message.is_deleted:
            raise ValueError("a person edits only a message of their own that is there")
        change_text(self._state, message, finish_text(text, (), allow_empty=message.has_file))
        self._state.deliver(message, "edited_message")
        return message

    def delete(self, message: Message) -> None:
        """Delete a message; a bot never learns of it."""
        message.is_deleted = True
        self._state.changed()

    def _caption(self, caption: str) -> tuple[str, tuple[Entity, ...]]:
        text, entities = finish_text(caption, (), allow_empty=True)
        if utf16_length(text) > LONGEST_CAPTION:
            raise ValueError(f"a phone sends at most {LONGEST_CAPTION} units in one caption")
        return text, entities

    def _send(
        self, user: User, chat: Chat | None, reply_to: Message | None, thread_id: int, **fields: object
    ) -> Message:
        place = chat or self._state.private_chat(user)
        if place.user is None and user.id not in place.members and not user.is_bot:
            raise ValueError(f"{user.first_name} is not in {place.title}")
        if thread_id and thread_id not in place.topics:
            raise ValueError(f"there is no topic {thread_id}")
        if place.user is user:
            user.has_started = True
        message = self._state.new_message(place, user, reply_to=reply_to, **fields)
        message.thread_id = thread_id or _thread_of(reply_to)
        self._state.deliver(message)
        return message

    # --- what a person sees

    def messages(self, chat: Chat, *, thread_id: int | None = None, with_deleted: bool = False) -> list[Message]:
        """The messages of a chat, or of one topic (0: of none), in their order; `versions` of each has its edits."""
        found = [message for message in chat.messages.values() if with_deleted or not message.is_deleted]
        return [message for message in found if thread_id in (None, message.thread_id)]

    def from_bot(self, chat: Chat) -> list[Message]:
        """The bot's messages in a chat."""
        return [message for message in self.messages(chat) if message.sender is self._state.bot]

    def action(self, chat: Chat, thread_id: int = 0) -> str:
        """What the bot is shown to do now: "typing" and the like, or ""."""
        return self._state.action(chat, thread_id)

    def menu(self, chat: Chat | None = None, language_code: str = "") -> list[Json]:
        """The command menu that a person sees in a chat: the most special one that is set."""
        scopes = [("default", 0)]
        if chat is not None:
            scopes = [("chat", chat.id), ("all_group_chats" if chat.is_group else "all_private_chats", 0), *scopes]
        for kind, number in scopes:
            for language in dict.fromkeys((language_code, "")):
                if menu := self._state.commands.get((kind, number, 0, language)):
                    return menu
        return []

    def download(self, file: StoredFile) -> bytes:
        """What a file that the bot sent has in it."""
        return file.data

    def repeat_update(self, update_id: int, *, same_id: bool = True) -> int:
        """Let the service deliver an update once more: under its own id, confirmed or not, or as a new one."""
        return self._state.updates.repeat(update_id, same_id=same_id)

    @property
    def last_update_id(self) -> int:
        """The id of the newest update."""
        return self._state.updates.last_id


def _thread_of(message: Message | None) -> int:
    """The thread of a reply: in a supergroup without topics it is named after the message at its root, too."""
    if message is None or message.chat.type != "supergroup":
        return 0
    return message.thread_id or (0 if message.chat.is_forum else message.id)
