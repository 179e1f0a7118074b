"""What of an update is a message for the board, and what is ignored and why."""

from engram.channels.telegram.bot_api import Destination
from engram.channels.telegram.updates import Bot, Ignored, Incoming, moved_group
from samples import Numbers
from support import raises

BOT = Bot(99, "Engram_Bot")
ANN = {"id": 7, "is_bot": False, "first_name": "Ann", "last_name": "Lee"}


def update(chat=None, sender=ANN, **fields):
    message = {"message_id": 5, "from": sender, "chat": chat or {"id": 7, "type": "private"}, "date": 1}
    message.update(fields)
    return {"update_id": 3, "message": message}


def group(**fields):
    return update({"id": -1001234567890, "type": "supergroup", "title": "Garden"}, **fields)


def ignored(update):
    with raises(Ignored) as caught:
        Incoming(update, BOT)
    return str(caught.error)


def test_a_private_message_has_all_its_parts():
    said = Incoming(update(text=" hello "), BOT)
    assert (said.destination, said.mid, said.edits) == (Destination(7, 0, 5, False), "telegram:7:5", "")
    assert (said.sender, said.name, said.text, said.update) == (7, "Ann Lee", "hello", 3)
    assert not (said.is_command or said.is_mentioned)
    assert (said.refusal, said.forwarded, said.quoted, said.album) == ("", "", "", "")


def test_an_edit_has_an_id_of_its_own_and_that_of_its_message():
    said = Incoming({"update_id": 9, "edited_message": update(text="hello")["message"]}, BOT)
    assert (said.mid, said.edits, said.text) == ("telegram:7:5.9", "telegram:7:5", "hello")


def test_a_mention_names_the_bot():
    for said, kept, is_mentioned in (
        ("hello", "hello", False),
        ("@engram_bot hello", "hello", True),
        ("@Engram_Bot, hello", "hello", True),
        ("hello @ENGRAM_BOT", "hello @ENGRAM_BOT", True),
        ("what says @engram_bot?", "what says @engram_bot?", True),
        ("@engram_bot2 hello", "@engram_bot2 hello", False),
        ("mail to x@engram_botany.org and @engram_bot", "mail to x@engram_botany.org and @engram_bot", True),
        ("@engram_bot", "@engram_bot", True),
    ):
        found = Incoming(group(text=said), BOT)
        assert (found.text, found.is_mentioned) == (kept, is_mentioned), said


def test_a_topic_is_known_and_its_first_message_is_no_reply():
    began = {"message_id": 12, "from": {"id": 99}}
    said = Incoming(group(text="yes", is_topic_message=True, message_thread_id=12, reply_to_message=began), BOT)
    assert (said.destination.topic, said.is_mentioned) == (12, False)
    # Outside of topics a thread is only a chain of replies.
    assert Incoming(group(text="yes", message_thread_id=12), BOT).destination.topic == 0


def test_commands_are_taken_with_the_name_of_the_bot():
    for said, kept, is_mentioned in (
        ("/stats", "/stats", False),
        ("/Stats@engram_bot", "/stats", True),
        ("/note@Engram_Bot buy  milk", "/note buy  milk", True),
        ("/note buy\nmilk", "/note buy\nmilk", False),
        ("/help\nnow", "/help now", False),
    ):
        found = Incoming(group(text=said), BOT)
        assert (found.text, found.is_command, found.is_mentioned) == (kept, True, is_mentioned), said
    assert ignored(group(text="/stats@other_bot")) == "it is a command for another bot"
    assert not Incoming(update(text="/"), BOT).is_command


def test_what_cannot_be_read_is_named():
    for fields, name in (
        ({"voice": {}}, "voice"),
        ({"video_note": {"id": 1}}, "video note"),
        ({"document": {"file_id": "f", "file_name": "a\n.pdf"}}, "file a .pdf"),
    ):
        found = Incoming(update(**{field: value or {"id": 1} for field, value in fields.items()}), BOT)
        assert found.refusal == "I cannot read this (%s): send text." % name, found.refusal
    found = Incoming(update(document={"file_id": "f", "file_name": "a.pdf"}, caption="what is this?"), BOT)
    assert (found.text, found.refusal) == ("[file a.pdf] what is this?", "")


