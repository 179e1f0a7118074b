"""Filters of a search by label, scope and time, as bits for each table of the index."""

from engram.store.index import codec
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
            groups.append(_marked(index, table, _rows_between(table, first, end)))
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
        if table.number not in known:
            known[table.number] = rows_with_label(index, table, hash)
        return codec.has_bit(known[table.number], row)

    return is_speaker


def counted(table, bits) -> int:
    """The number of live rows of a table, of those that `bits` has if given."""
    if bits is None:
        return table.live
    both = bytearray(bits)
    for at in range(len(both)):
        both[at] &= ~table.dead[at]
    return codec.count_bits(both)


def rows_with_label(index, table, hash: int) -> bytearray:
    """A bit for each row of a table that has a label."""
    return _marked(index, table, table.rows_with(hash))


def _marked(index, table, rows) -> bytearray:
    bits = bytearray((table.rows + 7) >> 3)
    index.guarded(table, _mark, bits, rows)
    return bits


def _mark(bits: bytearray, rows) -> None:
    for row in rows:
        codec.set_bit(bits, row)


def _rows_between(table, first: int, end: int):
    """Yield the rows whose minute is from `first` on and before `end`."""
    for row, (_, _, minute) in enumerate(table.each_row()):
        if first <= minute < end:
            yield row
