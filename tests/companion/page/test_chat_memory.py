"""Chat shows what the model was shown for an answer and why, what was remembered of it, and the sessions."""

import json
from collections.abc import Callable

import pytest

from page_client import PageClient
from peers import Companion
from sending import Sent


@pytest.fixture
def kitchen(board: Callable[..., Sent]) -> Sent:
    """A board that has two sessions, and memories of them."""
    made = board()
    made.say("where is the blue tin?", sid="s1")
    made.write("journal", op="session", sid="s2", title="Garden", scope="user:owner", at=1795247160)
    made.say("roses need water", sid="s2")
    made.say("Ann's own", sid="s9", who="ann", scope="user:ann")
    made.keep("the blue tin is in the attic", tags=["tin"], turns=["t1"], scope="user:owner")
    made.sync()
    return made


def said(browser: PageClient, kitchen: Sent, text: str, *items: list[str], turn: str = "t1") -> None:
    """Say something, and let the board answer it."""
    path = f"/boards/{kitchen.device}/chat"
    assert browser.send(path, {"id": f"page:{turn}", "text": text}, seen=path).status_code == 303
    kitchen.answer(*items, turn=turn)


def chat(browser: PageClient, kitchen: Sent) -> str:
    return " ".join(browser.open(f"/boards/{kitchen.device}/chat").words.split())


def test_what_was_recalled_is_shown_with_how_sure_the_board_was_and_the_words(browser: PageClient, kitchen: Sent):
    recalled = ["report", json.dumps({"recalled": [["m1", 720], ["t3", 310], ["m77", 50]]})]
    said(browser, kitchen, "where is the blue tin?", recalled, ["text", "In the attic."])
    words = chat(browser, kitchen)
    assert "3 things were recalled for this answer" in words
    assert "m1 the blue tin is in the attic 72 of 100 sure · words of the message: blue, tin" in words
    assert "t3 roses need water 31 of 100 sure" in words
    assert "m77 has gone since 5 of 100 sure" in words


def test_reports_of_another_form_are_passed_over(browser: PageClient, kitchen: Sent):
    reports = ("{broken", "[]", "[" * 3000, '{"recalled": 5}', '{"recalled": [["m1"], [1, 2], null]}')
    said(browser, kitchen, "hello", *(["report", report] for report in reports), ["text", "hi"])
    assert "recalled for this answer" not in chat(browser, kitchen)


def test_what_was_remembered_stands_beside_the_message_and_is_undone_there(browser: PageClient, kitchen: Sent):
    said(browser, kitchen, "the blue tin is in the attic", ["text", "Noted."])
    path = f"/boards/{kitchen.device}/chat"
    assert "Remembered of it m1 the blue tin is in the attic" in chat(browser, kitchen)
    view = browser.open(path)
    assert "in the attic <form" in browser.http.get(path).text  # what is within a form makes no space before it
    fields = {name: view.field(name) for name in ("csrf", "key", "was", "message")}
    sent = browser.send(f"/boards/{kitchen.device}/memories/m1/undo", fields)
    assert sent.headers["location"] == f"{path}#page%3At1"
    assert "undo the change of m1: waits for the board" in chat(browser, kitchen)
    head = kitchen.offered()
    assert (head["text"], head["principal"]) == ("/undo m1", "owner")
    kitchen.ask("reply", mid=head["mid"], offer=1, k=1, items=[["problem", "the latest change is of m2."], ["end", ""]])
    assert "refused the latest change is of m2." in chat(browser, kitchen).replace(": ", " ")


def test_a_memory_that_was_undone_beside_its_message_is_said_to_be_undone_there(browser: PageClient, kitchen: Sent):
    said(browser, kitchen, "the blue tin is in the attic", ["text", "Noted."])
    view = browser.open(f"/boards/{kitchen.device}/chat")
    fields = {name: view.field(name) for name in ("csrf", "key", "was", "message")}
    browser.send(f"/boards/{kitchen.device}/memories/m1/undo", fields)
    kitchen.answer("undone")
    kitchen.write("records", op="forget", id="m1", at=1795247200, was=1)
    kitchen.sync()
    words = chat(browser, kitchen)
    assert "Remembered of it m1 · undone: the board has forgotten it" in words
    assert "the blue tin is in the attic" not in words.partition("Remembered of it")[2]