def test_what_is_no_message_of_a_person_is_ignored():
    for wrong, why in (
        ({"update_id": 3, "edited_channel_post": {}}, "it has no message"),
        ({"update_id": 3}, "it has no message"),
        (update(text="x", sender={"id": 8, "is_bot": True}), "it is from a bot"),
        (update(text="x", sender={"id": 99}), "it is from a bot"),
        (update(text="x", sender={}), "it is not from a person in a chat"),
        (update({"id": 7, "type": "channel"}, text="x"), "it is not from a person in a chat"),
        (update({"id": True, "type": "private"}, text="x"), "it is not from a person in a chat"),
        (update(text="x", message_id="5"), "it is not from a person in a chat"),
        (group(new_chat_members=[ANN]), "it has nothing to read"),
        (update(unheard_of={}), "it has nothing to read"),
        ({"update_id": 3, "channel_post": group(text="x")["message"]}, "it has no message"),
        (group(text="/stats", sender_chat={"id": -1001234567890}), "it is written in the name of a chat"),
        (group(text="x", sender={"id": 777000}, sender_chat={"id": -5}), "it is written in the name of a chat"),
    ):
        assert ignored(wrong) == why, wrong


def test_a_forwarded_command_is_none():
    for forward in ({"forward_origin": {"type": "hidden_user"}}, {"forward_date": 1}):
        said = Incoming(update(text="/pair telegram:666", **forward), BOT)
        assert not said.is_command and said.refusal.startswith("A forwarded command is not carried out")
        assert Incoming(update(text="hello", **forward), BOT).refusal == ""


BOB = {"id": 8, "is_bot": False, "first_name": "Bob", "last_name": "Ray"}
NEWS = {"id": -1009, "type": "channel", "title": "News"}
TEAM = {"id": -1008, "type": "supergroup", "title": "Team [7]"}


def test_others_words_come_with_who_wrote_them():
    for fields, forwarded in (
        ({"forward_origin": {"type": "user", "sender_user": BOB}, "forward_from": BOB, "forward_date": 1}, "Bob Ray"),
        ({"forward_origin": {"type": "hidden_user", "sender_user_name": "B."}, "forward_sender_name": "B."}, "B."),
        ({"forward_origin": {"type": "chat", "sender_chat": TEAM}}, "the chat Team (7)"),
        ({"forward_origin": {"type": "channel", "chat": NEWS, "message_id": 5}}, "the channel News"),
        ({"forward_origin": {"type": "user", "sender_user": ANN}}, "Ann Lee"),
        ({"forward_origin": {"type": "of_tomorrow"}}, "somebody"),
        ({"forward_origin": {}}, "somebody"),
        ({"forward_origin": "user"}, "somebody"),
        ({"forward_from": BOB, "forward_date": 1}, "somebody"),
        ({"forward_origin": {"type": "hidden_user", "sender_user_name": "B.\n[x] y"}}, "B. (x) y"),
        ({"forward_date": 1}, "somebody"),
        ({"is_automatic_forward": True}, "somebody"),
        ({"via_bot": {"id": 5, "is_bot": True, "username": "wiki"}}, "the bot wiki"),
        ({"via_bot": {"id": 5}}, "the bot somebody"),
        ({}, ""),
    ):
        for held in ({"text": "I live in Lyon"}, {"photo": [{}], "caption": "I live in Lyon"}):
            said = Incoming(update(**fields, **held), BOT)
            assert said.forwarded == forwarded and said.text.endswith("I live in Lyon"), (fields, said)


def test_who_wrote_something_has_a_name_of_bounded_length():
    for name in ("B" * 500, "猫" * 500, "😀" * 500):
        chat = {"type": "channel", "title": name}
        for origin in ({"sender_user_name": name}, {"sender_user": {"first_name": name}}, {"chat": chat}):
            assert 0 < len(Incoming(update(text="x", forward_origin=origin), BOT).forwarded) <= 64


