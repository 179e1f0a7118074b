"""The conversation of a board with version 0.1 of the companion (tests/data/wire-0.1): the present one answers alike."""

import json
from pathlib import Path
from typing import Any

import pytest

from engram.link import messages
from peers import Companion

FOLDER = Path(__file__).resolve().parents[2] / "data" / "wire-0.1"
CONVERSATION: list[dict[str, Any]] = json.loads((FOLDER / "messages.json").read_text(encoding="utf-8"))

FOR_PEOPLE = ("told", "why", "note")
"""Fields with a sentence, whose wording may change."""


def heads(answer: bytes) -> list[dict[str, Any]]:
    """The heads of the messages of an answer, as the board's own code reads them, without what is worded.

    A `welcome` also names the version that both use, that people may talk, that the board may tell how it is and what there is
    of the notes and senses, and a `found` how sure it is, which boards of version 0.1 pass over.
    """
    lines = answer.splitlines(keepends=True)
    found = [messages.decode(line, messages.TO_BOARD)[0] for line in lines]
    assert all(head.pop("version", 1) == 1 for head in found if head["op"] == "welcome")
    assert all(head.pop("chat", 1) == 1 for head in found if head["op"] == "welcome")
    assert all(head.pop("status", 1) == 1 for head in found if head["op"] == "welcome")
    assert all(len(head.pop("notes", "00000000")) == 8 for head in found if head["op"] == "welcome")
    assert all(len(head.pop("senses", "00000000")) == 8 for head in found if head["op"] == "welcome")
    assert all(0 <= head.pop("confidence", 0) <= 1000 for head in found if head["op"] == "found")
    assert all(0 <= sure <= 1000 for head in found for sure in head.pop("sure", ()))
    return [{name: value for name, value in head.items() if name not in FOR_PEOPLE} for head in found]


@pytest.fixture(scope="module")
def answers(companion: Companion) -> list[bytes]:
    """What the companion answers to each message, one after the other."""
    return [companion.posted("kitchen", one["up"].encode()) for one in CONVERSATION]


@pytest.mark.parametrize(
    "number", range(len(CONVERSATION)), ids=lambda number: CONVERSATION[number]["up"].split('"')[3]
)
def test_a_message_is_answered_as_it_was(answers: list[bytes], number: int):
    expected, found = heads("".join(CONVERSATION[number]["down"]).encode()), heads(answers[number])
    for head in (*expected, *found):
        # How the companion ranks may change: of what it finds the best counts, without its score.
        if head["op"] == "found":
            head["items"] = [[item[0], *item[2:]] for item in head["items"][:1]]
    assert found == expected


def test_the_worded_fields_are_there_where_they_were(answers: list[bytes]):
    for one, answer in zip(CONVERSATION, answers, strict=True):
        for expected, found in zip(one["down"], answer.splitlines(), strict=True):
            was, now = json.loads(expected), json.loads(found)
            assert [bool(was.get(name)) for name in FOR_PEOPLE] == [bool(now.get(name)) for name in FOR_PEOPLE]
