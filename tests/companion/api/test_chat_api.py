"""Conversations over HTTP: what is said, followed, listed and cancelled, and what is refused in a sentence."""

import json
import threading
from typing import Any

import httpx
import pytest

from engram_host.companion.conversations.service import MOST_CHARACTERS
from one_case import in_one_case
from peers import Companion
from sending import Sent


@pytest.fixture
def kitchen(companion: Companion, board) -> Sent:
    """A board that has said hello."""
    made = board()
    made.hello()
    return made


def path(board: Sent, mid: str = "") -> str:
    return f"/v1/boards/{board.device}/chat" + (f"/{mid}" if mid else "")


def said(companion: Companion, board: Sent, **message: Any) -> httpx.Response:
    """Say something without waiting for the answer."""
    fields = {"text": "hi", "principal": "ann", "room": "phone"} | message
    return companion.client.post(path(board), json=fields, params={"wait": 0})


def events(answer: httpx.Response) -> list[tuple[int, str, dict[str, Any]]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in filter(None, answer.text.split("\n\n")):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((int(fields.get("id", 0)), fields["event"], json.loads(fields["data"])))
    return found


def replied(board: Sent, mid: str, offer: int, k: int, *items: list[str]) -> dict[str, Any]:
    return board.ask("reply", mid=mid, offer=offer, k=k, items=list(items))


def test_a_message_is_kept_offered_and_answered(companion: Companion, kitchen: Sent):
    ((_, name, first),) = events(said(companion, kitchen, id="m1"))
    assert (name, first["id"], first["state"]) == ("state", "m1", "waiting")
    offered = kitchen.offered(0)
    assert (offered["op"], offered["text"], offered["principal"], offered["room"]) == ("say", "hi", "ann", "phone")
    kitchen.ask("listen", wait=0, mid="m1", turn="t3")
    assert not replied(kitchen, "m1", 1, 1, ["text", "Hello"], ["notice", "remembered"])["cancel"]
    replied(kitchen, "m1", 1, 2, ["text", "!"], ["end", "t3"])
    found = events(companion.client.get(path(kitchen, "m1")))
    assert [(number, name) for number, name, _ in found] == [(1, "text"), (2, "notice"), (3, "text"), (0, "end")]
    assert found[-1][2] == {"id": "m1", "state": "done", "turn": "t3", "told": ""}
    rest = events(companion.client.get(path(kitchen, "m1"), headers={"Last-Event-ID": "2"}))
    assert rest == found[2:] == events(companion.client.get(path(kitchen, "m1"), params={"after": 2}))


def test_a_waiting_board_is_given_what_is_said_at_once(companion: Companion, kitchen: Sent):
    """Over HTTP a board holds a request meanwhile, for longer than the test waits for it."""
    heads: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: heads.append(kitchen.offered()))
    waiting.start()
    said(companion, kitchen, id="now")
    waiting.join(30)
    assert heads and heads[0]["op"] == "say" and heads[0]["mid"] == "now"


def test_a_message_is_cancelled(companion: Companion, kitchen: Sent):
    said(companion, kitchen, id="m1")
    assert companion.client.delete(path(kitchen, "m1")).json()["state"] == "cancelled"
    assert kitchen.offered(0)["op"] == "quiet"
    assert events(companion.client.get(path(kitchen, "m1")))[-1][1:] == (
        "end",
        {"id": "m1", "state": "cancelled", "turn": "", "told": ""},
    )


@in_one_case(
    "message, words",
    [
        ({"text": ""}, "either text or command"),
        ({"command": "/help"}, "either text or command"),
        ({"text": "", "command": "help"}, "begins with a slash"),
        ({"text": "", "command": "/help\n/stats"}, "one line"),
        ({"text": "x" * (MOST_CHARACTERS + 1)}, "1 to 8000 characters"),
        ({"text": " \n "}, "1 to 8000 characters"),
        ({"principal": 'a"b'}, "who"),
        ({"principal": "x" * 40}, "who"),
        ({"room": "x" * 62}, "room"),
        ({"room": "", "group": True}, "room"),
        ({"workspace": "a b"}, "workspace"),
        ({"id": "a b"}, "id"),
        ({"id": "x" * 57}, "id"),
        ({"id": "mqtt:17"}, "mqtt: is for programs at the broker"),
        ({"id": "push:7:t3"}, "push: is for what a board says by itself"),
        ({"id": "bridge:7"}, "bridge: is for messages over a bridge"),
    ],
)
def test_what_no_board_could_take_is_refused(companion: Companion, kitchen: Sent, message: dict[str, Any], words: str):
    answer = said(companion, kitchen, **message)
    assert answer.status_code == 422 and words in answer.json()["problem"], answer.text
    assert companion.client.get(path(kitchen)).json() == []


def test_a_board_or_message_that_is_not_known_is_not_found(companion: Companion, kitchen: Sent):
    stranger = Sent(companion.posted, "nobody-knows")
    assert said(companion, stranger).status_code == 404
    assert companion.client.get(path(stranger)).status_code == 404
    for method in ("GET", "DELETE"):
        assert companion.client.request(method, path(kitchen, "m9")).status_code == 404


@in_one_case(
    "items",
    [[["text"]], [["text", 1]], ["text"], [["again", ""]], [["shout", "x"]], [{"text": "x"}], [[["text"], "x"]]],
)
def test_pieces_of_another_form_are_refused_and_change_nothing(companion: Companion, kitchen: Sent, items: list[Any]):
    said(companion, kitchen, id="m1")
    kitchen.offered(0)
    assert kitchen.ask("reply", mid="m1", offer=1, k=1, items=items)["op"] == "refused"
    assert companion.client.get(path(kitchen)).json()[0]["state"] == "waiting"


def test_signs_that_no_database_takes_are_replaced(companion: Companion, kitchen: Sent):
    said(companion, kitchen, id="m1")
    kitchen.offered(0)
    replied(kitchen, "m1", 1, 1, ["text", "a\0b"], ["end", ""])
    (found, _) = events(companion.client.get(path(kitchen, "m1")))
    assert found[2]["text"].startswith("a\ufffdb")
    assert kitchen.ask("push", mid="a\0b", room="phone", text="x")["op"] == "refused"
