"""Notes in searches of people and of boards: whose they are, which of them, and what is shown."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from engram.link import messages
from one_case import in_one_case
from peers import Companion
from sending import Sent

MINE = "# Tea\n- 08:15 the zebrafinch likes green tea\n- 09:00 nothing\n"
ANNS = "- 10:00 the zebrafinch is Ann's secret\n"
OLD = "- 11:00 a zebrafinch of long ago\n- 12:00 and a parrot\n"


def say_left(board: Sent, file: str, why: str = messages.LEFT) -> None:
    """Say why a note has gone."""
    listed = board.ask("notes", epoch=board.epoch, after=file, to=file, files=[[file, 0, why]])
    assert listed["op"] == "noted"


@pytest.fixture
def kitchen(board: Callable[..., Sent]) -> Sent:
    """A board with notes of two people, one of which left it, and a memory."""
    one = board()
    one.keep("the zebrafinch sings", scope="user:owner")
    one.sync()
    one.note("2026-09-20.md", MINE)
    one.note("2026-09-20~ann.md", ANNS)
    one.note("2026-08-01.md", OLD)
    say_left(one, "2026-08-01.md")
    return one


def search(companion: Companion, kitchen: Sent, query: str = "zebrafinch", **more: Any) -> list[tuple[str, str]]:
    """(kind, id) of what a person finds."""
    asked = {"query": query, "devices": [kitchen.device], "meaning": False, **more}
    answer = companion.client.post("/v1/search", json=asked)
    assert answer.status_code == 200, answer.text
    hits = answer.json()["hits"]
    assert all(hit["device"] == kitchen.device for hit in hits)
    return sorted((hit["kind"], hit["id"]) for hit in hits)


def asked(kitchen: Sent, query: str = "zebrafinch", principal: str = "owner", **more: Any) -> list[list[Any]]:
    """What the board is answered that asks itself."""
    caller = {"principal": principal, "group": False, "workspace": ""}
    times = {"since": 0, "until": 0, "folders": False, "tags": [], "limit": 10}
    return kitchen.ask("search", query=query, **(caller | times | more))["items"]


def read(kitchen: Sent, path: str, first: int = 1, principal: str = "owner", group: bool = False) -> dict[str, Any]:
    """The answer to a board that asks for lines of a file."""
    caller = {"principal": principal, "group": group, "workspace": ""}
    return kitchen.ask("file", path=path, first=first, count=20, **caller)


def test_notes_are_found_beside_memories_and_alone(companion: Companion, kitchen: Sent):
    notes = [("note", "2026-08-01.md#1"), ("note", "2026-09-20.md#2")]
    assert search(companion, kitchen) == [("memory", "m1"), *notes]
    assert search(companion, kitchen, log="notes") == notes
    assert search(companion, kitchen, log="records") == [("memory", "m1")]
    assert search(companion, kitchen, log="journal") == []


def test_a_note_of_another_person_is_never_found_and_none_in_a_group(companion: Companion, kitchen: Sent):
    assert search(companion, kitchen, principal="ann") == [("note", "2026-09-20.md#1")]
    askers: list[dict[str, Any]] = [{"principal": "bob"}, {"principal": "ann", "group": True}, {"group": True}]
    for more in askers:
        assert search(companion, kitchen, **more) == []
        assert search(companion, kitchen, workspace="ann", **more) == []
    for query in ("secret", "green tea", "20 September 2026"):
        answer = companion.client.post("/v1/search", json={"query": query, "principal": "bob"})
        assert "zebrafinch" not in answer.text and answer.json()["hits"] == []


def test_a_board_is_answered_with_its_persons_notes_also_with_those_that_it_no_longer_has(kitchen: Sent):
    items = {item[0]: item[3:] for item in asked(kitchen)}
    assert sorted(items) == ["2026-08-01.md#1", "2026-09-20.md#2", "m1"]
    assert items["2026-08-01.md#1"] == ["", "- 11:00 a zebrafinch of long ago"]
    assert [item[0] for item in asked(kitchen, principal="ann")] == ["2026-09-20.md#1"]
    assert asked(kitchen, principal="bob") == [] == asked(kitchen, group=True)
    say_left(kitchen, "2026-08-01.md", messages.GONE)
    assert sorted(item[0] for item in asked(kitchen)) == ["2026-09-20.md#2", "m1"]


def test_a_board_reads_lines_of_a_note_that_it_no_longer_has(kitchen: Sent):
    answer = read(kitchen, "2026-08-01.md", first=2)
    assert json.loads(answer["text"]) == {"file": "2026-08-01.md", "first": 2, "lines": ["- 12:00 and a parrot", ""]}
    for principal, group in (("ann", False), ("owner", True)):
        assert read(kitchen, "2026-08-01.md", principal=principal, group=group)["op"] == "refused"


def test_lines_of_a_note_are_shown_to_whose_it_is(companion: Companion, kitchen: Sent):
    path = f"/v1/memory?path=2026-09-20.md&device={kitchen.device}"
    assert companion.client.get(path).json()["lines"][:2] == MINE.split("\n")[:2]
    assert companion.client.get(f"{path}&principal=ann").json()["lines"][0] == ANNS.strip()
    assert companion.client.get(f"{path}&principal=bob").status_code == 404
    assert companion.client.get(f"{path}&group=true").status_code == 404
    assert companion.client.get("/v1/memory?path=2026-09-20.md").status_code == 404


def test_notes_are_no_boards(companion: Companion, kitchen: Sent):
    assert all(":" not in device["name"] for device in companion.client.get("/v1/devices?limit=1000").json())


@in_one_case(
    "entry",
    [["MEMORY.md"], ["MEMORY.md", "4", "00000000"], ["MEMORY.md", 4, "zz"], "MEMORY.md", ["x.md", 4, "00000000"]],
)
def test_an_entry_of_another_form_is_refused(kitchen: Sent, entry: Any):
    assert kitchen.ask("notes", epoch=kitchen.epoch, after="", to="", files=[entry])["op"] == "refused"


def test_a_text_that_is_not_the_one_of_its_digest_is_refused(kitchen: Sent):
    told = {"epoch": kitchen.epoch, "file": "MEMORY.md", "digest": "00000000"}
    answer = kitchen.ask("note", b"tea", **told)
    assert answer["op"] == "refused" and "damaged on the way" in answer["why"]
