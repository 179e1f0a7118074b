"""Parser of Matrix events: JSON by strangers, in which any field may have any type or be missing."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from engram.text import part
from engram_host.companion.bridges.network import Attachment, FileFetch
from engram_host.companion.bridges.texts import SOMEBODY, split_quotes

Event = Mapping[str, Any]

MESSAGE, ENCRYPTED, MEMBER = "m.room.message", "m.room.encrypted", "m.room.member"
TYPES = (MESSAGE, ENCRYPTED, MEMBER)

# Homeservers do not check ids in relations: they may be any text.
_EVENT_ID = re.compile(r"\$[!-~]{1,254}")
_TEXTS = ("m.text", "m.emote", "m.location")
_FILES: dict[str, Literal["photo", "audio", "video", "file"]] = {
    "m.image": "photo",
    "m.audio": "audio",
    "m.video": "video",
    "m.file": "file",
}
_REPLY_HEADS = ("> <@", "> * <@")  # begin the quotation that older clients put before a reply


@dataclass(frozen=True)
class Account:
    id: str
    name: str = ""


def content_of(event: Event) -> Event:
    """Return an event's content, empty for a redacted one."""
    return part(event, "content", dict)


def _event_id_at(relation: Event) -> str:
    event_id = part(relation, "event_id", str)
    return event_id if _EVENT_ID.fullmatch(event_id) else ""


def is_spoken(event: Event) -> bool:
    """True for a new message: no notice (bots send those), edit, reaction or state."""
    content = content_of(event)
    return (
        event.get("type") == MESSAGE
        and "state_key" not in event
        and content.get("msgtype") in (*_TEXTS, *_FILES)
        and part(content, "m.relates_to", dict).get("rel_type") != "m.replace"
    )


def as_edited(event: Event) -> tuple[Event, str]:
    """Return an edit as a message with the id that it corrects; other events unchanged with ""."""
    content = content_of(event)
    relation = part(content, "m.relates_to", dict)
    if event.get("type") != MESSAGE or relation.get("rel_type") != "m.replace":
        return event, ""
    return {**event, "content": part(content, "m.new_content", dict)}, _event_id_at(relation)


def forwarded_from(event: Event) -> str:
    """Return the author of a forwarded message, "" if unmarked; m.forwarded is only a proposal."""
    for name, value in content_of(event).items():
        if value and name.rpartition(".")[2] in ("forward", "forwarded"):
            return part(value, "sender", str) or SOMEBODY
    return ""


def thread_of(event: Event) -> str:
    """Return the id of the event that began the thread, "" outside of threads."""
    relation = part(content_of(event), "m.relates_to", dict)
    return _event_id_at(relation) if relation.get("rel_type") == "m.thread" else ""


def replied_to(event: Event) -> str:
    """Return the id that a message replies to, "" if none; in a thread each names the one before."""
    relation = part(content_of(event), "m.relates_to", dict)
    if relation.get("rel_type") == "m.thread" and relation.get("is_falling_back") is True:
        return ""
    return _event_id_at(part(relation, "m.in_reply_to", dict))


def attachments_of(event: Event, fetch_of: Callable[[str], FileFetch | None]) -> tuple[Attachment, ...]:
    content = content_of(event)
    kind = _FILES.get(part(content, "msgtype", str))
    if kind is None:
        return ()
    size = part(content, "info", dict).get("size")
    name = part(content, "filename", str) or part(content, "body", str)
    known_size = size if type(size) is int and 0 < size < 1 << 62 else 0
    return (Attachment(kind, name[:255], known_size, fetch_of(part(content, "url", str))),)


def words_of(event: Event) -> str:
    """Return a message's text or caption, without the quotation before a reply."""
    content = content_of(event)
    body = part(content, "body", str)
    if part(content, "msgtype", str) in _FILES:
        filename = part(content, "filename", str)
        return body if filename and filename != body else ""
    return "\n".join(body.split("\n")[_quoted_lines(event) :]).strip()


def shown_in(event: Event) -> str:
    files = attachments_of(event, lambda address: None)
    return " ".join([*(f"[{each.kind}]" for each in files), words_of(event)]).strip()


def quoted_in(event: Event) -> str:
    """Return the quotation before a reply, without marks and author; "" if none."""
    lines = part(content_of(event), "body", str).split("\n")[: _quoted_lines(event)]
    return "\n".join(line.lstrip("> ") for line in lines).partition("> ")[2]


def _quoted_lines(event: Event) -> int:
    body = part(content_of(event), "body", str)
    if not replied_to(event) or not body.startswith(_REPLY_HEADS):
        return 0
    lines = body.split("\n")
    return next((number for number, line in enumerate(lines) if not line.startswith(">")), len(lines))


def _marked(event: Event) -> list[Any] | None:
    mentions = content_of(event).get("m.mentions")
    if not isinstance(mentions, Mapping):
        return None
    ids = mentions.get("user_ids")
    return ids if isinstance(ids, list) else []


def names(event: Event, account: Account) -> bool:
    """True if a message mentions the account: by the client's list, or without one by its text."""
    marked = _marked(event)
    if marked is not None:
        return account.id in marked
    words, _ = split_quotes(words_of(event))
    if account.id in words:
        return True
    return bool(account.name) and re.search(rf"(?<!\w){re.escape(account.name)}(?!\w)", words, re.I) is not None


def words_to(event: Event, account: Account) -> str:
    """Return a message without the account's mention; a bare name counts only if the client marks it."""
    id_, name = re.escape(account.id), re.escape(account.name)
    forms = [rf"\[[^\]\n]{{0,255}}\]\(https://matrix\.to/#/{id_}\)[:,]?", rf"{id_}[:,]?"]
    if name:
        forms.append(rf"@?{name}(?:[:,]|(?!\w))" if account.id in (_marked(event) or ()) else rf"{name}[:,]")
    return re.sub(rf"\A\s*(?:{'|'.join(forms)})\s*", "", words_of(event), count=1, flags=re.I)


def _membership(event: Event, account_id: str) -> tuple[str, str]:
    if event.get("type") != MEMBER or event.get("state_key") != account_id:
        return "", ""
    before = part(part(event, "unsigned", dict), "prev_content", dict)
    return part(content_of(event), "membership", str) or "leave", part(before, "membership", str) or "leave"


def joins(event: Event, account_id: str) -> bool:
    now, before = _membership(event, account_id)
    return now == "join" != before


def lets_in_another(event: Event, account_id: str) -> bool:
    member = part(event, "state_key", str)
    return member != account_id and joins(event, member)


def begins_membership(event: Event, account_id: str) -> bool:
    now, before = _membership(event, account_id)
    return now != "" and (now != "join" or before not in ("invite", "join"))
