"""The promises of the fake Bot API: it refuses what the service would refuse, or more."""

from collections.abc import Iterator
from threading import Thread
from typing import Any

import httpx
import pytest

from fake_telegram import ServingTelegram, User, serving
from one_case import in_one_case
from waiting import SECONDS


@pytest.fixture
def telegram() -> Iterator[ServingTelegram]:
    with serving() as server:
        yield server


@pytest.fixture
def ann(telegram: ServingTelegram) -> User:
    """A person who has written to the bot."""
    user = telegram.people.add_user("Ann", username="ann_b")
    telegram.people.write(user, "/start")
    return user


def post(telegram: ServingTelegram, method: str, **how: Any) -> httpx.Response:
    return httpx.post(f"{telegram.url}/bot{telegram.token}/{method}", timeout=SECONDS, **how)


def call(telegram: ServingTelegram, method: str, **arguments: object) -> Any:
    """The result of a call, or the words with which it is refused."""
    answer = post(telegram, method, json=arguments).json()
    return answer["result"] if answer["ok"] else answer["description"]


def test_the_token_the_method_and_the_path_have_to_be_right(telegram: ServingTelegram):
    for path, status in (("/bot1:wrong/getMe", 401), (f"/bot{telegram.token}/getNothing", 404), ("/elsewhere", 404)):
        assert httpx.get(telegram.url + path).status_code == status
    assert call(telegram, "getMe")["username"] == "engram_fake_bot"


@in_one_case(
    "method, arguments, problem",
    [
        ("sendMessage", {"text": "a", "colour": "red"}, "colour of sendMessage is unknown or of a wrong type"),
        ("sendMessage", {"text": 5}, "text of sendMessage is unknown or of a wrong type"),
        ("sendMessage", {"text": "a", "message_thread_id": True}, "message_thread_id of sendMessage"),
        ("sendMessage", {"chat_id": None, "text": "a"}, "chat_id of sendMessage"),
        ("sendMessage", {"chat_id": 12, "text": "a"}, "chat not found"),
        ("sendMessage", {}, "text is empty"),
        ("sendMessage", {"text": " \n "}, "text must be non-empty"),
        ("sendMessage", {"text": "a" * 4097}, "message is too long"),
        ("sendMessage", {"text": "😀" * 2049}, "message is too long"),
        ("sendMessage", {"text": "a", "parse_mode": "Markdown"}, "unsupported parse_mode"),
        ("sendMessage", {"text": "<b>a", "parse_mode": "HTML"}, "can't parse entities: Can't find end tag"),
        ("sendMessage", {"text": "<b>a</i>", "parse_mode": "HTML"}, 'Unexpected end tag "i"'),
        ("sendMessage", {"text": "<div>a</div>", "parse_mode": "HTML"}, 'Unsupported start tag or reference "div"'),
        ("sendMessage", {"text": "a < b", "parse_mode": "HTML"}, "Unsupported start tag"),
        ("sendMessage", {"text": "a & b", "parse_mode": "HTML"}, "Unsupported start tag or reference"),
        ("sendMessage", {"text": "a", "message_thread_id": 9}, "message thread not found"),
        ("sendMessage", {"text": "a", "reply_parameters": {"message_id": 99}}, "message to be replied not found"),
        ("sendMessage", {"text": "a", "reply_parameters": {}}, 'can\'t find field "message_id"'),
        ("sendMessage", {"text": "a", "link_preview_options": {"big": True}}, "big of link preview options"),
        ("editMessageText", {"message_id": 99, "text": "a"}, "message to edit not found"),
        ("editMessageText", {"message_id": 1, "text": "a"}, "message can't be edited"),
        ("editMessageText", {"text": "a"}, "message_id is empty"),
        ("sendChatAction", {"action": "thinking"}, "wrong parameter action in request"),
    ],
)
def test_a_wrong_call_is_refused_with_the_reason(method: str, arguments: dict[str, Any], problem: str):
    with serving() as telegram:
        user = telegram.people.add_user("Ann")
        telegram.people.write(user, "/start")
        assert problem in call(telegram, method, **{"chat_id": user.id, **arguments})
        assert telegram.people.from_bot(telegram.people.private_chat(user)) == []


