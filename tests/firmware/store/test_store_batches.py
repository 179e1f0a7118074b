"""Lines that come together fit into the tables in RAM, however full these are."""

from board import Board
from engram.store.index.memtable import MOST_ROWS

BATCH = 8


def test_a_batch_that_comes_when_the_table_of_rows_is_nearly_full_is_kept_and_found():
    board = Board()
    store = board.records_store
    while store.index.memtable.rows < MOST_ROWS - BATCH // 2:
        board.remember("n%d" % store.index.memtable.rows, ["t"])
    before = board.records.count()
    gone = [1, 2, 3, 4, 5, 6, 7, 8]
    assert board.records.evict(gone) == BATCH
    for _ in range(2):
        assert board.records.count() == before - BATCH
        board.restart()


def test_a_batch_larger_than_the_memtable_becomes_several_tables():
    board = Board()
    store = board.records_store
    first = store.append(*[[("op", "compacted"), ("at", number)] for number in range(MOST_ROWS + BATCH)])
    assert len(store.index.tables) == 1 and store.index.memtable.rows == BATCH
    ref = board.remember("the bicycle is in the cellar", ["bicycle"])
    for _ in range(2):
        assert [store.line(first + number)["at"] for number in range(MOST_ROWS + BATCH)] == list(
            range(MOST_ROWS + BATCH)
        )
        assert [store.describe(line).number for line in store.newest()] == [int(ref[1:])]
        board.restart()
        store = board.records_store
