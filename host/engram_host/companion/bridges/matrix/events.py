"""Reads events of Matrix' rooms. An event is JSON that a stranger wrote: any field may be of any type, or missing."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from engram_host.companion.bridges.network import Attachment, FileFetch
from engram_host.companion.bridges.quotes import SOMEBODY, split_quotes

Event = Mapping[str, Any]

MESSAGE, ENCRYPTED, MEMBER = "m.room.message", "m.room.encrypted", "m.room.member"
TYPES = (MESSAGE, ENCRYPTED, MEMBER)
"""The events of a room that a bridge reads."""

_EVENT_ID = re.compile(r"\$[!-~]{1,254}")
"""What a client names as a thread, or as what it replies to, is not looked at by homeservers: it may be any text."""

_TEXTS = ("m.text", "m.emote", "m.location")
_FILES: dict[str, Literal["photo", "audio", "video", "file"]] = {
    "m.image": "photo",
    "m.audio": "audio",
    "m.video": "video",
    "m.file": "file",
}
_REPLY_HEADS = ("> <@", "> * <@")
"""How the quotation begins that clients of former years put before a reply."""


@dataclass(frozen=True)
class Account:
    """The account of the bridge: its id, and the name that people see."""

    id: str
    name: str = ""


def content_of(event: Event) -> Event:
    """The content of an event, empty where it has none: a redacted one."""
    content = event.get("content")
    return content if isinstance(content, Mapping) else {}


def text_at(fields: Event, name: str) -> str:
    """A field if it is a text, else ""."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _fields_at(fields: Event, name: str) -> Event:
    value = fields.get(name)
    return value if isinstance(value, Mapping) else {}


def _event_id_at(relation: Event) -> str:
    event_id = text_at(relation, "event_id")
    return event_id if _EVENT_ID.fullmatch(event_id) else ""


def is_spoken(event: Event) -> bool:
    """Whether somebody says something new: no notice, which is a bot's, no edit of what was said, no reaction, no state."""
    content = content_of(event)
    return (
        event.get("type") == MESSAGE
        and "state_key" not in event
        and content.get("msgtype") in (*_TEXTS, *_FILES)
        and _fields_at(content, "m.relates_to").get("rel_type") != "m.replace"
    )


def as_edited(event: Event) -> tuple[Event, str]:
    """An edit as the message that it makes, and the id of the one that it corrects; other events as they are, and ""."""
    content = content_of(event)
    relation = _fields_at(content, "m.relates_to")
    if event.get("type") != MESSAGE or relation.get("rel_type") != "m.replace":
        return event, ""
    return {**event, "content": _fields_at(content, "m.new_content")}, _event_id_at(relation)


def forwarded_from(event: Event) -> str:
    """Who wrote a message that its sender forwards, as far as clients mark it; "" if it is not marked.

    `m.forwarded` is a proposal, which clients have under names of their own, such as com.famedly.app.forwarded.
    """
    for name, value in content_of(event).items():
        if value and name.rpartition(".")[2] in ("forward", "forwarded"):
            return text_at(value, "sender") if isinstance(value, Mapping) and text_at(value, "sender") else SOMEBODY
    return ""


def thread_of(event: Event) -> str:
    """The id of the event that a message's thread began with, "" outside of threads."""
    relation = _fields_at(content_of(event), "m.relates_to")
    return _event_id_at(relation) if relation.get("rel_type") == "m.thread" else ""


def replied_to(event: Event) -> str:
    """The id of the event that a message replies to, "" if it is none: in a thread each names the one before."""
    relation = _fields_at(content_of(event), "m.relates_to")
    if relation.get("rel_type") == "m.thread" and relation.get("is_falling_back") is True:
        return ""
    return _event_id_at(_fields_at(relation, "m.in_reply_to"))


def attachments_of(event: Event, fetch_of: Callable[[str], FileFetch | None]) -> tuple[Attachment, ...]:
    """The file that a message is, if it is one; `fetch_of` gives what fetches a file of an address."""
    content = content_of(event)
    kind = _FILES.get(text_at(content, "msgtype"))
    if kind is None:
        return ()
    size = _fields_at(content, "info").get("size")
    name = text_at(content, "filename") or text_at(content, "body")
    known_size = size if type(size) is int and 0 < size < 1 << 62 else 0
    return (Attachment(kind, name[:255], known_size, fetch_of(text_at(content, "url"))),)