def test_a_message_has_the_first_line_of_what_it_answers():
    fern = {"message_id": 4, "from": BOB, "text": "Water the fern on Saturday\nand on Sunday"}
    photo = {"message_id": 4, "from": BOB, "photo": [{}]}
    elsewhere = {"origin": {"type": "user", "sender_user": BOB}, "document": {"file_id": "x"}}
    for fields, quoted in (
        ({"reply_to_message": fern}, "Water the fern on Saturday"),
        ({"reply_to_message": fern, "quote": {"text": "the fern", "position": 6}}, "the fern"),
        ({"reply_to_message": dict(photo, caption=" my cat ")}, "my cat"),
        ({"reply_to_message": photo}, "[photo]"),
        ({"reply_to_message": {"message_id": 4}}, ""),
        ({"external_reply": elsewhere}, "[file]"),
        ({"external_reply": elsewhere, "quote": {"text": "I live in Lyon"}}, "I live in Lyon"),
        ({"external_reply": {"origin": {}}}, ""),
        ({"quote": {"text": "\n so\tit is \n"}}, "so it is"),
        ({"quote": "x", "reply_to_message": "y", "external_reply": 5}, ""),
        ({}, ""),
    ):
        said = Incoming(update(text="This one", **fields), BOT)
        assert (said.quoted, said.text, said.forwarded) == (quoted, "This one", ""), (fields, said)
    long = Incoming(update(text="x", quote={"text": "猫" * 500}), BOT).quoted
    assert len(long) <= 200 and long.endswith("…")


def test_the_message_that_began_a_topic_is_not_answered_by_each_of_it():
    began = {"message_id": 12, "from": BOB, "text": "Garden"}
    topic = {"is_topic_message": True, "message_thread_id": 12}
    assert Incoming(group(text="yes", reply_to_message=began, **topic), BOT).quoted == ""
    other = {"message_id": 13, "from": BOB, "text": "the fern"}
    assert Incoming(group(text="yes", reply_to_message=other, **topic), BOT).quoted == "the fern"


def test_a_reply_to_something_else_is_not_for_the_bot():
    for reply in (
        {"reply_to_message": {"message_id": 4, "from": {"id": 98, "is_bot": True}}},
        {"reply_to_message": {"message_id": 4, "from": {"id": True}}},
        {"external_reply": {"origin": {"type": "user", "sender_user": {"id": 99}}}},
        {"quote": {"text": "@other_bot"}},
        {"entities": [{"type": "text_mention", "user": {"id": 98}}]},
        {"via_bot": {"id": 99}},
    ):
        assert not Incoming(group(text="hello", **reply), BOT).is_mentioned, reply


def test_a_group_that_became_a_supergroup_is_named():
    chat = {"id": -7, "type": "group", "title": "Garden"}
    assert moved_group(update(chat, migrate_to_chat_id=-1007)) == (-7, -1007)
    for other, new in ((chat, 7), (chat, True), (chat, "-8"), ({"id": 7, "type": "private"}, -8)):
        assert moved_group(update(other, migrate_to_chat_id=new)) is None
    assert moved_group({"update_id": 3}) is None


def test_any_update_is_read_or_ignored():
    numbers = Numbers(3)
    values = (None, True, 0, 7, -1, "", "text", "/x@y", [], [1], {}, {"id": 7, "type": "private"}, {"id": 99}, 1.5)
    names = (
        "from", "chat", "text", "caption", "document", "photo", "entities", "reply_to_message", "message_thread_id",
        "is_topic_message", "message_id", "voice",
    )  # fmt: skip
    for _ in range(400):
        message = {numbers.pick(names): numbers.pick(values) for _ in range(numbers.below(9))}
        wrong: dict = update(**message) if numbers.below(2) else {"update_id": 1, "message": message}
        try:
            Incoming(wrong, BOT)
        except Ignored:
            pass
