"""What the fake of Slack knows, and the JSON objects that its API makes of it."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class User:
    id: str
    name: str
    bot_id: str = ""


@dataclass
class Message:
    ts: str
    user: User
    text: str
    thread_ts: str = ""
    files: list[Json] = field(default_factory=list)
    edits: int = 0
    shared: list[Json] = field(default_factory=list)

    def as_json(self) -> Json:
        result: Json = {"type": "message", "user": self.user.id, "text": self.text, "ts": self.ts, "team": "T1"}
        if self.user.bot_id:
            result |= {"bot_id": self.user.bot_id}
        if self.thread_ts:
            result |= {"thread_ts": self.thread_ts}
        if self.files:
            result |= {"files": self.files, "subtype": "file_share"}
        if self.shared:
            result |= {"attachments": self.shared}
        if self.edits:
            result |= {"edited": {"user": self.user.id, "ts": self.ts}}
        return result


@dataclass
class Conversation:
    """A private chat of a person with the app, or a channel."""

    id: str
    kind: str
    name: str = ""
    user: User | None = None
    is_archived: bool = False
    messages: dict[str, Message] = field(default_factory=dict)

    def as_json(self) -> Json:
        result: Json = {"id": self.id, "is_archived": self.is_archived, "is_im": self.kind == "im", "is_member": True}
        return {**result, "user": self.user.id} if self.user else {**result, "name": self.name, "is_channel": True}
