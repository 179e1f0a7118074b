"""Makes a table of the index of the rows of a memtable."""

from engram.compat import const
from engram.store.index import codec
from engram.store.index.memtable import MemTable
from engram.store.index.table import Footer
from engram.store.index.table_writer import TableWriter, pack_row
from engram.store.types import EIGHTHS

_ROW_BITS = const(7)
_ROW_MASK = const(127)
_PARTS = const(8)  # of the hashes, which are sorted one after the other: bounds the heap
_PART_BITS = const(5)  # of the upper byte of a hash
_PART_WORDS = const(256)


def write_table(rows: MemTable, path: str, mean: int, epoch: int, first: int, last: int) -> None:
    """Write the rows as a table at `path`, for all lines from seq `first` to `last`; they stay in RAM.

    `mean` is 16 times the mean number of words of a row.
    """
    order = [0] * rows.rows  # at once: a list that grows needs more in one table
    for row in range(len(order)):
        order[row] = rows.sessions[row] << _ROW_BITS | row
    order.sort()
    places = bytearray(len(order))
    for place, key in enumerate(order):
        order[place] = key & _ROW_MASK
        places[key & _ROW_MASK] = place
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
    lengths = rows.lengths
    found = [0] * _PART_WORDS
    for part in range(_PARTS):
        del found[:]
        rows.collect(part << _PART_BITS, part + 1 << _PART_BITS, places, found)
        found.sort()
        at, used = 0, len(found)
        while at < used:
            hash = found[at] >> _ROW_BITS + 1
            writer.begin_term(part << _PART_BITS + 16 | hash)
            while at < used and found[at] >> _ROW_BITS + 1 == hash:
                entry = found[at] >> 1
                count = 0
                while at < used and found[at] >> 1 == entry:
                    count += 1 if found[at] & 1 else EIGHTHS
                    at += 1
                place = entry & _ROW_MASK
                writer.add_posting(place, codec.level(count, lengths[order[place]], mean))
            writer.end_term()


def _runs(rows: MemTable, order: list):
    """Yield (session, row after the last) of each session's run."""
    session = rows.sessions[order[0]]
    for place, row in enumerate(order):
        if rows.sessions[row] != session:
            yield session, place
            session = rows.sessions[row]
    yield session, len(order)
