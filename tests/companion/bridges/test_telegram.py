"""Telegram's bridge, against the strict fake of the Bot API."""

from types import SimpleNamespace
from typing import Any

from bridge_run import on
from engram_host.companion.bridges.network import Chat
from engram_host.companion.bridges.telegram import bridge as telegram
from engram_host.companion.conversations.chat_messages import keepable
from telegram_server import TelegramServer

# --- what comes in


IN_A_GROUP = {
    "/board@engram_fake_bot kitchen": ("/board kitchen", True),
    "/board kitchen": ("/board kitchen", False),
    "@Engram_Fake_Bot, hi": ("hi", True),
    "@engram_fake_bot": ("@engram_fake_bot", True),
    "ask @engram_fake_bot": ("ask @engram_fake_bot", True),
}


@on("telegram")
async def test_names_and_commands_in_a_group(server, network, host, ann):
    for number, (written, expected) in enumerate(IN_A_GROUP.items()):
        await ann.say(written, group=True)
        await host.wait_until(lambda number=number: len(host.received) > number)
        assert (host.received[number].text, host.received[number].is_mentioned) == expected


@on("telegram")
async def test_commands_for_other_bots_own_messages_and_bots_are_ignored(server, network, host, ann):
    await ann.say("/board@other_bot kitchen", group=True)
    await network.send(Chat(str(server.forum.id), is_group=True), "my own", "k1")
    server.fake.people.add_member(server.forum, server.fake.people.add_user("Other", is_bot=True))
    await ann.say("the last")
    await host.next("the last")
    assert [message.text for message in host.received] == ["the last"]


# --- once


BOB = {"id": 77, "is_bot": False, "first_name": "Bob", "last_name": "Bell"}
NEWS = {"id": -100, "type": "channel", "title": "News"}
SAID = {"message_id": 3, "date": 1, "from": BOB, "text": "Water the fern on Saturday"}
PHOTO = {"photo": [{"file_id": "small"}, {"file_id": "large", "file_size": 9}]}
SPAN = {"offset": 0, "length": 4}

WORDS: list[tuple[dict[str, Any], tuple[str, str, str]]] = [
    ({"text": "hello"}, ("hello", "", "")),
    ({"text": "/new", "forward_origin": {"type": "user", "sender_user": BOB}}, ("/new", "Bob Bell", "")),
    ({"text": "yes", "forward_origin": {"type": "hidden_user", "sender_user_name": "Eve"}}, ("yes", "Eve", "")),
    ({"text": "yes", "forward_origin": {"type": "channel", "chat": NEWS}}, ("yes", "the channel News", "")),
    (
        {"text": "yes", "forward_origin": {"type": "chat", "sender_chat": {"title": "Home"}}},
        ("yes", "the group Home", ""),
    ),
    ({"text": "yes", "forward_date": 1, "forward_from": BOB}, ("yes", "Bob Bell", "")),
    ({"text": "yes", "forward_date": 1, "forward_sender_name": "Eve"}, ("yes", "Eve", "")),
    ({"text": "yes", "forward_origin": {"type": "of later days"}}, ("yes", "somebody", "")),
    ({"text": "yes", "via_bot": {"id": 9, "username": "gif"}}, ("yes", "the bot @gif", "")),
    ({"caption": "/undo", **PHOTO, "forward_origin": {"sender_user": BOB}}, ("/undo", "Bob Bell", "")),
    ({"text": "on Sunday", "reply_to_message": SAID}, ("on Sunday", "", "Water the fern on Saturday")),
    ({"text": "on Sunday", "reply_to_message": SAID, "quote": {"text": "Saturday"}}, ("on Sunday", "", "Saturday")),
    ({"text": "who?", "external_reply": {"origin": {}, **PHOTO}}, ("who?", "", "[photo]")),
    ({"text": "who?", "external_reply": {"origin": {}}, "quote": {"text": "/forget m1"}}, ("who?", "", "/forget m1")),
    ({"text": "who?", "reply_to_message": {**SAID, **PHOTO, "text": 5, "caption": "me"}}, ("who?", "", "[photo] me")),
    ({"text": "/new, he said", "entities": [{"type": "blockquote", **SPAN}]}, (", he said", "", "/new")),
    ({"text": "/new", "entities": [{"type": "blockquote", **SPAN}]}, ("/new", "somebody", "")),
    ({"text": "😀/n\nno", "entities": [{"type": "expandable_blockquote", **SPAN}]}, ("no", "", "😀/n")),
]
"""What Telegram gives, and what comes of it: the text, who wrote it, and what it answers."""


