"""The plan of a search: what is asked for, about whom, of which days, where it is looked for, in which order."""

from board import DAY, Board
from engram.memory.access import OWNER
from engram.memory.plan import described, names_in, of_ranked
from engram.memory.recall import make_query


def _plan(board, query, tags=()):
    return of_ranked(board.recall.rank(make_query(query, OWNER, tags)))


def test_the_intent_is_told_by_how_a_query_begins():
    board = Board()
    board.records.store("The boiler was serviced by Weber", ["a"])
    intents = {
        "who services the boiler": "fact",
        "when was the boiler serviced": "time",
        "which boilers are serviced": "list",
        "what did Weber say of the boiler": "said",
        "was the boiler serviced yesterday": "event",
        "什么时候 boiler": "time",
    }
    for query, intent in intents.items():
        assert _plan(board, query).intent == intent, query


def test_days_alone_are_listed_newest_first():
    board = Board()
    board.records.store("The boiler was serviced", ["a"])
    board.now += DAY
    plan = _plan(board, "what was yesterday?")
    assert (plan.intent, plan.first, plan.last, plan.order) == ("list", "2026-09-21", "2026-09-21", "newest first")


def test_with_tags_only_memories_are_searched():
    board = Board()
    assert _plan(board, "boiler").kinds == ["memories", "turns"]
    assert _plan(board, "boiler", ["home"]).kinds == ["memories"]


def test_notes_are_named_where_there_are_some():
    board = Board()
    board.notes.for_caller(OWNER).note("the boiler drips")
    assert _plan(board, "boiler").kinds == ["memories", "turns", "notes"]


def test_names_are_words_with_a_capital_or_a_digit():
    assert names_in("Does Weber's man know what I paid in March for E-42?") == ["Weber", "March", "E-42"]


def test_a_plan_is_one_line():
    board = Board()
    board.records.store("Weber serviced the boiler", ["a"])
    line = described(_plan(board, "did Weber come today?"), 10)
    assert line == "plan: event; about Weber; 2026-09-21; memories, turns; best first, at most 10"
