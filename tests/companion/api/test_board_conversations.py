"""The API shows what a message had to do with memories, and the turns of a session."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from peers import Companion
from sending import Sent


@pytest.fixture
def kitchen(board: Callable[..., Sent]) -> Sent:
    """A board with two sessions, and a memory of what was said in the first one."""
    made = board()
    made.say("where is the blue tin?", sid="s1")
    made.write("journal", op="session", sid="s2", title="Garden", scope="user:owner", at=1795247160)
    made.say("roses need water", sid="s2")
    made.keep("the blue tin is in the attic", tags=["tin"], turns=["t1"], scope="user:owner")
    made.sync()
    return made


def answered(companion: Companion, kitchen: Sent, mid: str, *reports: Any) -> None:
    """Say something, and let the board answer it with reports."""
    path = f"/v1/boards/{kitchen.device}/chat?wait=0"
    message = {"id": mid, "text": "where is the blue tin?", "room": "page"}
    assert companion.client.post(path, json=message).status_code == 200
    head = kitchen.offered()
    items = [["report", json.dumps(report)] for report in reports]
    kitchen.ask(
        "reply", mid=head["mid"], offer=head["offer"], k=1, items=[*items, ["text", "In the attic."], ["end", "t1"]]
    )


def test_a_message_names_what_was_recalled_and_why_and_what_was_remembered(companion: Companion, kitchen: Sent):
    answered(companion, kitchen, "page:1", {"recalled": [["m1", 720], ["m77", 50]]})
    found = companion.client.get(f"/v1/boards/{kitchen.device}/chat/page:1/memory").json()
    assert (found["answer"], found["turn"], found["session"]) == ("In the attic.", "t1", "s1")
    assert found["recalled"] == [
        {"id": "m1", "text": "the blue tin is in the attic", "percent": 72, "words": ["blue", "tin"]},
        {"id": "m77", "text": "", "percent": 5, "words": []},
    ]
    text = "the blue tin is in the attic"
    assert found["remembered"] == [{"id": "m1", "text": text, "state": "live", "change": None}]


def test_a_message_without_an_answer_yet_has_nothing(companion: Companion, kitchen: Sent):
    path = f"/v1/boards/{kitchen.device}/chat"
    assert companion.client.post(f"{path}?wait=0", json={"id": "page:2", "text": "hello"}).status_code == 200
    found = companion.client.get(f"{path}/page:2/memory").json()
    assert (found["answer"], found["turn"], found["recalled"], found["remembered"]) == ("", "", [], [])


def test_an_unknown_message_is_not_found(companion: Companion, kitchen: Sent):
    assert companion.client.get(f"/v1/boards/{kitchen.device}/chat/page:none/memory").status_code == 404