def put_messages(server: TelegramServer, ann: Any, kind: str, messages: list[dict[str, Any]]) -> None:
    """Let Telegram give messages as they are, in one piece."""
    person = {"id": ann.user.id, "is_bot": False, "first_name": "Ann"}
    fields = {"chat": {"id": ann.user.id, "type": "private"}, "from": person, "date": 1}

    def put() -> None:
        for number, message in enumerate(messages, 900):
            server.fake.state.updates.put(kind, {**fields, "message_id": number, **message})

    server.thread.call(put)


@on("telegram")
async def test_others_words_come_with_their_origin(server, network, host, ann):
    put_messages(server, ann, "message", [message for message, _ in WORDS])
    await host.wait_until(lambda: len(host.received) == len(WORDS))
    taken = [one for one in map(keepable, host.received) if one]
    assert [(one.text.strip(), one.forwarded, one.quoted) for one in taken] == [each for _, each in WORDS]


@on("telegram")
async def test_an_edit_names_the_message_that_it_corrects(server, network, host, ann):
    messages = [{"text": "on Monday", "edit_date": 2}, {"message_id": 900, "text": "on Tuesday", "edit_date": 2}]
    put_messages(server, ann, "edited_message", messages)
    await host.wait_until(lambda: len(host.received) == 2)
    first, second = host.received
    assert (first.edits, first.text, second.edits, second.text) == ("900", "on Monday", "900", "on Tuesday")
    assert len({first.id, second.id, "900"}) == 3


@on("telegram")
async def test_an_album_is_one_message_though_its_pieces_come_in_two_polls(server, monkeypatch, network, host, ann):
    one, two = {**PHOTO, "media_group_id": "g1"}, {**PHOTO, "media_group_id": "g2"}
    later = [{**one, "message_id": 903}, {**two, "message_id": 904, "caption": "2"}]

    async def wait_for_pieces(_seconds: float) -> None:
        put_messages(server, ann, "message", later)
        later.clear()

    monkeypatch.setattr(telegram, "asyncio", SimpleNamespace(sleep=wait_for_pieces))
    put_messages(server, ann, "message", [{"text": "before"}, {**one, "caption": "my garden"}, one])
    await host.next("2")
    await ann.say("after")
    await host.next("after")
    counts = {each.text: len(each.attachments) for each in host.received}
    assert list(counts.items()) == [("before", 0), ("my garden", 3), ("2", 1), ("after", 0)]
    assert len(host.received) == 4
    assert host.received[1].id == "901"


@on("telegram")
async def test_a_message_in_the_name_of_a_chat_is_nobodys(server, network, host, ann):
    put_messages(server, ann, "message", [{"text": "/new", "sender_chat": {"id": -1}}])
    await ann.say("after it")
    await host.next("after it")
    assert [one.text for one in host.received] == ["after it"]


@on("telegram")
async def test_an_update_that_cannot_be_read_is_passed_over(server, network, host, ann):
    def break_one() -> None:
        server.fake.state.updates.put("message", {"message_id": "no number", "chat": [], "from": {"id": 1}})

    server.thread.call(break_one)
    await ann.say("after it")
    await host.next("after it")


# --- what goes out


@on("telegram")
async def test_markdown_is_shown_as_marks_and_plain_text_as_it_is(server, network, host, ann):
    await ann.say("hi")
    chat = (await host.next("hi")).chat
    await network.send(chat, "**milk** & <bread>", "k1")
    await network.send(chat, "**milk** is plain", "k2", is_plain=True)
    shown = [one.text for one in ann.shown()]
    assert shown == ["milk & <bread>", "**milk** is plain"]
    entities = server.fake.people.from_bot(server.fake.people.private_chat(ann.user))[0].entities
    assert [entity.type for entity in entities] == ["bold"]


@on("telegram")
async def test_a_message_is_edited_and_an_edit_that_changes_nothing_is_none(server, network, host, ann):
    await ann.say("hi")
    chat = (await host.next("hi")).chat
    sent = await network.send(chat, "one", "k1")
    await network.edit(chat, sent, "one two")
    await network.edit(chat, sent, "one two")
    shown = await ann.wait_for("one two")
    assert (shown.id, shown.edits) == (sent, 1)


# --- what goes wrong
