"""What the fake of Discord knows, and the JSON objects that its API makes of it, as the documentation describes them."""

import itertools
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]
_EPOCH_MS = 1_420_070_400_000
_counter = itertools.count(1)


def snowflake() -> int:
    """A new id: the time in milliseconds since 2015, and a number."""
    return (int(time.time() * 1000) - _EPOCH_MS) << 22 | next(_counter) & 0x3FFFFF


def timestamp(identifier: int) -> str:
    """When an id was made, in ISO 8601."""
    return datetime.fromtimestamp(((identifier >> 22) + _EPOCH_MS) / 1000, UTC).isoformat()


@dataclass
class User:
    name: str
    is_bot: bool = False
    id: int = field(default_factory=snowflake)

    def as_json(self) -> Json:
        names = {"username": self.name, "global_name": self.name.capitalize(), "discriminator": "0", "avatar": None}
        return {"id": str(self.id), **names, "bot": self.is_bot, "public_flags": 0}

    def as_member(self) -> Json:
        return {"roles": [], "joined_at": timestamp(self.id), "flags": 0}


@dataclass
class Message:
    channel: "Channel"
    author: User
    content: str
    reply_to: "Message | None" = None
    nonce: str = ""
    attachments: list[Json] = field(default_factory=list)
    edits: int = 0
    edited_at: str | None = None
    type: int = 0
    forwards: "Message | None" = None
    id: int = field(default_factory=snowflake)

    def as_json(self, users: dict[int, User], with_reply: bool = True) -> Json:
        mentioned = [user for user in users.values() if f"<@{user.id}>" in self.content]
        result: Json = {
            "id": str(self.id),
            "channel_id": str(self.channel.id),
            "author": self.author.as_json(),
            "content": self.content,
            "timestamp": timestamp(self.id),
            "edited_timestamp": self.edited_at,
            "mentions": [user.as_json() for user in mentioned],
            "attachments": self.attachments,
            "embeds": [],
            "type": 19 if self.reply_to else self.type,
            "flags": 0,
        }
        if self.forwards is not None:
            said = self.forwards.as_json(users, with_reply=False)
            names = ("type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mentions")
            place = {"message_id": said["id"], "channel_id": said["channel_id"]}
            result["message_reference"] = {"type": 1, **place}
            result["message_snapshots"] = [{"message": {name: said[name] for name in names}}]
        if self.nonce:
            result["nonce"] = self.nonce
        if self.reply_to is not None:
            guild = {"guild_id": str(self.channel.guild_id)} if self.channel.guild_id else {}
            place = {"message_id": str(self.reply_to.id), "channel_id": str(self.channel.id), **guild}
            result["message_reference"] = {"type": 0, **place}
            if with_reply:
                result["referenced_message"] = self.reply_to.as_json(users, with_reply=False)
        return result


@dataclass
class Channel:
    """A direct chat with `recipient`, a text channel of a guild, or a thread of one with `parent`."""

    name: str = ""
    guild_id: int = 0
    recipient: User | None = None
    parent: "Channel | None" = None
    messages: dict[int, Message] = field(default_factory=dict)
    is_forbidden: bool = False
    id: int = field(default_factory=snowflake)

    @property
    def type(self) -> int:
        return 1 if self.recipient else 11 if self.parent else 0

    def as_json(self, owner: User) -> Json:
        last = str(max(self.messages)) if self.messages else None
        result: Json = {"id": str(self.id), "type": self.type, "last_message_id": last, "flags": 0}
        if self.recipient is not None:
            return {**result, "recipients": [self.recipient.as_json()]}
        result |= {"guild_id": str(self.guild_id), "name": self.name, "position": 0}
        if self.parent is None:
            return result
        metadata = {"archived": False, "auto_archive_duration": 1440, "archive_timestamp": timestamp(self.id)}
        owned = {"parent_id": str(self.parent.id), "owner_id": str(owner.id), "thread_metadata": metadata}
        return {**result, **owned, "message_count": len(self.messages), "member_count": 2}