@in_one_case(
    "commands, problem",
    [
        ([{"command": "Stats", "description": "a"}], "BOT_COMMAND_INVALID"),
        ([{"command": "a" * 33, "description": "a"}], "BOT_COMMAND_INVALID"),
        ([{"command": "a", "description": " "}], "BOT_COMMAND_DESCRIPTION_INVALID"),
        ([{"command": "a"}], 'can\'t find field "description"'),
        ([{"command": "a", "description": "a"}] * 101, "BOT_COMMANDS_TOO_MUCH"),
    ],
)
def test_a_wrong_menu_is_refused(commands: list[dict[str, str]], problem: str):
    with serving() as telegram:
        assert problem in call(telegram, "setMyCommands", commands=commands)
        assert telegram.people.menu() == []


@in_one_case(
    "source, text, entities",
    [
        ("<b>1 &lt; 2</b> &amp; 😀<i>x</i>", "1 < 2 & 😀x", [("bold", 0, 5, ""), ("italic", 10, 1, "")]),
        ('<a href="https://a.b/?c&amp;d">link</a>', "link", [("text_link", 0, 4, "https://a.b/?c&d")]),
        ('<pre><code class="language-python">x\n</code></pre>', "x", [("pre", 0, 1, "language-python")]),
        ("\n <b> a\r</b>\tb ", "a b", [("bold", 0, 1, "")]),
        ("<b></b>a", "a", []),
    ],
)
def test_marks_become_entities_of_a_trimmed_text(source: str, text: str, entities: list[tuple[str, int, int, str]]):
    with serving() as telegram:
        user = telegram.people.add_user("Ann")
        telegram.people.write(user, "/start")
        assert call(telegram, "sendMessage", chat_id=user.id, text=source, parse_mode="HTML")["text"] == text
        (message,) = telegram.people.from_bot(telegram.people.private_chat(user))
        assert [(one.type, one.offset, one.length, one.value) for one in message.entities] == entities


def test_an_emoji_comes_as_a_surrogate_pair(telegram: ServingTelegram, ann: User):
    response = post(telegram, "sendMessage", json={"chat_id": ann.id, "text": "😀" * 2048})
    assert response.content.isascii() and response.text.count("\\ud83d\\ude00") == 2048


def test_an_edit_that_changes_no_more_than_spaces_is_refused(telegram: ServingTelegram, ann: User):
    sent = call(telegram, "sendMessage", chat_id=ann.id, text="one")["message_id"]
    assert call(telegram, "editMessageText", chat_id=ann.id, message_id=sent, text="two")["edit_date"]
    for same in ("two", " two \n", "two\r"):
        assert "is not modified" in call(telegram, "editMessageText", chat_id=ann.id, message_id=sent, text=same)
    (message,) = telegram.people.from_bot(telegram.people.private_chat(ann))
    assert message.versions == ["one", "two"]


def test_typing_is_shown_until_the_message(telegram: ServingTelegram, ann: User):
    chat = telegram.people.private_chat(ann)
    assert call(telegram, "sendChatAction", chat_id=ann.id, action="typing") is True
    assert telegram.people.is_typing(chat)
    call(telegram, "sendMessage", chat_id=ann.id, text="a")
    assert not telegram.people.is_typing(chat)


def test_a_bot_writes_neither_first_nor_to_who_blocked_it_nor_to_a_group_that_moved(telegram: ServingTelegram):
    user = telegram.people.add_user("Ann")
    assert "can't initiate conversation" in call(telegram, "sendMessage", chat_id=user.id, text="a")
    telegram.people.write(user, "hello")
    telegram.people.block_bot(user)
    assert "bot was blocked by the user" in call(telegram, "sendMessage", chat_id=user.id, text="a")
    group = telegram.people.group("Kitchen", [user])
    moved = telegram.people.upgrade(group, user)
    answer = post(telegram, "sendMessage", json={"chat_id": group.id, "text": "a"}).json()
    assert answer["parameters"] == {"migrate_to_chat_id": moved.id}


