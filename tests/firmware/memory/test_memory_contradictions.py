"""Memories that say different things of one attribute are told as such, newest first."""

from board import ANN, DAY, ROOM, Board
from engram.memory import contradictions
from engram.memory.access import OWNER


def _board(said="I live in Berlin", caller=OWNER, who="owner"):
    board = Board()
    board.records.store("The user lives in Paris", ["home"])
    board.now += DAY
    turn = board.journal.add(caller, "user", who, said)
    return board, "t%d" % turn


def _changes(board, query="where do I live, Paris or Berlin", caller=OWNER):
    return board.recall.changes(board.find(query, caller), caller)


def test_a_later_turn_contradicts_a_memory():
    board, turn = _board()
    assert _changes(board) == [(turn, "m1")]


def test_an_earlier_turn_is_what_is_changed():
    board = Board()
    turn = board.journal.add(OWNER, "user", "owner", "I live in Berlin")
    board.now += DAY
    board.records.store("The user lives in Paris", ["home"])
    assert _changes(board) == [("m1", "t%d" % turn)]


def test_the_same_value_is_no_contradiction():
    board, _ = _board("I live in Paris")
    assert _changes(board) == []


def test_other_people_and_groups_speak_of_themselves():
    for caller, who in ((ANN, "ann"), (ROOM, "ann")):
        board, _ = _board(caller=caller, who=who)
        assert _changes(board) == []
    board, _ = _board(caller=ROOM, who="ann")
    assert _changes(board, caller=ROOM) == []


def test_others_words_are_not_compared_also_where_they_correct_something():
    for forwarded, quoted, corrects in (("Bob", "", 0), ("Bob", "", 1), ("", "so?", 1)):
        board = Board()
        board.records.store("The user lives in Paris", ["home"])
        board.now += DAY
        said = OWNER, "user", "owner", "I live in Berlin"
        board.journal.add(*said, forwarded=forwarded, quoted=quoted, corrects=corrects)
        assert _changes(board) == [], (forwarded, quoted, corrects)


def test_of_three_values_each_pair_is_told_newest_first():
    board, turn = _board()
    board.now += DAY
    last = "t%d" % board.journal.add(OWNER, "user", "owner", "I live in Rome")
    assert _changes(board, "where do I live, Paris, Berlin or Rome") == [(last, turn), (last, "m1"), (turn, "m1")]


def _compared(older, newer):
    return contradictions.find([(1, "m1", older), (2, "t9", newer)])


def test_attributes_of_all_kinds_are_compared():
    for older, newer in (
        ("The user's favourite colour is blue", "actually my favourite colour is green these days"),
        ("The bike is red", "the bike is green"),
        ("The rent is 900 euros", "the rent is 950 euros"),
        ("The dentist's appointment is on Tuesday", "the dentist's appointment is on Friday"),
    ):
        assert _compared(older, newer) == [("t9", "m1")], (older, newer)


def test_texts_without_a_word_in_common_are_not_compared():
    assert _compared("The cat sleeps on the sofa", "my rent is 950 euros") == []


def test_what_is_newer_stands_before_what_it_changes_and_the_rest_as_it_was():
    board = Board()
    for content in ("The bike has a bell", "The bike is red", "The bike was a present"):
        board.records.store(content, ["bike"])
        board.now += DAY
    turn = "t%d" % board.journal.add(OWNER, "user", "owner", "the bike is green")
    found = board.find("bike", OWNER)
    found.sort(key=lambda item: item.id)
    assert board.recall.changes(found, OWNER) == [(turn, "m2")]
    assert [item.id for item in found] == ["m1", turn, "m2", "m3"]
