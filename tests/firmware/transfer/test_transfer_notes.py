"""Imports of texts: which days' notes may come in, for whom, and that they are seen at once."""

import json

from board import ANN, DAY
from engram.memory.access import OWNER
from movers import answered, mover

TODAY = "2026-09-21.md"


def _put(board, name, content, caller=OWNER):
    """What an import of a text answers."""
    return answered(board, "/import " + json.dumps({"file": name, "text": content}), caller)


def _day(board, days):
    """The name of the note of a day, so many days before today."""
    return board.clock.day(board.now - days * DAY) + ".md"


def test_others_import_no_notes_of_other_days():
    board = mover()
    for name in (_day(board, 31), _day(board, -1), "2083-01-01.md", "1970-01-01.md"):
        assert "file: must " in _put(board, name, "- hello", ANN)[0], name
    assert board.notes.for_caller(ANN).names() == []


def test_the_owner_imports_notes_of_any_day_up_to_today():
    board = mover()
    _put(board, _day(board, 4000), "- hello")
    assert "after today, which is 2026-09-21" in _put(board, _day(board, -1), "- hello")[0]
    assert board.notes.for_caller(OWNER).names() == [_day(board, 4000)]


def test_a_board_that_does_not_know_the_day_takes_the_owners_notes_and_nobody_elses():
    board = mover()
    board.now = 0
    _put(board, TODAY, "- hello")
    _put(board, TODAY, "- hello", ANN)
    assert board.notes.for_caller(OWNER).names() == [TODAY] and board.notes.for_caller(ANN).names() == []


def test_an_imported_note_counts_against_the_people_who_may_have_files():
    board = mover(principals_most=0)
    assert "principals.most" in _put(board, TODAY, "- hello", ANN)[-1]
    assert board.notes.for_caller(ANN).names() == []
