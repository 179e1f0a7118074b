"""The reserve: room that is kept back on a flash, taken bit by bit."""

from board import Board
from engram import files
from engram.store.log.reserve import Reserve
from support import folder


def test_it_is_taken_in_parts_and_kept_when_all_of_it_is():
    place = folder() + "/reserve.bin"
    reserve = Reserve(place, 32768)
    parts = 0
    while reserve.allocate_some():
        parts += 1
    assert parts == (32768 + 12288) // 8192
    assert reserve.keep() and files.size(place) == 32768 + 12288


def test_what_was_taken_of_it_goes_when_it_is_released():
    place = folder() + "/reserve.bin"
    reserve = Reserve(place, 32768)
    assert reserve.allocate_some() and reserve.allocate_some()
    assert reserve.release()
    assert files.size(place) == -1
    assert reserve.keep() and files.size(place) == 32768 + 12288


def test_a_compaction_that_is_broken_off_leaves_it_to_the_background():
    board = Board()
    for number in range(3):
        board.records.store("The bike %d is green" % number, ["bike"])
    reserve = board.place + "/memory/reserve.bin"
    board.records_store.reserve.keep()
    kept = files.size(reserve)
    work = board.records.compacting()
    while not board.records_store.is_compacting:
        next(work)
    work.close()
    assert files.size(reserve) == -1
    while board.records.entries.tick():
        pass
    assert files.size(reserve) == kept > 0
