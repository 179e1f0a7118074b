"""Undo takes back one change after another, of every kind, after a restart too, and as far as the last compaction."""

from board import Board
from engram.errors import NotFound
from engram.memory.access import OWNER
from samples import distinct_content
from support import raises


def _contents(board):
    return sorted(record["content"] for record in board.records.newest())


def _undo(board):
    """Undo after a restart, which must make no difference."""
    board.restart()
    return board.undo.undo()


def test_a_forgetting_with_what_it_superseded_is_taken_back_with_the_whole_history():
    board = Board()
    board.records.store("one", ["a"])
    board.records.store("two", ["a"], supersedes="m1")
    board.records.store("three", ["a"], supersedes="m2")
    board.records.update("m3", {"content": "four"})
    board.records.forget("m3")
    _undo(board)
    for _ in range(2):
        assert _contents(board) == ["four"]
        history = [version["content"] for version in board.records.history("m3")]
        assert [content for at, content in enumerate(history) if content not in history[:at]] == [
            "four",
            "three",
            "two",
            "one",
        ]
        board.compact()
        board.restart()


def test_undo_goes_on_behind_a_change_that_came_after_an_undo():
    board = Board()
    board.records.store("one", ["a"])
    board.records.store("two", ["a"])
    _undo(board)
    board.records.store("three", ["a"])
    _undo(board)
    assert _contents(board) == ["one"]
    _undo(board)
    assert _contents(board) == []


def test_a_long_text_in_any_script_is_taken_back():
    for letter, count in (("x", 8000), ("字", 5000), ("\x01", 2500)):
        board = Board()
        content = letter * count
        board.notes.for_caller(OWNER).write("MEMORY.md", content)
        board.notes.for_caller(OWNER).write("MEMORY.md", "short")
        _undo(board)
        assert board.notes.for_caller(OWNER).text("MEMORY.md") == content


def test_undo_stops_at_the_last_compaction():
    board = Board()
    board.records.store("one", ["a"])
    board.records.store("two", ["a"])
    board.records.forget("m2")
    board.compact()
    for _ in range(2):
        with raises(NotFound) as caught:
            board.undo.undo()
        assert "until the memory is compacted" in str(caught.error)
        assert _contents(board) == ["one"]
        board.restart()


def test_undo_looks_back_over_a_bounded_number_of_lines():
    board = Board()
    for number in range(110):
        board.records.store(distinct_content(number), ["a"])
    undone = 0
    with raises(NotFound):
        while True:
            board.undo.undo()
            undone += 1
    assert 90 <= undone < 110
