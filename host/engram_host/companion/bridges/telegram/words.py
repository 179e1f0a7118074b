"""Whose words a message of Telegram has. Nothing in it is trusted: each field has its kind, or counts as absent."""

from typing import Any

from engram.text import part
from engram_host.companion.bridges.quotes import SOMEBODY

_FORWARDED = ("forward_origin", "forward_date", "forward_from", "forward_from_chat", "forward_sender_name")
_HELD = (
    "photo",
    "animation",
    "video",
    "video_note",
    "audio",
    "voice",
    "document",
    "sticker",
    "location",
    "poll",
    "story",
)


def forwarded_from(message: dict[str, Any]) -> str:
    """Name who wrote a message that its sender passes on, or the bot that made it for them; "" for their own words."""
    if bot := part(message, "via_bot", dict):
        return f"the bot @{part(bot, 'username', str)}"
    if not any(message.get(name) for name in _FORWARDED):
        return ""
    return _author(message, part(message, "forward_origin", dict))


def quoted_in(message: dict[str, Any], thread: int) -> str:
    """Give what a message replies to: the part that is quoted, or all of it. In a topic each one replies to what began it."""
    if quote := part(part(message, "quote", dict), "text", str):
        return quote
    replied = part(message, "reply_to_message", dict)
    if thread and part(replied, "message_id", int) == thread:
        return ""
    replied = replied or part(message, "external_reply", dict)
    words = part(replied, "text", str) or part(replied, "caption", str)
    return " ".join([*(f"[{name}]" for name in _HELD if replied.get(name)), words]).strip()


def without_blockquotes(written: str, entities: list[Any]) -> tuple[str, str]:
    """Split a text from its quotation blocks: spaces take their place, so that the other entities stay where they are."""
    units, quoted = written.encode("utf-16-le", "surrogatepass"), list[str]()
    for entity in entities:
        if part(entity, "type", str) in ("blockquote", "expandable_blockquote"):
            begin = 2 * max(0, part(entity, "offset", int))
            block = units[begin : begin + 2 * max(0, part(entity, "length", int))]
            quoted.append(block.decode("utf-16-le", "replace"))
            units = units[:begin] + b" \0" * (len(block) // 2) + units[begin + len(block) :]
    return units.decode("utf-16-le", "replace") if quoted else written, "\n".join(quoted)


def full_name(user: dict[str, Any]) -> str:
    """Give the name that a person shows."""
    return " ".join(f"{part(user, 'first_name', str)} {part(user, 'last_name', str)}".split())


def _author(message: dict[str, Any], origin: dict[str, Any]) -> str:
    """Name who wrote what is forwarded; Bot API before 7.0 says so in fields of the message."""
    chat = part(origin, "chat", dict) or part(origin, "sender_chat", dict) or part(message, "forward_from_chat", dict)
    if chat:
        kind = "channel" if part(chat, "type", str) == "channel" else "group"
        return f"the {kind} {part(chat, 'title', str)}".strip()
    user = part(origin, "sender_user", dict) or part(message, "forward_from", dict)
    hidden = part(origin, "sender_user_name", str) or part(message, "forward_sender_name", str)
    return full_name(user) or hidden or SOMEBODY
