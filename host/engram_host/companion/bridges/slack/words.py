"""Text of Slack messages: edits, shared messages and quotes."""

import re
from typing import Any

from engram_host.companion.bridges.quotes import SOMEBODY, mark_quoted_rest, separate

_QUOTE = re.compile(r"^(?:&gt;)+(?= |$)", re.MULTILINE)
_AUTHORS = ("author_name", "author_subname", "author_id")


def edited(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the edited message of an event; None for other events and added previews."""
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