def updates(telegram: ServingTelegram, offset: int = 0, **more: object) -> list[tuple[int, str]]:
    """The updates from an offset on, with their texts."""
    kinds = ["message", "edited_message"]
    found = call(telegram, "getUpdates", offset=offset, allowed_updates=kinds, **more)
    return [(one["update_id"], (one.get("message") or one["edited_message"]).get("text")) for one in found]


def test_updates_come_again_until_an_offset_confirms_them(telegram: ServingTelegram, ann: User):
    telegram.people.edit(telegram.people.write(ann, "one"), "two")
    first = telegram.people.last_update_id - 2
    every = [(first, "/start"), (first + 1, "one"), (first + 2, "two")]
    assert updates(telegram) == updates(telegram) == every and updates(telegram, limit=1) == every[:1]
    assert updates(telegram, first + 2) == updates(telegram) == every[2:]
    telegram.people.repeat_update(first)
    assert updates(telegram, first + 3) == every[:1] and updates(telegram) == []
    telegram.people.repeat_update(first, same_id=False)
    assert updates(telegram) == [(first + 3, "/start")]


def test_a_long_poll_waits_for_an_update_and_ends_by_another_poll(telegram: ServingTelegram, ann: User):
    offset, answers = telegram.people.last_update_id + 1, list[Any]()
    polls = [Thread(target=lambda: answers.append(_polled(telegram, offset))) for _ in range(2)]
    for number, poll in enumerate(polls, 1):
        poll.start()
        telegram.wait_until(
            lambda fake, n=number: fake.ledger.by_method["getUpdates"] == n and fake.state.updates.is_polled
        )
    polls[0].join()
    telegram.people.write(ann, "hello")
    polls[1].join()
    assert answers[0].startswith("Conflict: ") and answers[1][0]["message"]["text"] == "hello"


def _polled(telegram: ServingTelegram, offset: int) -> Any:
    return call(telegram, "getUpdates", offset=offset, timeout=50, allowed_updates=["message"])


def test_in_a_group_the_bot_is_given_what_names_it(telegram: ServingTelegram, ann: User):
    group = telegram.people.group("Kitchen", [ann])
    for text in ("we two talk", "hi @engram_fake_bot", "/help", "/help@other_bot", "@engram_fake_bot2"):
        telegram.people.write(ann, text, chat=group)
    assert [text for _, text in updates(telegram)] == ["/start", "hi @engram_fake_bot", "/help"]


def test_a_file_of_a_person_is_fetched(telegram: ServingTelegram, ann: User):
    telegram.people.send_document(ann, "notes.md", b"# Notes\r\n", caption="/import")
    message = call(telegram, "getUpdates", allowed_updates=["message"])[1]["message"]
    assert message["caption_entities"] == [{"type": "bot_command", "offset": 0, "length": 7}]
    path = call(telegram, "getFile", file_id=message["document"]["file_id"])["file_path"]
    url = f"{telegram.url}/file/bot{telegram.token}/{path}"
    assert httpx.get(url).content == b"# Notes\r\n" and httpx.get(url + "x").status_code == 404


def test_each_fault_happens_once_and_the_call_is_handled_or_not(telegram: ServingTelegram, ann: User):
    def send(text: str) -> object:
        try:
            return post(telegram, "sendMessage", json={"chat_id": ann.id, "text": text}).status_code
        except httpx.HTTPError:
            return "cut"

    faults, outcomes = telegram.faults, list[object]()
    for number, add in enumerate(
        (faults.flood, faults.fail, faults.cut_before, faults.cut_after, faults.cut_within, lambda **_: faults.delay(0))
    ):
        add(method="sendMessage")
        outcomes.append(send(f"{number}"))
    faults.refuse("strange")
    faults.conflict()
    outcomes += [send("6"), send("7"), post(telegram, "getUpdates").status_code]
    faults.is_token_refused = True
    outcomes.append(send("8"))
    assert outcomes == [429, 502, "cut", "cut", "cut", 200, 400, 200, 409, 401]
    shown = [message.text for message in telegram.people.from_bot(telegram.people.private_chat(ann))]
    assert shown == ["3", "4", "5", "7"]
