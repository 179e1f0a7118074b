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


def test_each_caller_lists_only_what_they_may_see():
    records = _board().records
    for caller, seen in SEES:
        assert sorted(record["id"] for record in records.newest(caller)) == seen


def test_each_caller_finds_only_what_they_may_see():
    board = _board()
    for caller, seen in SEES:
        assert sorted(record["id"] for _, record in board.search("code", 9, caller)) == seen


def test_each_caller_counts_only_what_they_may_see():
    records = _board().records
    for caller, seen in SEES:
        assert records.count(caller) == len(seen)
        assert ("code", len(seen)) in list(records.tags(caller))


def test_tags_of_others_are_not_shown():
    records = _board().records
    assert "bob" not in [tag for tag, _ in records.tags(ANN)]


def test_what_a_caller_cannot_see_they_cannot_change_or_forget():
    records = _board().records
    for attempt in (
        lambda: records.update("m1", {"tags": ["x"]}, BOB),
        lambda: records.forget("m1", BOB),
        lambda: records.store("x", ["a"], BOB, supersedes="m1"),
    ):
        with raises(NotFound):
            attempt()


def test_equal_content_of_another_scope_is_no_duplicate():
    records = _board().records
    assert records.store("the first code is 1", ["code"], BOB).outcome == "stored"


def test_similar_content_of_another_scope_is_not_given_away():
    records = _board().records
    assert records.store("the first code is 1 or 2", ["code"], BOB).similar == []


def test_the_scope_survives_restart_and_update():
    board = _board()
    board.records.update("m1", {"content": "the first code is 11"}, ANN)
    board.restart()
    with raises(NotFound):
        board.records.get("m1", BOB)
    assert board.records.get("m1", ANN)["content"] == "the first code is 11"


def test_the_history_of_what_a_caller_cannot_see_is_not_shown():
    records = _board().records
    with raises(NotFound):
        list(records.history("m1", ROOM))


def test_the_newest_change_of_another_is_not_undone():
    board = _board()
    assert "m2" in board.undo.undo(ANN)
    assert board.records.get("m3", BOB)


def test_a_group_does_not_undo_an_edit_of_the_profile():
    board = Board()
    board.profile.for_caller(OWNER).write("user.md", "new")
    with raises(NotFound):
        board.undo.undo(ROOM)
    assert board.profile.for_caller(OWNER).text("user.md") == "new"


def test_a_group_does_not_undo_a_private_forgetting():
    board = _board()
    board.records.forget("m1", ANN)
    assert "m2" in board.undo.undo(ROOM)
