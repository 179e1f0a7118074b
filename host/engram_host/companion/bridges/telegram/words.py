"""Quoted and forwarded text of Telegram messages; a field of a wrong type counts as absent."""

from typing import Any, Literal

from engram.text import part
from engram_host.companion.bridges.texts import SOMEBODY

_FORWARDED = ("forward_origin", "forward_date", "forward_from", "forward_from_chat", "forward_sender_name")
HELD: tuple[tuple[str, Literal["photo", "audio", "video", "file"]], ...] = (
    *(("photo", "photo"), ("animation", "video"), ("video", "video"), ("video_note", "video")),
    *(("audio", "audio"), ("voice", "audio"), ("document", "file")),
)
NAMED = ("sticker", "location", "contact", "poll", "dice", "game", "story", "checklist")


def forwarded_from(message: dict[str, Any]) -> str:
    """Return the author of a forwarded or bot-made message, "" for own words."""
    if bot := part(message, "via_bot", dict):
        return f"the bot @{part(bot, 'username', str)}"
    if not any(message.get(name) for name in _FORWARDED):
        return ""
    return _author(message, part(message, "forward_origin", dict))


def quoted_in(message: dict[str, Any], thread: int) -> str:
    """Return the quoted part or whole message replied to; in a topic the first message does not count."""
    if quote := part(part(message, "quote", dict), "text", str):
        return quote
    replied = part(message, "reply_to_message", dict)
    if thread and part(replied, "message_id", int) == thread:
        return ""
    replied = replied or part(message, "external_reply", dict)
    words = part(replied, "text", str) or part(replied, "caption", str)
    return " ".join([*(f"[{name}]" for name in (*dict(HELD), *NAMED) if replied.get(name)), words]).strip()


def without_blockquotes(written: str, entities: list[Any]) -> tuple[str, str]:
    """Split off quotation blocks; spaces replace them, so that other entities keep their offsets."""
    units, quoted = written.encode("utf-16-le", "surrogatepass"), list[str]()
    for entity in entities:
        if part(entity, "type", str) in ("blockquote", "expandable_blockquote"):
            begin = 2 * max(0, part(entity, "offset", int))
            block = units[begin : begin + 2 * max(0, part(entity, "length", int))]
            quoted.append(block.decode("utf-16-le", "replace"))
            units = units[:begin] + b" \0" * (len(block) // 2) + units[begin + len(block) :]
    return units.decode("utf-16-le", "replace") if quoted else written, "\n".join(quoted)


def full_name(user: dict[str, Any]) -> str:
    return " ".join(f"{part(user, 'first_name', str)} {part(user, 'last_name', str)}".split())


def _author(message: dict[str, Any], origin: dict[str, Any]) -> str:
    chat = part(origin, "chat", dict) or part(origin, "sender_chat", dict) or part(message, "forward_from_chat", dict)
    if chat:
        kind = "channel" if part(chat, "type", str) == "channel" else "group"
        return f"the {kind} {part(chat, 'title', str)}".strip()
    user = part(origin, "sender_user", dict) or part(message, "forward_from", dict)
    hidden = part(origin, "sender_user_name", str) or part(message, "forward_sender_name", str)
    return full_name(user) or hidden or SOMEBODY
