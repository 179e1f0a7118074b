"""The tools that list, change, read and edit: what each gives, and what each says to a wrong call."""

from board import DAY, ROOM
from calls import equipped, fill, problem_of, result_of, run
from engram.memory.access import OWNER

# --- memory_search without words


def test_list_goes_page_by_page():
    board = equipped()
    fill(board, 23)
    first = result_of(board, "memory_search", query="")
    assert (first["page"], first["pages"], first["total"]) == (1, 3, 23)
    seen = []
    for page in range(1, 4):
        seen += [memory["id"] for memory in result_of(board, "memory_search", query=" ", page=page)["memories"]]
    assert seen == [f"m{number}" for number in range(23, 0, -1)]
    assert result_of(board, "memory_search", query=" ", page=4)["reason"] == "the last page is 3."


# --- memory_update, and memory_search by an id


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
    memory = result_of(board, "memory_search", query="m1")["memory"]
    assert len(memory["content"]) == 2000 and (memory["keywords"], memory["importance"]) == (["k"], 0.75)


def test_get_gives_a_turn_with_its_neighbours():
    board = equipped()
    for number in range(4):
        board.journal.add(OWNER, "user", "owner", f"turn {number}")
    for query in ("t5", " t5 "):
        turns = result_of(board, "memory_search", query=query)["turns"]
        assert [turn["text"] for turn in turns] == ["turn 0", "turn 1", "turn 2"]


def test_get_refuses_what_is_not_there():
    board = equipped()
    for query, argument, problem in (
        ("m99", None, "there is no memory m99"),
        ("t99", None, "there is no turn t99"),
        ("../x.md", "query", "must be MEMORY.md or a day's note"),
        ("MEMORY.md#2", None, "there is no note MEMORY.md"),
    ):
        found = problem_of(board, "memory_search", OWNER, query=query)
        assert found[0] == argument and problem in found[1], found


# --- file_edit


def test_file_edit_appends_replaces_and_writes():
    board = equipped()
    result, notice = run(board, "file_edit", file="user.md", action="write", text="one")
    assert result == {"edited": "user.md", "characters": 3} and notice == "edited user.md"
    result_of(board, "file_edit", file="user.md", text="two")
    result_of(board, "file_edit", file="user.md", old="one", text="three")
    assert board.profile.for_caller(OWNER).text("user.md") == "three\ntwo\n"


def test_an_empty_text_empties_only_the_task_by_itself():
    board = equipped()
    for name in ("user.md", "task.md", "today"):
        result_of(board, "file_edit", file=name, text="one")
    for name in ("user.md", "soul.md", "today"):
        assert problem_of(board, "file_edit", file=name, text="")[0] == "text"
    assert result_of(board, "file_edit", file="task.md", text="")["characters"] == 0
    assert result_of(board, "file_edit", file="user.md", action="write", text="")["characters"] == 0


def test_the_profile_is_not_edited_in_a_group_room():
    found = problem_of(equipped(), "file_edit", ROOM, file="soul.md", action="append", text="x")
    assert found == ("file", "file: the profile can be changed only in a private room.")


def test_a_line_for_today_has_its_minute():
    board = equipped()
    result, notice = run(board, "file_edit", file="today", text="It rains")
    assert result == {"edited": "2026-09-21.md", "characters": 17} and notice == "added to 2026-09-21.md: It rains"
    assert board.notes.for_caller(OWNER).text("2026-09-21.md") == "- 14:13 It rains\n"


def test_file_edit_names_the_files():
    found = problem_of(equipped(), "file_edit", file="user", text="x")
    assert found[0] == "file" and "user.md" in found[1] and "today" in found[1]
