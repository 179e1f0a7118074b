"""Records: what is stored is found, what has changed takes the place of the old, what is forgotten has gone."""

from board import ANN, NOW, Board
from engram.errors import NotFound, StoreFull
from support import raises


def _contents(board, **more):
    return [record["content"] for record in board.records.newest(**more)]


def _found(board, query, limit=10):
    return [record["content"] for _, record in board.search(query, limit)]


def test_tags_have_one_form():
    board = Board()
    ref = board.records.store("x y z", ["#Big Cats", "big,cats", "CATS"]).id
    assert board.records.get(ref)["tags"] == ["big-cats", "cats"]
    assert _contents(board, tags=["Big Cats"]) == ["x y z"]


# --- duplicates


def test_facts_of_another_scope_are_not_named():
    records = Board().records
    records.store("I live in Paris", ["home"], scope="user:bob")
    assert records.store("I live in Paris today", ["home"]).similar == []


# --- updates


def test_fields_can_be_cleared():
    board = Board()
    ref = board.records.store("x y", ["a"], keywords=["k"], expires=NOW + 60, turns=["t3"]).id
    board.records.update(ref, {"keywords": None, "expires": None, "turns": None})
    board.restart()
    record = board.records.get(ref)
    assert not [name for name in ("keywords", "expires", "turns") if name in record]


# --- change and history


def test_a_superseded_record_can_be_neither_changed_nor_superseded_again():
    records = Board().records
    old = records.store("Ann lives in Rome", ["ann"]).id
    records.store("Ann lives in Oslo", ["ann"], supersedes=old)
    for change in (
        lambda: records.update(old, {"tags": ["x"]}),
        lambda: records.forget(old),
        lambda: records.store("Ann lives in Bern", ["ann"], supersedes=old),
    ):
        with raises(NotFound) as caught:
            change()
        assert "a newer one has taken its place" in str(caught.error)


def test_history_has_all_versions_newest_first():
    board = Board()
    first = board.records.store("v1", ["a"]).id
    board.records.update(first, {"content": "v2"})
    second = board.records.store("v3", ["a"], supersedes=first).id
    board.records.update(second, {"content": "v4"})
    for _ in range(2):
        assert [version["content"] for version in board.records.history(second)] == ["v4", "v3", "v2", "v1"]
        board.compact()
        board.restart()


def test_a_record_that_has_expired_is_neither_found_nor_listed():
    board = Board()
    board.records.store("parked on level 3", ["a"], expires=NOW + 60)
    board.now = NOW + 59
    assert _found(board, "parked") and _contents(board)
    board.now = NOW + 60
    assert _found(board, "parked") == [] and _contents(board) == []


# --- limits


def test_a_full_memory_refuses_to_grow_and_says_what_to_do():
    records = Board(records_bytes=2000).records
    with raises(StoreFull) as caught:
        for number in range(100):
            records.store(f"Ann likes song{number}", ["a"])
    assert "forget something" in str(caught.error)
    with raises(StoreFull):
        records.update("m1", {"content": "something else"})


def test_a_repeated_memory_lasts_as_long_as_it_is_said_to():
    for again in (0, NOW + 900):
        board = Board()
        ref = board.records.store("the key is under the mat", ["t"], expires=NOW + 100, scope="user:ann").id
        told = board.records.store("the key is under the mat", ["t"], expires=again, scope="user:ann")
        assert (told.outcome, told.id) == ("duplicate", ref)
        board.now += 200
        assert [record["id"] for record in board.records.newest(ANN)] == [ref]
