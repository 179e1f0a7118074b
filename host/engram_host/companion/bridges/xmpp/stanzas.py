"""Conversion between XMPP's stanzas and messages of the engine, without connections."""

import hashlib
import itertools
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal, cast
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from engram_host.companion.bridges.network import Attachment, Chat, FileFetch, Incoming
from engram_host.companion.bridges.texts import SOMEBODY, STYLING, split_quotes, with_marks, without_mention

MOST_ID = 256
MOST_LINKS = 10  # files read per message: each link is searched for in the text

# Known occupants per room; the oldest are dropped, and then known by room id or nickname.
MOST_OCCUPANTS = 10_000
UNSTYLED = "urn:xmpp:styling:0"
NO_STORE = "urn:xmpp:hints"
CHAT_STATES = "http://jabber.org/protocol/chatstates"
CORRECTION = "urn:xmpp:message-correct:0"
UNIQUE_IDS = "urn:xmpp:sid:0"
FORWARDED = "{urn:xmpp:forward:0}forwarded/{jabber:client}message"
_DELAY = "{urn:xmpp:delay}delay"
_OCCUPANT = "{urn:xmpp:occupant-id:0}occupant-id"
_REPLY = "{urn:xmpp:reply:0}reply"
_FALLBACK = "{urn:xmpp:fallback:0}fallback"
_REFERENCE = "{urn:xmpp:reference:0}reference"
_OUT_OF_BAND = "{jabber:x:oob}x/{jabber:x:oob}url"
_ENCRYPTED = ("{eu.siacs.conversations.axolotl}encrypted", "{urn:xmpp:omemo:2}encrypted", "{urn:xmpp:openpgp:0}openpgp")
_MUC_USER = "{http://jabber.org/protocol/muc#user}x"
_BODY = "{jabber:client}body"

FetchOf = Callable[[str], FileFetch | None]

_ENCRYPTED_LINK = "aesgcm://"
_KINDS = {
    "photo": {"jpg", "jpeg", "png", "gif", "webp", "heic", "avif"},
    "video": {"mp4", "webm", "mov", "mkv"},
    "audio": {"ogg", "oga", "opus", "mp3", "m4a", "wav", "flac", "aac"},
}
_MOST_DIGITS = 9  # digits of a text offset; int() refuses thousands
_FORBIDDEN_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Occupant:
    address: str = ""
    id: str = ""


@dataclass
class Room:
    nickname: str
    occupants: dict[str, Occupant] = field(default_factory=dict)

    def note(self, nickname: str, occupant: Occupant | None, is_own: bool) -> None:
        self.occupants.pop(nickname, None)
        if occupant is None:
            return
        if is_own:
            self.nickname = nickname
        self.occupants[nickname] = occupant
        if len(self.occupants) > MOST_OCCUPANTS:
            del self.occupants[next(name for name in self.occupants if name != self.nickname)]

    def as_seen_from(self, nickname: str) -> "Room":
        """Copy the room for a message, since its nickname may change hands soon."""
        names = {nickname, self.nickname} & self.occupants.keys()
        return Room(self.nickname, {name: self.occupants[name] for name in names})

    def has_sent(self, nickname: str, message: ElementTree.Element) -> bool:
        own = self.occupants.get(self.nickname, Occupant())
        return nickname == self.nickname or bool(own.id and own.id == occupant_id(message))


def private_message(message: ElementTree.Element, account: str, fetch_of: FetchOf) -> Incoming | None:
    sender = _bare(message.get("from", ""))
    # Without a part before the @ it is a server; the account's own address is another client.
    if message.get("type", "normal") not in ("chat", "normal") or "@" not in sender or sender == account:
        return None
    if message.find(_MUC_USER) is not None:
        return None  # an invitation, or a message through a room, where a nickname is all that is known of the sender
    return _incoming(
        message,
        Chat(sender),
        sender,
        sender.partition("@")[0],
        _private_id(message, account),
        lambda text: (text, True),
        stamp_of(message, account),
        fetch_of,
    )


