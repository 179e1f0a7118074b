"""Users, chats, messages and files, and the JSON objects that the Bot API makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .text.entities import Entity

Json = dict[str, object]


@dataclass(slots=True)
class User:
    """A person, or a bot."""

    id: int
    first_name: str
    last_name: str = ""
    username: str = ""
    language_code: str = ""
    is_bot: bool = False
    has_started: bool = False
    """Whether the person has written to the bot; before that the bot cannot write first."""
    has_blocked: bool = False

    def as_json(self) -> Json:
        names = {"last_name": self.last_name, "username": self.username, "language_code": self.language_code}
        head: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        return {**head, **{name: text for name, text in names.items() if text}}


@dataclass(slots=True)
class Chat:
    """A private chat, a group, or a supergroup; a forum has topics, by their message_thread_id."""

    id: int
    type: str
    title: str = ""
    username: str = ""
    is_forum: bool = False
    user: User | None = None
    members: set[int] = field(default_factory=set)
    administrators: set[int] = field(default_factory=set)
    topics: dict[int, str] = field(default_factory=dict)
    messages: "dict[int, Message]" = field(default_factory=dict)
    actions: dict[int, tuple[str, float]] = field(default_factory=dict)
    """What the bot does, such as typing, and until when; by topic, 0 outside of one."""
    bot_status: str = "member"
    migrated_to: int = 0
    """The supergroup that a group became."""

    @property
    def is_group(self) -> bool:
        return self.type != "private"

    def as_json(self) -> Json:
        if self.user is not None:
            person = self.user.as_json()
            names = {name: person[name] for name in ("first_name", "last_name", "username") if name in person}
            return {"id": self.id, **names, "type": "private"}
        result: Json = {"id": self.id, "title": self.title, "type": self.type}
        if self.username:
            result["username"] = self.username
        if self.is_forum:
            result["is_forum"] = True
        if self.type == "group":
            result["all_members_are_administrators"] = False
        return result


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file's bytes, and the ids that name them."""

    file_id: str
    unique_id: str
    path: str
    data: bytes
    name: str = ""
    mime: str = ""

    def as_json(self) -> Json:
        return {"file_id": self.file_id, "file_unique_id": self.unique_id, "file_size": len(self.data)}


@dataclass(frozen=True, slots=True)
class Version:
    """What a message said, from `date` on."""

    text: str
    entities: tuple[Entity, ...]
    date: int


@dataclass(slots=True)
class Message:
    """A message of a chat. `text` is the caption if there is a file; `edits` has all earlier versions."""

    id: int
    chat: Chat
    sender: User
    date: int
    text: str = ""
    entities: tuple[Entity, ...] = ()
    document: StoredFile | None = None
    photo: StoredFile | None = None
    photo_size: tuple[int, int] = (0, 0)
    album: str = ""
    reply_to: "Message | None" = None
    thread_id: int = 0
    service: Json = field(default_factory=dict)
    """The field of a message about the chat itself, such as a topic that was created."""
    origin: Json = field(default_factory=dict)
    """forward_origin or sender_chat: who has written it, if that is not its sender."""
    options: Json = field(default_factory=dict)
    """link_preview_options, reply_markup: what the bot gave and the service shows again."""
    edit_date: int = 0
    edits: list[Version] = field(default_factory=list)
    is_deleted: bool = False
    is_silent: bool = False

    @property
    def has_file(self) -> bool:
        return self.document is not None or self.photo is not None

    @property
    def versions(self) -> list[Version]:
        """All that it ever said, the newest last."""
        return [*self.edits, Version(self.text, self.entities, self.edit_date or self.date)]

    def as_json(self, users: Mapping[int, User], *, with_reply: bool = True) -> Json:
        """The Bot API's Message; `users` are those that entities may name."""
        result: Json = {"message_id": self.id, "from": self.sender.as_json(), "chat": self.chat.as_json()}
        result["date"] = self.date
        if self.edit_date:
            result["edit_date"] = self.edit_date
        if self.thread_id:
            result["message_thread_id"] = self.thread_id
            if self.chat.is_forum:
                result["is_topic_message"] = True
        if self.album:
            result["media_group_id"] = self.album
        replied = self._replied()
        if with_reply and replied is not None:
            result["reply_to_message"] = replied.as_json(users, with_reply=False)
        return {**result, **self._content(users), **self.service, **self.origin, **self.options}

    def _replied(self) -> "Message | None":
        """What it replies to; in a topic, else, the message that created the topic."""
        if self.reply_to is not None and not self.reply_to.is_deleted:
            return self.reply_to
        return self.chat.messages.get(self.thread_id) if self.chat.is_forum and self.thread_id != self.id else None

    def _content(self, users: Mapping[int, User]) -> Json:
        result: Json = {}
        if self.document is not None:
            names = {"file_name": self.document.name, "mime_type": self.document.mime}
            result["document"] = {**{key: text for key, text in names.items() if text}, **self.document.as_json()}
        if self.photo is not None:
            width, height = self.photo_size
            result["photo"] = [{**self.photo.as_json(), "width": width, "height": height}]
        text, marks = ("caption", "caption_entities") if self.has_file else ("text", "entities")
        if self.text:
            result[text] = self.text
        if self.entities:
            result[marks] = [entity_as_json(entity, users) for entity in self.entities]
        return result


def entity_as_json(entity: Entity, users: Mapping[int, User]) -> Json:
    """An entity as the Bot API writes it."""
    result: Json = {"offset": entity.offset, "length": entity.length, "type": entity.type}
    for name in ("url", "language", "custom_emoji_id"):
        if value := getattr(entity, name):
            result[name] = value
    if entity.user_id:
        user = users.get(entity.user_id) or User(entity.user_id, "")
        result["user"] = user.as_json()
    return result
