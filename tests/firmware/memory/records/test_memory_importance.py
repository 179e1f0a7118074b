"""Importance decays while a record is of no use: reckoned when it is read, never stored, never compounded."""

from board import DAY, NOW, Board
from engram.memory.access import OWNER
from engram.memory.records import importance
from engram.memory.records.importance import Importance, stated_importance
from samples import Numbers
from support import change


def _stored(board, importance=0.8, **more):
    return board.records.store("the boiler hums", ["house"], importance=importance, **more).id


def _now(board, ref):
    return board.records.importance.now(board.records.get(ref))


def test_for_thirty_days_and_six_more_nothing_is_lost():
    board = Board()
    ref = _stored(board)
    board.now += 36 * DAY
    assert _now(board, ref) == 80


def test_each_full_week_after_thirty_days_takes_a_tenth():
    board = Board()
    ref = _stored(board)
    found = []
    for days in (37, 43, 44, 51):
        board.now = NOW + days * DAY
        found.append(_now(board, ref))
    assert found == [70, 70, 60, 50]


def test_it_never_goes_below_nothing():
    board = Board()
    ref = _stored(board)
    board.now += 4000 * DAY
    assert _now(board, ref) == 0


def test_a_use_gives_it_all_back():
    board = Board()
    ref = _stored(board)
    board.now += 60 * DAY
    assert _now(board, ref) < 80
    board.records.used(ref)
    assert _now(board, ref) == 80


def test_what_is_recalled_has_been_of_use():
    board = Board()
    ref = _stored(board)
    board.now += 60 * DAY
    assert "boiler" in board.block("what about the boiler", OWNER, 300)
    assert _now(board, ref) == 80


def test_a_use_counts_after_a_restart():
    board = Board()
    ref = _stored(board)
    board.now += 60 * DAY
    board.records.used(ref)
    board.records.uses.save()
    board.restart()
    assert _now(board, ref) == 80


def test_a_change_counts_as_a_use():
    board = Board()
    ref = _stored(board)
    board.now += 60 * DAY
    board.records.update(ref, {"tags": ["cellar"]})
    assert _now(board, ref) == 80


def test_it_is_not_compounded_by_being_read_or_by_a_restart():
    board = Board()
    ref = _stored(board)
    board.now += 51 * DAY
    for _ in range(3):
        assert _now(board, ref) == 50
        board.restart()
    assert board.records.get(ref)["importance"] == 0.8


def test_without_a_clock_nothing_decays():
    board = Board()
    ref = _stored(board)
    board.now = 1000
    board.restart()
    assert _now(board, ref) == 80


def test_what_was_stored_without_a_clock_does_not_decay_when_the_clock_is_set():
    board = Board()
    board.now = 1000
    ref = _stored(board)
    board.now = NOW
    assert _now(board, ref) == 80


def test_the_periods_are_those_that_were_set():
    board = Board()
    records = [(1, 80, NOW - 24 * DAY)]
    change(importance, DECAY_AFTER=10, DECAY=5)
    assert Importance(None, board.clock).importance_of(records) == [(70, NOW - 24 * DAY)]


def test_many_at_once_are_reckoned_as_one_by_one():
    board = Board()
    numbers = Numbers(7)
    for at in range(30):
        board.now = NOW - numbers.below(100) * DAY
        board.records.store(
            "thing %d of the house is number %d" % (at, at * 7), ["t"], importance=numbers.below(101) / 100
        )
    board.now = NOW
    for at in range(0, 30, 4):
        board.records.used("m%d" % (at + 1))
    records = list(board.records.newest())
    together = [
        importance
        for importance, _ in board.records.importance.importance_of([stated_importance(record) for record in records])
    ]
    assert together == [board.records.importance.now(record) for record in records]
    assert len(records) == 30