def words_of(event: Event) -> str:
    """What a message says: a file's caption, and without the quotation that may stand before a reply."""
    content = content_of(event)
    body = text_at(content, "body")
    if text_at(content, "msgtype") in _FILES:
        filename = text_at(content, "filename")
        return body if filename and filename != body else ""
    return "\n".join(body.split("\n")[_quoted_lines(event) :]).strip()


def shown_in(event: Event) -> str:
    """What a message shows to who replies to it: its file, and its words."""
    files = attachments_of(event, lambda address: None)
    return " ".join([*(f"[{each.kind}]" for each in files), words_of(event)]).strip()


def quoted_in(event: Event) -> str:
    """The quotation before a reply, without its marks and the name of who is quoted; "" if there is none."""
    lines = text_at(content_of(event), "body").split("\n")[: _quoted_lines(event)]
    return "\n".join(line.lstrip("> ") for line in lines).partition("> ")[2]


def _quoted_lines(event: Event) -> int:
    """How many lines of a message are the quotation before a reply."""
    body = text_at(content_of(event), "body")
    if not replied_to(event) or not body.startswith(_REPLY_HEADS):
        return 0
    lines = body.split("\n")
    return next((number for number, line in enumerate(lines) if not line.startswith(">")), len(lines))


def _marked(event: Event) -> list[Any] | None:
    """Whom the client of a message says that it mentions, None if it says nothing of that."""
    mentions = content_of(event).get("m.mentions")
    if not isinstance(mentions, Mapping):
        return None
    ids = mentions.get("user_ids")
    return ids if isinstance(ids, list) else []


def names(event: Event, account: Account) -> bool:
    """Whether a message mentions the account; only where the client does not say whom it mentions, its words tell."""
    marked = _marked(event)
    if marked is not None:
        return account.id in marked
    words, _ = split_quotes(words_of(event))
    if account.id in words:
        return True
    return bool(account.name) and re.search(rf"(?<!\w){re.escape(account.name)}(?!\w)", words, re.I) is not None


def words_to(event: Event, account: Account) -> str:
    """What a message says, without the mention of the account at its beginning, as clients write one.

    A bare name is a mention only where the client says so: "kitchen light on" and "@kitchen hello" are whole as they are.
    """
    id_, name = re.escape(account.id), re.escape(account.name)
    forms = [rf"\[[^\]\n]{{0,255}}\]\(https://matrix\.to/#/{id_}\)[:,]?", rf"{id_}[:,]?"]
    if name:
        forms.append(rf"@?{name}(?:[:,]|(?!\w))" if account.id in (_marked(event) or ()) else rf"{name}[:,]")
    return re.sub(rf"\A\s*(?:{'|'.join(forms)})\s*", "", words_of(event), count=1, flags=re.I)


def _membership(event: Event, account_id: str) -> tuple[str, str]:
    """What an event makes of an account's membership, and what it was before; ("", "") if it is about something else."""
    if event.get("type") != MEMBER or event.get("state_key") != account_id:
        return "", ""
    before = _fields_at(_fields_at(event, "unsigned"), "prev_content")
    return text_at(content_of(event), "membership") or "leave", text_at(before, "membership") or "leave"


def joins(event: Event, account_id: str) -> bool:
    """Whether an account comes into a room by an event, which no change of its name is."""
    now, before = _membership(event, account_id)
    return now == "join" != before


def lets_in_another(event: Event, account_id: str) -> bool:
    """Whether somebody else comes into a room by an event."""
    member = text_at(event, "state_key")
    return member != account_id and joins(event, member)


def begins_membership(event: Event, account_id: str) -> bool:
    """Whether an account's time in a room begins or ends with an event: what stands before it was not said to the account.

    It begins with the invitation if there was one.
    """
    now, before = _membership(event, account_id)
    return now != "" and (now != "join" or before not in ("invite", "join"))
