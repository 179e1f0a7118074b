"""Others' words in messages of people: what is forwarded or quoted is no command and nobody's own words, and edits correct."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridged_house import House, in_house
from engram.errors import ArgumentError
from engram.link.messages import ANSWER_BYTES, FORWARDED_CHARS, QUOTED_CHARS
from engram_host.companion.bridges.network import Attachment, Chat, Incoming
from engram_host.companion.bridges.texts import origin, separate, shorten
from engram_host.companion.conversations import service
from engram_host.companion.conversations.board_side import say
from engram_host.companion.conversations.bridge_engine import message_id
from engram_host.companion.conversations.chat_messages import keepable, parse_spoken
from engram_host.companion.conversations.service import check_said
from engram_host.companion.store.bridges.types import Delivery
from engram_host.companion.types import Conversation, Said
from one_case import in_one_case

COMMANDS = st.sampled_from(["/new", "/pair QHJ4WXTK", "!forget m3", "/setting llm.key x", "@kitchen /undo", "yes", "/"])
LINES = st.lists(COMMANDS | st.text(max_size=30).map(lambda text: text.replace("\n", " ")), min_size=1, max_size=4)


# --- which words are whose


@given(lines=LINES, own=st.sampled_from(["", "what is that?", "[photo]"]), name=st.text(max_size=90))
def test_nothing_that_is_forwarded_or_quoted_is_a_command_or_the_senders_text(lines: list[str], own: str, name: str):
    words = "\n".join(lines)
    forwarded = keepable(Incoming("1", Chat("5"), "5", text=words, forwarded=name or "Bob"))
    assert forwarded and forwarded.forwarded and len(forwarded.forwarded) <= FORWARDED_CHARS
    spoken = parse_spoken(forwarded, ["kitchen"], "/!")
    assert not spoken.is_command and not spoken.board and spoken.text == forwarded.text.strip()
    quoting = "\n".join([*(f"> {line}" for line in lines), own])
    quoted = keepable(Incoming("1", Chat("5"), "5", text=quoting))
    assert quoted and not parse_spoken(quoted, ["kitchen"], "/!").is_command and len(quoted.quoted) <= QUOTED_CHARS
    if own:
        assert (quoted.text, quoted.forwarded) == (own, "")
    elif quoted.text:
        assert quoted.forwarded == "somebody"


@in_one_case(
    "written, expected",
    [
        ("hello", ("hello", "", "")),
        ("> I live in Lyon\nnice, is it?", ("nice, is it?", "I live in Lyon", "")),
        ("see:\n> a\n>\n> > b\nno", ("see:\nno", "a b", "")),
        ("> remember the milk", ("remember the milk", "", "somebody")),
        ("> hello\n/undo", ("/undo", "hello", "")),
        (">:( no", (">:( no", "", "")),
        ("a > b", ("a > b", "", "")),
        ("why?\n```\n> print(1)\n```", ("why?\n```\n> print(1)\n```", "", "")),
    ],
)
def test_quoted_lines_go_before_a_text(written: str, expected: tuple[str, str, str]):
    assert separate(written) == expected
    assert separate(*expected) == expected, "once is enough"


@given(st.text(max_size=400), st.text(max_size=200))
def test_what_is_shortened_stays_so_and_fits_a_message_to_a_board(quoted: str, name: str):
    said = check_said(Said("x" * 56, "p" * 32, "t", "r" * 40, forwarded=name or "Bob", quoted=quoted, edits="e" * 56))
    assert check_said(said) == said and shorten(said.quoted) == said.quoted and origin(said.forwarded) == said.forwarded
    assert "\n" not in said.quoted + said.forwarded
    head: Any = {"board": "b1", "link": 1, "n": 1}
    message = say(head, Conversation(1, "kitchen", said, "waiting", "", 0, 0, 1, 0, 0, False, False))
    fields = json.loads(message[: message.index(b"\n")])
    assert len(message) <= ANSWER_BYTES
    assert (fields["forwarded"], fields["quoted"], fields["edits"]) == (said.forwarded, said.quoted, said.edits)


def test_a_forwarded_text_is_refused_as_a_command_of_a_program():
    command = Said("m2", "owner", "/forget m3", is_command=True)
    for said in (replace(command, forwarded="Bob"), replace(command, edits="m1")):
        with pytest.raises(ArgumentError):
            check_said(said)


# --- through the engine


def given_to_board(house: House, message: Incoming) -> Said:
    """What the board was given of a message of a network."""
    return house.store.conversations.conversation("kitchen", message_id("home", message)).said


def delivery_of(house: House) -> Callable[[Incoming], Delivery]:
    """Looks up what a chat was owed for a message."""

    def look(message: Incoming) -> Delivery:
        kept = house.store.deliveries.kept_message(message_id("home", message))
        assert kept
        return kept.delivery

    return look


@in_house()
async def test_a_forwarded_command_reaches_the_board_as_others_words(house: House):
    message = await house.say("/new garden", forwarded="Bob", quoted="what did he say?")
    await house.wait_for("You said /new garden.")
    said = given_to_board(house, message)
    assert (said.text, said.forwarded, said.quoted) == ("/new garden", "Bob", "what did he say?")
    assert not said.is_command
    assert list(house.boards["kitchen"].origins.values()) == [("Bob", "what did he say?", "")]


@in_house(boards=("kitchen", "garden"))
async def test_an_edit_corrects_the_message_that_its_sender_wrote(house: House):
    first = await house.say("@kitchen dentist on Monday", attachments=(Attachment("photo"),), quoted="when?")
    await house.wait_until_delivered()
    edit = await house.say("dentist on Tuesday", edits=first.id, attachments=(Attachment("photo"),))
    back = await house.say("dentist on Monday", edits=first.id, attachments=(Attachment("photo"),))
    same = await house.say("dentist on Monday", edits=first.id, attachments=(Attachment("photo"),))
    await house.wait_until_delivered()
    original, said = given_to_board(house, first), given_to_board(house, edit)
    assert original.text == "[photo] dentist on Monday"
    assert said == replace(original, mid=said.mid, text="[photo] dentist on Tuesday", edits=original.mid)
    assert given_to_board(house, back).edits == original.mid
    assert {each.message for each in map(delivery_of(house), (first, edit, back))} == {first.id}
    assert house.store.deliveries.kept_message(message_id("home", same)) is None


@in_house(boards=("kitchen", "garden"))
async def test_an_edit_is_taken_without_the_name_of_the_board(house: House):
    first = await house.say("@kitchen dentist on Monday")
    edit = await house.say("@Kitchen, dentist on Tuesday", edits=first.id)
    same = await house.say("@kitchen dentist on Tuesday", edits=first.id)
    await house.say("@kitchen /undo", edits=first.id)
    await house.wait_until_delivered()
    assert given_to_board(house, edit).text == "dentist on Tuesday"
    assert house.store.deliveries.kept_message(message_id("home", same)) is None
    assert sum("become a command" in text for text in house.texts()) == 1


@in_house()
async def test_an_edit_that_only_quotes_has_others_words(house: House):
    own = await house.say("I live in Paris")
    quoting = await house.say("> I live in Lyon", edits=own.id)
    passed_on = await house.say("I live in Rome", forwarded="Bob")
    changed = await house.say("I live in Bern", edits=passed_on.id)
    await house.wait_until_delivered()
    for edit, words in ((quoting, ("I live in Lyon", "somebody")), (changed, ("I live in Bern", "Bob"))):
        said = given_to_board(house, edit)
        assert (said.text, said.forwarded) == words


@in_house()
async def test_an_edit_that_corrects_nothing_is_answered_in_a_sentence(house: House, monkeypatch: pytest.MonkeyPatch):
    command, text = await house.say("/undo"), await house.say("hello")
    await house.say("/redo", edits=command.id)
    await house.say("/undo", edits=text.id)
    await house.say("hi", edits="long ago")
    await house.wait_until_delivered()
    monkeypatch.setattr(service, "CORRECTED_SECONDS", -1)
    await house.say("hello!", edits=text.id)
    await house.wait_until_delivered()
    for part in ("what a command", "become a command", "any more", "last hour"):
        assert sum(part in text for text in house.texts()) == 1
    assert len(house.boards["kitchen"].journal) == 2


@in_house()
async def test_an_edit_of_anothers_message_or_of_one_that_was_not_for_a_board_is_ignored(house: House):
    await house.people.set_group("net:-7", "mention")
    group: dict[str, Any] = {"chat": "-7", "is_group": True}
    anns = await house.say("buy milk", **group)
    unheard = await house.say("not for the board", is_mentioned=False, **group)
    await house.say("buy beer", sender="6", edits=anns.id, **group)
    await house.say("engram, hi", edits=unheard.id, **group)
    edit = await house.say("buy bread", edits=anns.id, is_mentioned=False, **group)
    await house.wait_until_delivered()
    assert house.texts("-7") == ["You said buy milk.", "You said buy bread."]
    assert given_to_board(house, edit).edits == message_id("home", anns)


@in_house()
async def test_an_edit_over_the_api_corrects_only_a_recent_message_of_the_same_person_and_room(house: House):
    first = Said("m1", "ann", "on Monday", "phone")
    await house.service.say("kitchen", first)
    edit = replace(first, mid="m2", text="on Tuesday", edits="m1")
    assert (await house.service.say("kitchen", edit)).said == edit
    for other in ({"principal": "bob"}, {"room": "desk"}, {"edits": "m9"}):
        with pytest.raises(ArgumentError):
            await house.service.say("kitchen", replace(edit, mid="m3", **other))
    assert (await house.service.say("kitchen", edit)).said == edit, "a message that comes again"