def room_message(message: ElementTree.Element, room: Room, fetch_of: FetchOf) -> Incoming | None:
    address, _, nickname = message.get("from", "").partition("/")
    if not nickname or room.has_sent(nickname, message):
        return None

    def mention(text: str) -> tuple[str, bool]:
        text, is_named = without_mention(text, room.nickname)
        return text, is_named or _is_reply_to(message, f"{address}/{room.nickname}")

    sender = _room_sender(message, address, nickname, room)
    chat, own_id = Chat(address, is_group=True), _room_id(message, address)
    found = _incoming(message, chat, sender, nickname, own_id, mention, stamp_of(message, address), fetch_of)
    return replace(found, edits=_bounded(f"{message.get('from')} {found.edits}")) if found and found.edits else found


def _incoming(
    message: ElementTree.Element,
    chat: Chat,
    sender: str,
    name: str,
    message_id: str,
    mention: Callable[[str], tuple[str, bool]],
    at: int,
    fetch_of: FetchOf,
) -> Incoming | None:
    body, quoted = _split_reply(message, message.findtext(_BODY, ""))
    body, lines = split_quotes(body, ">")
    passed_on = message.find(
        FORWARDED
    )  # of this message itself: a carbon, which a stranger may forge, is in another element
    words = passed_on.findtext(_BODY, "") if passed_on is not None else ""
    quoted = "\n".join(part for part in (quoted, words, lines) if part)
    if any(message.find(tag) is not None for tag in _ENCRYPTED):
        # The body only says that it cannot be read.
        text, attachments = "", (Attachment("encrypted"),)
    else:
        text, attachments = _text_and_files(message, body, fetch_of)
    text, is_mentioned = mention(text)
    text, forwarded = text.strip(), ""
    if words and passed_on is not None and not (text or attachments):
        text, quoted, forwarded = words.strip(), lines, _author(passed_on)
    if not (text or quoted or attachments):
        return None
    return Incoming(
        message_id,
        chat,
        sender,
        name,
        text,
        is_mentioned,
        attachments,
        at,
        forwarded=forwarded,
        quoted=quoted,
        edits=_bounded(replaced_id(message)),
    )


def replaced_id(message: ElementTree.Element) -> str:
    replaced = message.find(f"{{{CORRECTION}}}replace")
    return replaced.get("id", "") if replaced is not None else ""


def _author(message: ElementTree.Element) -> str:
    address, _, resource = message.get("from", "").partition("/")
    return (resource if message.get("type") == "groupchat" else "") or address or SOMEBODY


def stamp_of(message: ElementTree.Element, place: str) -> int:
    """Return the Unix seconds of a delay stamp by `place` or the server, 0 for none; others may lie."""
    for delay in message.iterfind(_DELAY):
        if _bare(delay.get("from", "")) not in (place, place.partition("@")[2]):
            continue
        try:
            return max(0, min(int(time.time()), int(datetime.fromisoformat(delay.get("stamp", "")).timestamp())))
        except (ValueError, OverflowError):
            return 0
    return 0


def occupant_id(stanza: ElementTree.Element) -> str:
    """Return the lasting id that a room gives the sender, or ""."""
    element = stanza.find(_OCCUPANT)
    return element.get("id", "") if element is not None else ""


def occupant_of(presence: ElementTree.Element) -> Occupant:
    item = presence.find(f"{_MUC_USER}/{{http://jabber.org/protocol/muc#user}}item")
    return Occupant(_bare(item.get("jid", "")) if item is not None else "", occupant_id(presence))


def body_of(text: str, *, is_plain: bool) -> str:
    """Return a reply as a message body, without characters that XML forbids."""
    return _FORBIDDEN_IN_XML.sub("", text if is_plain else with_marks(text, STYLING))


