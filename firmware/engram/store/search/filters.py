"""Filters of a search by label, scope and time, as bits for each table of the index."""

from engram.store.index import codec
from engram.store.index.memtable import MOST_ROWS
from engram.store.types import MOST_MINUTES, minutes


def allowed(index, labels, scopes, since: int, until: int):
    """A function of a table that gives the bits of the rows that pass the filters, None if all do."""
    if not (labels or scopes or since or until):
        return None
    wanted = [codec.term_hash(label) for label in labels]
    one_of = [codec.term_hash(scope) for scope in scopes]
    first = minutes(since) if since else 0
    end = minutes(until) if until else MOST_MINUTES + 1

    def bits_of(table):
        groups = [rows_with_label(index, table, hash) for hash in wanted]
        if one_of:
            groups.append(_either([rows_with_label(index, table, hash) for hash in one_of]))
        if since or until:
            groups.append(rows_between(index, table, first, end))
        bits = groups[0]
        for other in groups[1:]:
            for at in range(len(bits)):
                bits[at] &= other[at]
        return bits

    return bits_of


def _either(groups: list) -> bytearray:
    bits = groups[0]
    for other in groups[1:]:
        for at in range(len(bits)):
            bits[at] |= other[at]
    return bits


def by_speaker(index, label: str):
    """A function of a table and a row: whether the row has the label; None for no label."""
    if not label:
        return None
    hash = codec.term_hash(label)
    known = {}

    def is_speaker(table, row: int) -> bool:
        number = table.number if table else 0
        if number not in known:
            known[number] = rows_with_label(index, table, hash)
        return codec.has_bit(known[number], row)

    return is_speaker


def counted(index, table, bits) -> int:
    """The number of live rows of a table (None for the lines in RAM), of those that `bits` has if given."""
    dead = index.dead_rows(table)
    rows = len(index.memtable) if table is None else table.rows
    if bits is None:
        return rows - codec.count_bits(dead)
    both = bytearray(bits)
    for at in range(len(both)):
        both[at] &= ~dead[at]
    return codec.count_bits(both)


def rows_with_label(index, table, hash: int) -> bytearray:
    """A bit for each row of a table (or, for None, of the lines in RAM) that has a label."""
    bits = _none(table)
    if table is None:
        for row, _ in index.memtable.postings(hash):
            codec.set_bit(bits, row)
    else:
        index.guarded(table, _mark_having, table, hash, bits)
    return bits


def rows_between(index, table, first: int, end: int) -> bytearray:
    """A bit for each row whose minute is from `first` on and before `end`."""
    bits = _none(table)
    if table is None:
        for row in range(len(index.memtable)):
            if first <= index.memtable.minutes[row] < end:
                codec.set_bit(bits, row)
    else:
        index.guarded(table, _mark_between, table, first, end, bits)
    return bits


def _none(table) -> bytearray:
    return bytearray((MOST_ROWS if table is None else table.rows + 7) >> 3)


def _mark_having(table, hash: int, bits: bytearray) -> None:
    found = table.find(hash)
    if found:
        for row, _ in codec.decoded(table, found, hash):
            codec.set_bit(bits, row)


def _mark_between(table, first: int, end: int, bits: bytearray) -> None:
    for row, (_, _, minute) in enumerate(table.each_row()):
        if first <= minute < end:
            codec.set_bit(bits, row)
