"""Which rows a search may find: filters by label, scope and time, as bits for each piece of the index."""

from engram.store.index import codec
from engram.store.index.memtable import MOST_ROWS
from engram.store.types import MOST_MINUTES, minutes


def allowed(index, labels, scopes, since: int, until: int):
    """A function of a piece that gives the bits of the rows that pass the filters, None if all do."""
    if not (labels or scopes or since or until):
        return None
    wanted = [codec.term_hash(label) for label in labels]
    one_of = [codec.term_hash(scope) for scope in scopes]
    first = minutes(since) if since else 0
    end = minutes(until) if until else MOST_MINUTES + 1

    def bits_of(piece):
        groups = [rows_with_label(index, piece, hash) for hash in wanted]
        if one_of:
            groups.append(_either([rows_with_label(index, piece, hash) for hash in one_of]))
        if since or until:
            groups.append(rows_between(index, piece, first, end))
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
    """A function of a piece and a row: whether the row has the label; None for no label."""
    if not label:
        return None
    hash = codec.term_hash(label)
    known = {}

    def is_speaker(piece, row: int) -> bool:
        number = piece.number if piece else 0
        if number not in known:
            known[number] = rows_with_label(index, piece, hash)
        return codec.has_bit(known[number], row)

    return is_speaker


def counted(index, piece, bits) -> int:
    """The number of live rows of a piece (None for the lines in RAM), of those that `bits` has if given."""
    dead = index.memtable.dead if piece is None else piece.dead
    rows = len(index.memtable) if piece is None else piece.rows
    if bits is None:
        return rows - codec.count_bits(dead)
    both = bytearray(bits)
    for at in range(len(both)):
        both[at] &= ~dead[at]
    return codec.count_bits(both)


def rows_with_label(index, piece, hash: int) -> bytearray:
    """A bit for each row of a piece (or, for None, of the lines in RAM) that has a label."""
    bits = _none(piece)
    if piece is None:
        for row, _ in index.memtable.postings(hash):
            codec.set_bit(bits, row)
    else:
        index.guarded(piece, _mark_having, piece, hash, bits)
    return bits


def rows_between(index, piece, first: int, end: int) -> bytearray:
    """A bit for each row whose minute is from `first` on and before `end`."""
    bits = _none(piece)
    if piece is None:
        for row in range(len(index.memtable)):
            if first <= index.memtable.minutes[row] < end:
                codec.set_bit(bits, row)
    else:
        index.guarded(piece, _mark_between, piece, first, end, bits)
    return bits


def _none(piece) -> bytearray:
    return bytearray((MOST_ROWS if piece is None else piece.rows + 7) >> 3)


def _mark_having(piece, hash: int, bits: bytearray) -> None:
    found = piece.find(hash)
    if found:
        for row, _ in codec.decoded(piece, found, hash):
            codec.set_bit(bits, row)


def _mark_between(piece, first: int, end: int, bits: bytearray) -> None:
    for row, (_, _, minute) in enumerate(piece.each_row()):
        if first <= minute < end:
            codec.set_bit(bits, row)
