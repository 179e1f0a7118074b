"""Text of Slack messages: rendering of replies, and what people write, share and edit."""

import re
from typing import Any

from engram_host.companion.bridges.texts import SOMEBODY, STYLING, mark_quoted_rest, separate, with_marks

_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
_LINK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
_QUOTE = re.compile(r"^(?:&gt;)+(?= |$)", re.MULTILINE)
_AUTHORS = ("author_name", "author_subname", "author_id")


def escaped_length(text: str) -> int:
    return len(escaped(text))


def escaped(text: str) -> str:
    """Escape a text, so that it has no links and notifies nobody."""
    for sign, entity in _ESCAPES:
        text = text.replace(sign, entity)
    return text


def rendered(markdown: str, *, is_plain: bool) -> str:
    """Render Markdown as mrkdwn, or a plain text as it is."""
    return escaped(markdown) if is_plain else with_marks(escaped(markdown), STYLING)


def readable(text: str, names: dict[str, str]) -> str:
    """Resolve links, names (by id) and escapes in a person's message."""
    text = _LINK.sub(lambda found: _named(found, names), text)
    for sign, entity in reversed(_ESCAPES):
        text = text.replace(entity, sign)
    return text


def _named(found: re.Match[str], names: dict[str, str]) -> str:
    kind, target, label = found[1], found[2], found[3] or ""
    if kind == "@":
        return f"@{names.get(target) or label or target}"
    if kind == "#":
        return f"#{label or target}"
    if kind == "!":
        return label or f"@{target.partition('^')[0]}"
    return f"{label} ({target})" if label and label not in target else target


def edited(event: dict[str, Any]) -> dict[str, Any] | None:
    message = event.get("message")
    if event.get("subtype") != "message_changed" or not isinstance(message, dict):
        return None
    if not isinstance(message.get("edited"), dict):
        return None
    return {**message, "channel": event.get("channel")}


def whose(event: dict[str, Any], *, has_files: bool) -> tuple[str, str, str]:
    """Split a message into (text, quoted, forwarded); a share beside own words is quoted."""
    written = mark_quoted_rest(_QUOTE.sub(lambda found: ">" * (len(found[0]) // 4), str(event.get("text") or "")))
    attached = event.get("attachments")
    shared = [one for one in attached if _is_shared(one)] if isinstance(attached, list) else []
    if not shared:
        return separate(written, has_attachments=has_files)
    words = "\n".join(str(one.get("text") or one.get("fallback") or "") for one in shared)
    if written.strip():
        return separate(written, words, has_attachments=has_files)
    return words, "", next((str(shared[0][name]) for name in _AUTHORS if shared[0].get(name)), SOMEBODY)


def _is_shared(attachment: Any) -> bool:
    return isinstance(attachment, dict) and bool(attachment.get("is_share") or attachment.get("is_msg_unfurl"))
