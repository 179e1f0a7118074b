"""The plan of a search: of which days, where it is looked for, in which order."""

from board import DAY, Board
from engram.memory.access import OWNER
from engram.memory.ranking import plan_line, plan_of
from engram.memory.recall import make_query


def _plan(board, query, tags=()):
    return plan_of(board.recall.rank(make_query(query, OWNER, tags)))


def test_days_alone_are_listed_newest_first():
    board = Board()
    board.records.store("The boiler was serviced", ["a"])
    board.now += DAY
    plan = _plan(board, "what was yesterday?")
    assert (plan.first, plan.last, plan.order) == ("2026-09-21", "2026-09-21", "newest first")


def test_with_tags_only_memories_are_searched():
    board = Board()
    assert _plan(board, "boiler").kinds == ["memories", "turns"]
    assert _plan(board, "boiler", ["home"]).kinds == ["memories"]


def test_notes_are_named_where_there_are_some():
    board = Board()
    board.notes.for_caller(OWNER).note("the boiler drips")
    assert _plan(board, "boiler").kinds == ["memories", "turns", "notes"]


def test_a_plan_is_one_line():
    board = Board()
    board.records.store("Weber serviced the boiler", ["a"])
    line = plan_line(_plan(board, "did Weber come today?"), 10)
    assert line == "plan: 2026-09-21; memories, turns; best first, at most 10"
