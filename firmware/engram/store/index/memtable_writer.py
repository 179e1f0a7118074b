"""Makes a piece of the index of the newest lines, which are in RAM (live.py)."""

from engram.compat import const
from engram.store.index import codec
from engram.store.index.memtable import HASH_BIAS, ROW_BITS, MemTable
from engram.store.index.table import Footer
from engram.store.index.table_writer import TableWriter, pack_row

_ROW_MASK = const(127)


def write(rows: MemTable, path: str, mean: int, epoch: int, log_bytes: int, first: int, last: int) -> None:
    """Write the piece for the lines from seq `first` to `last`; what Live.write promises."""
    order = [0] * len(rows)  # at once: a list that grows needs more in one piece
    for row in range(len(order)):
        order[row] = rows.sessions[row] << ROW_BITS | row
    order.sort()
    places = bytearray(len(order))
    for place, key in enumerate(order):
        order[place] = key & _ROW_MASK
        places[key & _ROW_MASK] = place
    _renumber(rows, places)
    rows.entries.sort()
    writer = TableWriter(path, len(rows.entries) * 2 // 3)
    try:
        _write_terms(writer, rows, order, mean)
        footer = Footer()
        writer.end_terms(footer)
        for row in order:
            writer.row_bytes(pack_row(rows.seqs[row], rows.offsets[row], rows.minutes[row]))
        footer.rows = len(order)
        footer.first, footer.last = first, last
        footer.words, footer.epoch, footer.log_bytes = rows.words, epoch, log_bytes
        for _ in writer.finish(footer, _runs(rows, order), rows.names()):
            pass
    except OSError:
        writer.abandon()
        _renumber(rows, order)
        raise


def _renumber(rows: MemTable, numbers) -> None:
    """Let each entry's row be the one that `numbers` has in its place."""
    entries = rows.entries
    for at, entry in enumerate(entries):
        entries[at] = entry & ~_ROW_MASK | numbers[entry & _ROW_MASK]


def _write_terms(writer: TableWriter, rows: MemTable, order: list, mean: int) -> None:
    entries, used, lengths = rows.entries, len(rows.entries), rows.lengths
    at = 0
    while at < used:
        biased = entries[at] >> ROW_BITS
        writer.begin(biased + HASH_BIAS)
        while at < used and entries[at] >> ROW_BITS == biased:
            entry = entries[at]
            start = at
            at += 1
            while at < used and entries[at] == entry:
                at += 1
            place = entry & _ROW_MASK
            writer.add(place, codec.level(at - start, lengths[order[place]], mean))
        writer.end()


def _runs(rows: MemTable, order: list):
    """Yield (session, row after the last) of each session's run."""
    session = rows.sessions[order[0]]
    for place, row in enumerate(order):
        if rows.sessions[row] != session:
            yield session, place
            session = rows.sessions[row]
    yield session, len(order)
