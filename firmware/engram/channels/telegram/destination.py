"""Destinations of messages, and the names of rooms and messages: telegram CHAT TOPIC, telegram:CHAT:ID."""

from collections import namedtuple

NAME = "telegram"

Destination = namedtuple("Destination", "chat topic reply_to is_group")
"""A chat, its topic or 0, and the answered message or 0."""


def destination_of(address: str) -> Destination:
    """Return the Destination of a message's id or a room."""
    parts = address.replace(":", " ").split(" ")
    chat = int(parts[1])
    is_message = ":" in address
    message = parts[2].partition(".")[0] if is_message else "0"
    topic = parts[2 + is_message :]
    return Destination(chat, int(topic[0]) if topic else 0, int(message), chat < 0)


def room_of(destination: Destination) -> str:
    topic = " %d" % destination.topic if destination.topic else ""
    return "%s %d%s" % (NAME, destination.chat, topic)


def message_id(destination: Destination, edit: int = 0) -> str:
    """Return the journal's id of a message; `edit` is its editing update, 0 for the original."""
    mark = ".%d" % edit if edit else ""
    topic = ":%d" % destination.topic if destination.topic else ""
    return "%s:%d:%d%s%s" % (NAME, destination.chat, destination.reply_to, mark, topic)
