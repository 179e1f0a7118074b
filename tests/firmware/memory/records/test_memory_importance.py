"""Importance decays while a record is of no use: reckoned when it is read, never stored, never compounded."""

from board import DAY, NOW, Board


def _stored(board, importance=0.8, **more):
    return board.records.store("the boiler hums", ["house"], importance=importance, **more).id


def _now(board, ref):
    return board.records.importance.now(board.records.get(ref))


def test_each_full_week_after_thirty_days_takes_a_tenth():
    board = Board()
    ref = _stored(board)
    found = []
    for days in (37, 43, 44, 51):
        board.now = NOW + days * DAY
        found.append(_now(board, ref))
    assert found == [70, 70, 60, 50]


def test_a_use_counts_after_a_restart():
    board = Board()
    ref = _stored(board)
    board.now += 60 * DAY
    board.records.used(ref)
    board.records.uses.save()
    board.restart()
    assert _now(board, ref) == 80


def test_what_was_stored_without_a_clock_does_not_decay_when_the_clock_is_set():
    board = Board()
    board.now = 1000
    ref = _stored(board)
    board.now = NOW
    assert _now(board, ref) == 80
