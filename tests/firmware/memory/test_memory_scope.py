"""Who sees what: a private record is its principal's alone, and a group room sees only what all may see."""

from board import ANN, ROOM, Board
from engram.errors import NotFound
from engram.memory.access import OWNER, Caller
from support import raises

BOB = Caller("bob", "chat#3", False, "")

SEES = ((ANN, ["m1", "m2"]), (BOB, ["m2", "m3"]), (ROOM, ["m2"]), (OWNER, ["m2"]))


def _board():
    """m1 is Ann's, m2 everybody's, m3 Bob's."""
    board = Board()
    board.records.store("the first code is 1", ["code", "ann"], ANN)
    board.records.store("the second code is 2", ["code"], ROOM)
    board.records.store("the third code is 3", ["code", "bob"], BOB)
    return board


def test_each_caller_gets_only_what_they_may_see():
    records = _board().records
    for caller, seen in SEES:
        for number in range(1, 4):
            ref = f"m{number}"
            if ref in seen:
                assert records.get(ref, caller)["id"] == ref
            else:
                with raises(NotFound):
                    records.get(ref, caller)


def test_each_caller_counts_only_what_they_may_see():
    records = _board().records
    for caller, seen in SEES:
        assert records.count(caller) == len(seen)
        assert ("code", len(seen)) in list(records.tags(caller))


def test_equal_content_of_another_scope_is_no_duplicate():
    records = _board().records
    assert records.store("the first code is 1", ["code"], BOB).outcome == "stored"


def test_similar_content_of_another_scope_is_not_given_away():
    records = _board().records
    assert records.store("the first code is 1 or 2", ["code"], BOB).similar == []


def test_a_group_does_not_undo_a_private_forgetting():
    board = _board()
    board.records.forget("m1", ANN)
    assert "m2" in board.undo.undo(ROOM)
