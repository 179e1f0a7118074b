"""The tools that list, change and read, and the profile's: what each gives, and what each says to a wrong call."""

from board import DAY, ROOM
from calls import equipped, fill, problem_of, result_of, run
from engram.memory.access import OWNER

# --- memory_list


def test_list_goes_page_by_page():
    board = equipped()
    fill(board, 23)
    first = result_of(board, "memory_list")
    assert (first["page"], first["pages"], first["total"]) == (1, 3, 23)
    seen = []
    for page in range(1, 4):
        seen += [memory["id"] for memory in result_of(board, "memory_list", page=page)["memories"]]
    assert seen == [f"m{number}" for number in range(23, 0, -1)]
    assert result_of(board, "memory_list", page=4)["reason"] == "the last page is 3."


# --- memory_update and memory_get


def test_update_changes_and_clears():
    board = equipped()
    board.records.store("x", ["a"], keywords=["k"], expires=board.now + DAY)
    result, notice = run(board, "memory_update", id="m1", content="y", keywords=None, expires=None)
    assert result["updated"]["content"] == "y" and notice == "changed m1: y"
    record = board.records.get("m1")
    assert "keywords" not in record and "expires" not in record


def test_get_gives_a_whole_memory():
    board = equipped()
    board.records.store("x" * 2000, ["a"], keywords=["k"], importance=0.75)
    memory = result_of(board, "memory_get", id="m1")["memory"]
    assert len(memory["content"]) == 2000 and (memory["keywords"], memory["importance"]) == (["k"], 0.75)


def test_get_gives_a_turn_with_its_neighbours():
    board = equipped()
    for number in range(4):
        board.journal.add(OWNER, "user", "owner", f"turn {number}")
    assert [turn["text"] for turn in result_of(board, "memory_get", id="t5")["turns"]] == ["turn 0", "turn 1", "turn 2"]
    assert [turn["id"] for turn in result_of(board, "memory_get", id="T5", around=0)["turns"]] == ["t5"]


def test_get_refuses_what_is_not_there():
    board = equipped()
    for arguments, argument, problem in (
        ({}, "id", "this is not the id of a memory"),
        ({"id": "bike"}, "id", "bike is not the id of a memory"),
        ({"id": "t99"}, None, "there is no turn t99"),
        ({"file": "../x"}, "file", "must be MEMORY.md or a day's note"),
        ({"file": "MEMORY.md"}, None, "there is no note MEMORY.md"),
    ):
        found = problem_of(board, "memory_get", OWNER, **arguments)
        assert found[0] == argument and problem in found[1], found


# --- profile_edit


def test_profile_edit_appends_replaces_and_writes():
    board = equipped()
    result, notice = run(board, "profile_edit", file="user.md", action="write", text="one")
    assert result == {"edited": "user.md", "characters": 3} and notice == "edited user.md"
    result_of(board, "profile_edit", file="user.md", action="append", text="two")
    result_of(board, "profile_edit", file="user.md", action="replace", old="one", text="three")
    assert board.profile.for_caller(OWNER).text("user.md") == "three\ntwo\n"


def test_profile_edit_is_refused_in_a_group_room():
    found = problem_of(equipped(), "profile_edit", ROOM, file="soul.md", action="append", text="x")
    assert found == ("file", "file: the profile can be changed only in a private room.")