def element(namespace: str, name: str, attributes: Mapping[str, str] | None = None) -> ElementTree.Element:
    return ElementTree.Element(f"{{{namespace}}}{name}", dict(attributes or {}))


def _bare(address: str) -> str:
    return address.partition("/")[0].lower()


def _private_id(message: ElementTree.Element, account: str) -> str:
    origin = message.find(f"{{{UNIQUE_IDS}}}origin-id")
    origin_id = origin.get("id", "") if origin is not None else ""
    return _bounded(origin_id or _stanza_id(message, account) or message.get("id", "") or _unknown_id())


def _room_id(message: ElementTree.Element, room: str) -> str:
    own = message.get("id", "")
    return _bounded(_stanza_id(message, room) or (f"{message.get('from')} {own}" if own else _unknown_id()))


def _bounded(message_id: str) -> str:
    return message_id if len(message_id) <= MOST_ID else hashlib.sha256(message_id.encode(errors="replace")).hexdigest()


def _stanza_id(message: ElementTree.Element, by: str) -> str:
    for found in message.iterfind(f"{{{UNIQUE_IDS}}}stanza-id"):
        if found.get("by", "").lower() == by:
            return found.get("id", "")
    return ""


def _unknown_id() -> str:
    # Old clients give no id. A repeat may be answered twice, but with an id made of the text a second
    # "yes" would never be answered.
    return uuid.uuid4().hex


def _room_sender(message: ElementTree.Element, room: str, nickname: str, in_room: Room) -> str:
    """Return the address if the room shows it, else the room's id, else the nickname."""
    occupant = in_room.occupants.get(nickname, Occupant())
    own_id = occupant_id(message)
    is_now = message.find(_DELAY) is None
    if occupant.address and (occupant.id == own_id if own_id else is_now):
        return occupant.address
    return f"{room}#{own_id}" if own_id else f"{room}/{nickname}"


def _is_reply_to(message: ElementTree.Element, address: str) -> bool:
    reply = message.find(_REPLY)
    if reply is not None and reply.get("to", "") == address:
        return True
    return any(found.get("uri", "") == f"xmpp:{address}" for found in message.iterfind(_REFERENCE))


def _split_reply(message: ElementTree.Element, body: str) -> tuple[str, str]:
    """Split a body from its fallback quote (XEP-0428)."""
    for fallback in message.iterfind(_FALLBACK):
        part = fallback.find("{urn:xmpp:fallback:0}body")
        if fallback.get("for") == "urn:xmpp:reply:0" and part is not None:
            start, end = part.get("start", "0"), part.get("end", "")
            if start.isdecimal() and end.isdecimal() and max(len(start), len(end)) <= _MOST_DIGITS:
                quote = body[int(start) : int(end)]
                return body[: int(start)] + body[int(end) :], split_quotes(quote, ">")[1] or quote.strip()
    return body, ""


def _text_and_files(message: ElementTree.Element, body: str, fetch_of: FetchOf) -> tuple[str, tuple[Attachment, ...]]:
    beside = (url.text for url in message.iterfind(_OUT_OF_BAND) if url.text)
    inside = (word for word in body.split() if word.startswith(_ENCRYPTED_LINK))
    links = list(dict.fromkeys(itertools.chain(beside, inside)))[:MOST_LINKS]
    for link in links:
        body = body.replace(link, "")
    return body.strip(), tuple(_attachment(link, fetch_of) for link in links)


def _attachment(link: str, fetch_of: FetchOf) -> Attachment:
    try:
        name = PurePosixPath(unquote(urlsplit(link).path)).name
    except ValueError:
        name = ""  # it is no address, only text that begins like one
    ending = name.rpartition(".")[2].lower()
    kind = next((kind for kind, endings in _KINDS.items() if ending in endings), "file")
    return Attachment(cast(Literal["photo", "audio", "video", "file"], kind), name, fetch=fetch_of(link), is_link=True)
