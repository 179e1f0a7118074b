"""Import and export as JSON Lines: what leaves one board arrives on another as it was, and once."""

import random

from board import ANN, DAY, NOW
from engram import log_line
from engram.memory.access import OWNER
from movers import MANY, answered, fill, imported, live, memories, mover, restarted, rows, stored
from support import rounds

# --- there and back


def test_a_memory_arrives_on_an_empty_board_as_it_left_with_its_history_and_uses():
    for seed in range(rounds(3, 1)):
        random.seed(seed)
        board = fill(mover(segment_bytes=4000), MANY)
        left, was, now = answered(board, "/export"), rows(board), live(board)
        other = mover()
        other.now = NOW + 99 * DAY
        imported(other, left)
        assert rows(other) == was and live(other) == now
        assert rows(restarted(other)) == was


def test_what_the_board_knows_already_from_elsewhere_is_not_stored_twice():
    lines = memories(stored("My bike is green", "Bob sings"))
    board = stored("My bike is green.")
    assert imported(board, lines) == ["there already", "stored m2"]


def test_an_edit_of_another_version_than_the_board_has_changes_nothing():
    board = stored("Ann plays chess")
    was = board.records.get("m1")["seq"]
    edit = dict(memories(board)[0], partial=True, was=was)
    board.records.update("m1", {"content": "Ann plays go"})
    lost = dict(edit, content="Ann plays bridge")
    assert imported(board, [lost]) == ["changed meanwhile"]
    assert board.records.get("m1")["content"] == "Ann plays go"
    board.undo.undo()
    assert imported(board, [lost]) == ["changed meanwhile"]
    edit["was"] = board.records.get("m1")["seq"]
    assert imported(board, [dict(edit, content="Ann plays bridge")]) == ["changed m1"]


def test_a_tombstone_forgets_the_memory_of_its_origin():
    board = mover()
    gone = {"origin": "esp-claw:mem-1", "deleted": True}
    assert imported(board, [gone]) == ["there already"]
    imported(board, [{"content": "Ann likes tea", "origin": "esp-claw:mem-1", "scope": "user:owner"}])
    assert imported(board, [gone], ANN) == ["there already"] and len(live(board)) == 1
    assert imported(board, [gone]) == ["forgotten"] and live(board) == []


def test_a_tombstone_reaches_what_was_evicted_to_the_trash():
    board = mover()
    board.records.evict([int(board.remember("likes tea", ["a"], origin="esp-claw:mem-1")[1:])])
    gone = {"origin": "esp-claw:mem-1", "deleted": True}
    assert imported(board, [gone], ANN) == ["there already"]
    assert imported(board, [gone]) == ["forgotten"] and board.left() == []


def test_a_partial_line_changes_the_fields_that_it_has():
    board = mover()
    line = {"content": "Ann likes tea", "tags": ["a"], "origin": "x:1", "scope": "user:owner", "partial": True}
    imported(board, [line])
    board.records.update("m1", {"pinned": True, "importance": 0.9, "type": "preference"})
    for content, more in (("Ann likes coffee", {}), ("Ann likes milk", {"pinned": False})):
        imported(board, [dict(line, content=content, updated=board.now + 20, **more)])
        row = live(board)[0]
        assert (row["content"], row["importance"], row["type"]) == (content, 0.9, "preference")
        assert row["pinned"] == (not more)
        board.now += 30


# --- the profile and the notes


def test_texts_come_along_where_none_stand_yet():
    board = mover()
    board.profile.for_caller(OWNER).write("user.md", "Her name is Ada.\n")
    board.notes.for_caller(OWNER).write("MEMORY.md", "one\ntwo")
    board.notes.for_caller(OWNER).note("went out")
    lines = answered(board, "/export")
    note = board.notes.for_caller(OWNER).text("2026-09-21.md")
    other = mover()
    other.now += 9 * DAY
    other.notes.for_caller(OWNER).write("MEMORY.md", "mine")
    told = imported(other, [line for line in lines if "MEMORY.md" in line or "2026-09-21.md" in line or "Ada" in line])
    assert sorted(told) == [
        "not touched, since another text stands there: MEMORY.md",
        "put in its place: 2026-09-21.md",
        "put in its place: user.md",
    ]
    assert imported(other, [line for line in lines if "user.md" in line]) == ["there already"]
    assert other.profile.for_caller(OWNER).text("user.md") == "Her name is Ada.\n"
    assert (
        other.notes.for_caller(OWNER).text("2026-09-21.md") == note
        and other.notes.for_caller(OWNER).text("MEMORY.md") == "mine"
    )


def test_long_texts_come_back_whole_in_lines_that_an_import_takes():
    board = mover()
    memory, content = "私は東京に住んでいます。" * 400, "a" + "\u202e" * 1999
    board.notes.for_caller(OWNER).write("MEMORY.md", memory)
    board.remember(content, ["t"])
    lines = answered(board, "/export")
    assert max(len(line.encode()) for line in lines) < log_line.MAX_LINE
    board = mover()
    imported(board, lines)
    assert board.notes.for_caller(OWNER).text("MEMORY.md") == memory and live(board)[0]["content"] == content
