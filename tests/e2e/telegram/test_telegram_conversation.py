"""A conversation over Telegram, against the strict fake: typing, streaming, parts, marks, commands, photos and files."""

from pathlib import Path

import trustme

from chatting import chatting
from fake_telegram import utf16_length
from skips import needs_32_bit

pytestmark = needs_32_bit

SLOW = [{"text": f"Word{number} ", "delay": 0.3} for number in range(14)]


def test_one_poll_brings_a_message_to_the_typing_sign_and_the_answer(tmp_path: Path):
    with chatting(tmp_path, {"reply": "**Hello** Ann."}) as talk:
        ann = talk.person("Ann")
        before = talk.telegram.ledger.total
        talk.write(ann, "hello")
        assert talk.answer(ann) == "Hello Ann."
        message = talk.telegram.people.from_bot(talk.chat(ann))[0]
        assert [(mark.type, mark.offset, mark.length) for mark in message.entities] == [("bold", 0, 5)]
        # The poll under way brings it: what follows is the sign, then the answer, whole.
        assert talk.methods(before) == ["sendChatAction", "sendMessage"]


def test_a_long_answer_goes_on_in_further_messages(tmp_path: Path):
    code = "```python\n" + "print('hello 🙂')\n" * 300 + "```"
    with chatting(tmp_path, {"reply": "Here it is.\n\n" + code + "\n\nDone."}) as talk:
        ann = talk.person("Ann")
        talk.write(ann, "write a program")
        chat = talk.chat(ann)
        talk.wait(lambda: any("Done." in message.text for message in talk.server.people.from_bot(chat)))
        messages = talk.telegram.people.from_bot(chat)
    shown = [message.text for message in messages]
    assert len(shown) >= 2
    assert all(utf16_length(text) <= 4096 for text in shown)
    assert sum(text.count("print('hello 🙂')") for text in shown) == 300
    assert all("```" not in text for text in shown)
    assert [[mark.language for mark in message.entities] for message in messages] == [["python"]] * len(messages)


def test_commands_answer_and_stand_in_the_menu(tmp_path: Path):
    with chatting(tmp_path) as talk:
        ann = talk.person("Ann", is_owner=True)
        menu = {entry["command"] for entry in talk.telegram.people.menu()}
        assert {"help", "memory", "stats", "session"} <= menu
        talk.write(ann, "/stats")
        assert "connected as @engram_fake_bot since" in talk.answer(ann)
        talk.write(ann, "/nonsense")
        assert talk.answers(ann, 2)[1] == "/nonsense: there is no such command; /help lists them."
        talk.write(ann, "/start")
        assert talk.answers(ann, 3)[2].startswith("Hello!")


def test_a_photo_is_kept_with_its_caption_and_other_things_are_refused(tmp_path: Path):
    with chatting(tmp_path, {"reply": "You sent: {last}"}) as talk:
        ann = talk.person("Ann")
        talk.telegram.people.send_photo(ann, b"jpeg", caption="my cat")
        assert talk.answer(ann) == "You sent: [photo] my cat"
        talk.telegram.people.send_document(ann, "a.pdf", b"pdf")
        assert talk.answers(ann, 2)[1] == "I cannot read this (file a.pdf): send text."


def test_a_conversation_goes_over_tls(tmp_path: Path):
    with chatting(tmp_path, {"reply": SLOW}, authority=trustme.CA()) as talk:
        ann = talk.person("Ann")
        talk.write(ann, "hello")
        talk.sees(ann, "".join(piece["text"] for piece in SLOW).strip())
        talk.write(ann, "/mode")
        talk.sees(ann, "".join(piece["text"] for piece in SLOW).strip(), "full mode")
