"""Users, chats, messages and files, and the JSON objects that the Bot API makes of them."""

from dataclasses import dataclass, field
from typing import Any

from .text import Entity

Json = dict[str, Any]


@dataclass(slots=True)
class User:
    """A person, or a bot."""

    id: int
    first_name: str
    username: str = ""
    is_bot: bool = False
    has_started: bool = False
    """The person has written to the bot; before that the bot cannot write first."""

    def as_json(self) -> Json:
        names = {"username": self.username} if self.username else {}
        return {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name, **names}


@dataclass(slots=True)
class Chat:
    """A private chat, a group, or a supergroup; a forum has topics, by their message_thread_id."""

    id: int
    type: str
    title: str = ""
    is_forum: bool = False
    user: User | None = None
    members: set[int] = field(default_factory=set)
    topics: dict[int, str] = field(default_factory=dict)
    messages: "dict[int, Message]" = field(default_factory=dict)
    typing_until: float = 0.0
    migrated_to: int = 0
    """The supergroup that a group became."""

    @property
    def is_group(self) -> bool:
        return self.type != "private"

    def as_json(self) -> Json:
        if self.user is not None:
            return {"id": self.id, "first_name": self.user.first_name, "type": "private"}
        forum = {"is_forum": True} if self.is_forum else {}
        return {"id": self.id, "title": self.title, "type": self.type, **forum}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file's bytes, and the ids that name them; one without a name is a photo."""

    file_id: str
    path: str
    data: bytes
    name: str = ""

    def as_json(self) -> Json:
        return {"file_id": self.file_id, "file_unique_id": f"u{self.file_id}", "file_size": len(self.data)}


@dataclass(slots=True)
class Message:
    """A message of a chat. `text` is the caption if there is a file; `edits` has all earlier texts."""

    id: int
    chat: Chat
    sender: User
    date: int
    text: str = ""
    entities: tuple[Entity, ...] = ()
    file: StoredFile | None = None
    album: str = ""
    reply_to: "Message | None" = None
    thread_id: int = 0
    more: Json = field(default_factory=dict)
    """Who has written it if that is not its sender, or what happened to the chat, such as a topic that was created."""
    edit_date: int = 0
    edits: list[str] = field(default_factory=list)
    is_deleted: bool = False

    @property
    def is_service(self) -> bool:
        return not self.text and self.file is None

    @property
    def versions(self) -> list[str]:
        """All that it ever said, the newest last."""
        return [*self.edits, self.text]

    def as_json(self, *, with_reply: bool = True) -> Json:
        """The Bot API's Message."""
        result: Json = {"message_id": self.id, "from": self.sender.as_json(), "chat": self.chat.as_json()}
        result["date"] = self.date
        if self.edit_date:
            result["edit_date"] = self.edit_date
        if self.thread_id:
            result |= {"message_thread_id": self.thread_id} | ({"is_topic_message": True} if self.chat.is_forum else {})
        if self.album:
            result["media_group_id"] = self.album
        replied = self._replied()
        if with_reply and replied is not None:
            result["reply_to_message"] = replied.as_json(with_reply=False)
        return {**result, **self._content(), **self.more}

    def _replied(self) -> "Message | None":
        """What it replies to; in a topic, else, the message that created the topic."""
        if self.reply_to is not None and not self.reply_to.is_deleted:
            return self.reply_to
        return self.chat.messages.get(self.thread_id) if self.chat.is_forum and self.thread_id != self.id else None

    def _content(self) -> Json:
        result: Json = {}
        if self.file is not None and self.file.name:
            result["document"] = {"file_name": self.file.name, **self.file.as_json()}
        elif self.file is not None:
            result["photo"] = [{**self.file.as_json(), "width": 640, "height": 480}]
        text, marks = ("caption", "caption_entities") if self.file else ("text", "entities")
        if self.text:
            result[text] = self.text
        if self.entities:
            result[marks] = [entity.as_json() for entity in self.entities]
        return result