@pytest.mark.parametrize("turns, is_offered", [(["t1"], True), (["t1", "t3"], False)])
def test_undo_stands_beside_a_message_only_while_what_it_made_is_the_newest_version(
    browser: PageClient, kitchen: Sent, turns: list[str], is_offered: bool
):
    said(browser, kitchen, "the blue tin is in the attic", ["text", "Noted."])
    line = {"id": "m1", "content": "the blue tin is in the shed", "tags": ["tin"], "scope": "user:owner"}
    kitchen.write("records", **line, created=1795247157, was=1, turns=turns)
    kitchen.sync()
    forms = browser.open(f"/boards/{kitchen.device}/chat").all("form")
    assert any(each["action"].endswith("/memories/m1/undo") for each in forms) is is_offered


def settling(browser: PageClient, kitchen: Sent) -> bool:
    """Whether the chat asks for what was remembered again."""
    return any("data-settling" in each for each in browser.open(f"/boards/{kitchen.device}/chat").all("div"))


def test_what_was_remembered_is_asked_for_again_once_an_answer_has_ended(browser: PageClient, kitchen: Sent):
    path = f"/boards/{kitchen.device}/chat"
    browser.send(path, {"id": "page:t1", "text": "hello"}, seen=path)
    assert not settling(browser, kitchen)
    kitchen.offered()
    kitchen.ask("reply", mid="page:t1", offer=1, k=1, items=[["text", "hi"], ["end", "t1"]])
    assert settling(browser, kitchen)


def test_the_turn_of_a_message_is_known_though_the_board_named_it_only_at_the_end(
    companion: Companion, browser: PageClient, kitchen: Sent
):
    said(browser, kitchen, "hello", ["text", "hi"], turn="t3")
    (message,) = companion.client.get(f"/v1/boards/{kitchen.device}/chat").json()
    assert message["turn"] == "t3"


def test_sessions_are_listed_with_their_titles_and_nobody_elses(browser: PageClient, kitchen: Sent):
    words = chat(browser, kitchen)
    assert words.index("s2 Garden · 1 turn") < words.index("s1 where is the blue tin? · 1 turn")
    assert "s9" not in words and "Ann's own" not in words


def test_another_session_is_gone_to_or_begun(browser: PageClient, kitchen: Sent):
    path = f"/boards/{kitchen.device}/chat"
    view = browser.open(path)
    for fields, command in (
        ({"to": "s1", "id": "page:a"}, "/session switch s1"),
        ({"title": " Tea  time ", "id": "page:b"}, "/session new Tea time"),
        ({"id": "page:c"}, "/session new"),
    ):
        sent = browser.send(f"{path}/session", {"csrf": view.field("csrf"), **fields})
        assert sent.status_code == 303
        head = kitchen.offered()
        assert (head["text"], head["room"], head["command"]) == (command, "page", True)
        kitchen.ask("reply", mid=head["mid"], offer=1, k=1, items=[["line", "now in s1"], ["end", ""]])


def test_quoted_lines_stand_apart_from_the_words_of_a_message(browser: PageClient, kitchen: Sent):
    said(browser, kitchen, "> /forget m3\nwhat does that do?", ["text", "It forgets."])
    page = browser.open(f"/boards/{kitchen.device}/chat")
    assert "blockquote" in [name for name, _ in page.elements]
    assert "/forget m3 what does that do?" in " ".join(page.words.split())
    said(browser, kitchen, "> yes", ["text", "Who says so?"], turn="t2")
    assert "Forwarded from somebody yes" in chat(browser, kitchen)
