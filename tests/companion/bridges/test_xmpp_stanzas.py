"""XMPP's messages as the engine gets them, from XML as clients and servers write it."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from typing import Any
from xml.etree import ElementTree

import pytest

from engram_host.companion.bridges.connections import read_bounded
from engram_host.companion.bridges.network import Attachment
from engram_host.companion.bridges.xmpp import stanzas
from engram_host.companion.bridges.xmpp.bridge import _fetch_of
from engram_host.companion.bridges.xmpp.stanzas import Occupant, Room, body_of, private_message, room_message
from engram_host.companion.conversations.chat_messages import keepable
from one_case import in_one_case

ACCOUNT = "kitchen@engram.test"
HOME = "home@rooms.engram.test"


def message(
    inside: str, sender: str = "ann@engram.test/phone", kind: str = "chat", own_id: str = "m1"
) -> ElementTree.Element:
    """A message stanza."""
    name = f" id='{own_id}'" if own_id else ""
    return ElementTree.fromstring(
        f"<message xmlns='jabber:client' from='{sender}' type='{kind}'{name}>{inside}</message>"
    )


def private(inside: str, **others: str) -> Any:
    """A message to the account."""
    return private_message(message(inside, **others), ACCOUNT, lambda link: None)


def in_room(inside: str, room: Room, nickname: str = "ann") -> Any:
    """A message to the room."""
    return room_message(message(inside, sender=f"{HOME}/{nickname}", kind="groupchat"), room, lambda link: None)


# --- whose words


REPLY = "<reply xmlns='urn:xmpp:reply:0' to='x@engram.test' id='x'/>"


def fallback(end: object, start: object = 0) -> str:
    part = f"<body start='{start}' end='{end}'/>"
    return f"<fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'>{part}</fallback>"


def passed_on(body: str, sender: str = "bob@engram.test/pc", kind: str = "chat") -> str:
    inner = f"<message xmlns='jabber:client' from='{sender}' type='{kind}'><body>{body}</body></message>"
    return f"<forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='x'/>{inner}</forwarded>"


@in_one_case(
    "inside, text, quoted, forwarded",
    [
        ("<body>hello</body>", "hello", "", ""),
        ("<body>&gt; /new\nwhat is that?</body>", "what is that?", "/new", ""),
        ("<body>&gt;/new</body>", "/new", "", "somebody"),
        (f"<body>&gt; Ann:\n&gt; yes\nno</body>{REPLY}{fallback(12)}", "no", "Ann:\nyes", ""),
        (f"<body>Ann wrote: yes. no</body>{REPLY}{fallback(15)}", "no", "Ann wrote: yes.", ""),
        (f"<body>hello</body>{fallback('9' * 5000)}", "hello", "", ""),
        (f"<body>hello</body>{fallback(-4, 'x')}", "hello", "", ""),
        ("<body>see https://a.test/cat.jpg</body>", "see https://a.test/cat.jpg", "", ""),
        (passed_on("/new"), "/new", "", "bob@engram.test"),
        (passed_on("yes", f"{HOME}/bob", "groupchat"), "yes", "", "bob"),
        (f"<body>what is that?</body>{passed_on('/new')}", "what is that?", "/new", ""),
    ],
)
def test_others_words_are_told_from_those_of_the_sender(inside: str, text: str, quoted: str, forwarded: str):
    found = private(inside)
    taken = found and keepable(found)
    assert taken and (taken.text, taken.quoted.split(), taken.forwarded) == (text, quoted.split(), forwarded)


@in_one_case("wrapper", ["received xmlns='urn:xmpp:carbons:2'", "result xmlns='urn:xmpp:mam:2'"])
def test_a_carbon_is_nothing_that_its_sender_forwards(wrapper: str):
    assert private(f"<{wrapper}>{passed_on('/new')}</{wrapper.split()[0]}>") is None


def test_a_nickname_in_a_quote_is_no_mention():
    found = in_room("<body>&gt; engram, hello\nthat was rude</body>", Room("engram"))
    assert found and not found.is_mentioned


def test_a_reply_to_the_account_is_a_mention():
    reply = REPLY.replace("x@engram.test", f"{HOME}/engram")
    found = in_room(f"<body>&gt; It is four.\nAre you sure?</body>{reply}{fallback(14)}", Room("engram"))
    assert found and (found.text, found.is_mentioned) == ("Are you sure?", True)


def test_an_encrypted_message_is_named_in_place_of_its_excuse():
    found = private("<body>I sent you an OMEMO message.</body><encrypted xmlns='eu.siacs.conversations.axolotl'/>")
    assert found and (found.text, found.attachments) == ("", (Attachment("encrypted"),))


def test_a_correction_names_what_it_corrects():
    inside = "<body>hello</body><replace xmlns='urn:xmpp:message-correct:0' id='c1'/>"
    found, in_a_room = private(inside), in_room(inside, Room("engram"))
    assert found and in_a_room and (found.edits, in_a_room.edits) == ("c1", f"{HOME}/ann c1")


# --- ids


def test_the_senders_lasting_id_goes_before_the_servers_and_the_streams():
    origin = "<origin-id xmlns='urn:xmpp:sid:0' id='o1'/>"
    archived = f"<stanza-id xmlns='urn:xmpp:sid:0' by='{ACCOUNT}' id='s1'/>"
    forged = "<stanza-id xmlns='urn:xmpp:sid:0' by='ann@engram.test' id='f1'/>"
    assert [
        found.id
        for inside in (forged + archived + origin, forged + archived, forged, "")
        if (found := private(f"<body>hi</body>{inside}"))
    ] == ["o1", "s1", "m1", "m1"]


def test_messages_without_any_id_and_of_two_people_of_a_room_are_two():
    assert private("<body>yes</body>", own_id="").id != private("<body>yes</body>", own_id="").id
    room = Room("engram")
    assert in_room("<body>hi</body>", room).id != in_room("<body>hi</body>", room, nickname="ben").id


# --- who wrote


def test_a_rooms_person_is_the_address_that_the_room_tells():
    room = Room("engram", {"ann": Occupant("ann@engram.test", "o-ann")})
    occupant = "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='o-ann'/>"
    for inside in ("", occupant):
        found = in_room(f"<body>hi</body>{inside}", room)
        assert found.sender == "ann@engram.test"


@in_one_case("inside", ["", "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='o-mallory'/>"])
def test_history_of_a_nickname_is_not_that_of_who_has_it_now(inside: str):
    room = Room("engram", {"ann": Occupant("ann@engram.test", "o-ann")})
    delay = f"<delay xmlns='urn:xmpp:delay' from='{HOME}' stamp='2024-01-01T00:00:00Z'/>"
    found = in_room(f"<body>I am ann</body>{delay}{inside}", room)
    assert found.sender in (f"{HOME}/ann", f"{HOME}#o-mallory")
    assert found.at == 1704067200


def test_a_message_is_from_who_had_the_nickname_when_it_came():
    room = Room("engram", {"ann": Occupant("mallory@engram.test"), "engram": Occupant()})
    then = room.as_seen_from("ann")
    room.note("ann", None, is_own=False)
    room.note("ann", Occupant("ann@engram.test"), is_own=False)
    found = in_room("<body>hi</body>", then)
    assert found.sender == "mallory@engram.test"


def test_who_comes_to_a_room_costs_the_same_however_many_are_there_and_there_is_a_bound(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(stanzas, "MOST_OCCUPANTS", 3)
    room = Room("me")
    occupants = room.occupants
    for name in ("me", "ann", "ben", "cat", "dan"):
        room.note(name, Occupant(name), is_own=name == "me")
    assert room.occupants is occupants and list(occupants) == ["me", "cat", "dan"]


def test_own_messages_are_known_by_the_nickname_and_by_the_rooms_id():
    room = Room("engram", {"engram": Occupant("", "o-own")})
    assert in_room("<body>hi</body>", room, nickname="engram") is None
    former = "<body>hi</body><occupant-id xmlns='urn:xmpp:occupant-id:0' id='o-own'/>"
    assert in_room(former, room, nickname="engram_") is None
    assert room_message(message("<body>locked</body>", sender=HOME, kind="groupchat"), room, lambda link: None) is None


@in_one_case(
    "others",
    [
        {"sender": "engram.test"},
        {"sender": "kitchen@engram.test/laptop"},
        {"kind": "headline"},
        {"kind": "error"},
        {"sender": f"{HOME}/ann", "inside": "<body>hi</body><x xmlns='http://jabber.org/protocol/muc#user'/>"},
    ],
)
def test_what_no_person_says_is_ignored(others: dict[str, str]):
    assert private(**{"inside": "<body>hi</body>", **others}) is None


# --- what was written


@in_one_case(
    "url, kind, name",
    [
        ("https://a.test/v/cat%20one.JPG", "photo", "cat one.JPG"),
        ("https://a.test/x.mp4", "video", "x.mp4"),
        ("https://a.test/x.opus", "audio", "x.opus"),
        ("https://a.test/x.jsonl", "file", "x.jsonl"),
        ("https://a.test/x.", "file", "x."),
        ("aesgcm://[x", "file", ""),
        ("https://[x", "file", ""),
        ("https://a\u2100b.test/cat.jpg", "file", ""),
    ],
)
def test_a_link_is_an_attachment_of_its_kind(url: str, kind: Any, name: str):
    link = f"<x xmlns='jabber:x:oob'><url>{url}</url></x>"
    found, only = private(f"<body>see {url}</body>{link}"), private(f"<body>{url}</body>{link}")
    assert (found.text, only.text) == ("see", "")
    assert found.attachments == only.attachments == (Attachment(kind, name),)


def test_of_many_links_the_first_are_files():
    links = [f"aesgcm://a.test/{number}.jpg" for number in range(20)]
    found = private(f"<body>{' '.join(links * 2)}</body>")
    assert [each.name for each in found.attachments] == [f"{number}.jpg" for number in range(stanzas.MOST_LINKS)]


@in_one_case("stated_by", ["", "ann@engram.test", "evil.test", "rooms.engram.test.evil"])
@in_one_case("stamp", ["2024-01-01T00:00:00Z", "2990-01-01T00:00:00Z"])
def test_when_a_message_was_sent_is_not_what_its_sender_says(stated_by: str, stamp: str):
    delay = f"<body>hi</body><delay xmlns='urn:xmpp:delay' from='{stated_by}' stamp='{stamp}'/>"
    for found in (private(delay), in_room(delay, Room("engram"))):
        assert found.at == 0


def test_the_room_and_the_accounts_server_say_when_a_message_was_sent_which_is_not_later_than_now():
    def delay(by: str, stamp: str = "2024-01-01T00:00:00Z") -> str:
        return f"<delay xmlns='urn:xmpp:delay' from='{by}' stamp='{stamp}'/>"

    forged = delay("ann@engram.test", "2020-01-01T00:00:00Z")
    for by, read in (("engram.test", private), (ACCOUNT, private), (HOME, lambda text: in_room(text, Room("engram")))):
        found, late = read(f"<body>hi</body>{forged}{delay(by)}"), read(f"<body>hi</body>{delay(by, '2990-01-01')}")
        assert found.at == 1704067200 and abs(late.at - time.time()) < 60


def test_a_body_has_no_sign_that_xml_cannot_have():
    text = "".join(map(chr, range(0x20))) + "\ud800\ufffe\uffff\U0001f600"
    body = body_of(text, is_plain=True)
    ElementTree.fromstring(f"<body>{body}</body>")
    assert body == "\t\n\r\U0001f600"


@in_one_case(
    "link, is_fetched",
    [
        ("https://files.example.org/a/memory.jsonl", True),
        ("http://files.example.org/a/memory.jsonl", False),
        ("aesgcm://files.example.org/a/memory.jsonl#00", False),
        ("file:///etc/passwd", False),
        ("https:///memory.jsonl", False),
        ("https://[files/memory.jsonl", False),
    ],
)
def test_a_file_is_fetched_over_https_only(link: str, is_fetched: bool):
    assert (_fetch_of(ssl.create_default_context(), link) is not None) == is_fetched


def test_a_file_is_read_up_to_its_bound():
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1000

    assert len(asyncio.run(read_bounded(endless(), 2500))) == 3000


# --- settings, and what is kept
