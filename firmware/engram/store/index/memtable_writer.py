"""Makes a table of the index of the rows of a memtable."""

from array import array

from engram.compat import const
from engram.native import loops
from engram.store.index import codec
from engram.store.index.memtable import MemTable
from engram.store.index.table import Footer
from engram.store.index.table_writer import TableWriter, pack_row

_PARTS = const(16)  # of the hashes, which are sorted one after the other: so they fit in small integers
_PART_BITS = const(4)  # of the upper byte of a hash
_ROW_BITS = const(10)  # of a word: its row and its level
_ROW_MASK = const(1023)


def write_table(rows: MemTable, path: str, mean: int, epoch: int, first: int, last: int) -> None:
    """Write the rows as a table at `path`, for all lines from seq `first` to `last`; they stay in RAM.

    `mean` is 16 times the mean number of words of a row.
    """
    order = rows.order()
    places = bytearray(len(order))
    for place, row in enumerate(order):
        places[row] = place
    codec.lists.make_room(len(order))
    writer = TableWriter(path, rows.used * 2 // 3)
    is_whole = False
    try:
        _write_terms(writer, rows, places, order, mean)
        footer = Footer()
        writer.end_terms(footer)
        for row in order:
            writer.write(pack_row(rows.seqs[row], rows.offsets[row], rows.minutes[row]))
        footer.rows = len(order)
        footer.first, footer.last = first, last
        footer.words, footer.epoch, footer.log_bytes = rows.words, epoch, rows.log_bytes
        for _ in writer.finish(footer, _runs(rows, order), rows.names()):
            pass
        is_whole = True
    finally:
        if not is_whole:
            writer.abandon()


def _write_terms(writer: TableWriter, rows: MemTable, places, order: list, mean: int) -> None:
    lengths = array("H", [rows.lengths[row] for row in order])
    words = array("I", bytes(4 * rows.used))
    view = memoryview(words)
    for part in range(_PARTS):
        count = rows.take_words(part << _PART_BITS, places, words)
        count = loops.join_words(words, count, lengths, mean, codec.level)
        at = 0
        while at < count:
            start, hash = at, words[at] >> _ROW_BITS
            while at < count and words[at] >> _ROW_BITS == hash:
                at += 1
            postings = array("I", [word & _ROW_MASK for word in view[start:at]])
            writer.add_term(part << _PART_BITS + 16 | hash, postings, at - start)


def _runs(rows: MemTable, order: list):
    """Yield (session, row after the last) of each session's run."""
    session = rows.sessions[order[0]]
    for place, row in enumerate(order):
        if rows.sessions[row] != session:
            yield session, place
            session = rows.sessions[row]
    yield session, len(order)
