"""Filters of a search by label, scope and time, as bits for each table of the index."""

from engram.store.index import codec
from engram.store.types import MOST_MINUTES, minutes


def allowed(index, labels, scopes, since: int, until: int):
    """Return a function of a table for the bits of rows that pass the filters, None for all."""
    if not (labels or scopes or since or until):
        return None
    wanted = [codec.term_hash(label) for label in labels]
    one_of = [codec.term_hash(scope) for scope in scopes]
    first = minutes(since) if since else 0
    end = minutes(until) if until else MOST_MINUTES + 1

    def bits_of(table):
        bits = None
        for hash in wanted:
            bits = common(bits, rows_with_label(index, table, hash))
        if one_of:
            bits = common(bits, rows_with_label(index, table, *one_of))
        if since or until:
            bits = common(bits, _marked(index, table, _mark, _rows_between(table, first, end)))
        return bits

    return bits_of


def common(bits, others: "bytes | bytearray"):
    """Return the bits set in both; None stands for all."""
    if bits is None:
        return others
    both = int.from_bytes(bits, "little") & int.from_bytes(others, "little")
    return both.to_bytes(len(bits), "little")


def without(bits, dead: bytearray):
    """Return the bits of rows (None for all) that are not dead."""
    whole = (1 << 8 * len(dead)) - 1
    live = int.from_bytes(dead, "little") ^ whole
    return common(bits, live.to_bytes(len(dead), "little"))


def by_speaker(index, label: str):
    """Return a function (table, row) that is True if the row has the label; None without one."""
    if not label:
        return None
    hash = codec.term_hash(label)
    known = {}

    def is_speaker(table, row: int) -> bool:
        if table.number not in known:
            known[table.number] = rows_with_label(index, table, hash)
        return codec.has_bit(known[table.number], row)

    return is_speaker


def counted(table, bits) -> int:
    """Return the number of live rows, among `bits` if given."""
    return table.live if bits is None else codec.count_bits(without(bits, table.dead))


def rows_with_label(index, table, *hashes: int) -> bytearray:
    """Return a bit for each row with one of some labels."""
    return _marked(index, table, _mark_labels, table, hashes)


def _marked(index, table, mark, *arguments) -> bytearray:
    bits = bytearray((table.rows + 7) >> 3)
    index.guarded(table, mark, bits, *arguments)
    return bits


def _mark_labels(bits: bytearray, table, hashes) -> None:
    for hash in hashes:
        table.mark_rows(hash, bits)


def _mark(bits: bytearray, rows) -> None:
    for row in rows:
        codec.set_bit(bits, row)


def _rows_between(table, first: int, end: int):
    for row, (_, _, minute) in enumerate(table.each_row()):
        if first <= minute < end:
            yield row
