"""Which rows a search may find: filters by label, scope and time, as bits for each piece of the index."""

from engram.store import codec
from engram.store.entry import MOST_MINUTES, minutes


def allowed(index, labels, scopes, since: int, until: int):
    """A function of a piece that gives the bits of the rows that pass the filters, None if all do."""
    if not (labels or scopes or since or until):
        return None
    wanted = [codec.term_hash(label) for label in labels]
    one_of = [codec.term_hash(scope) for scope in scopes]
    first = minutes(since) if since else 0
    end = minutes(until) if until else MOST_MINUTES + 1

    def bits_of(piece):
        groups = [index.bits(piece, hash) for hash in wanted]
        if one_of:
            groups.append(_either([index.bits(piece, hash) for hash in one_of]))
        if since or until:
            groups.append(index.times(piece, first, end))
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
            known[number] = index.bits(piece, hash)
        return codec.has_bit(known[number], row)

    return is_speaker


def counted(index, piece, bits) -> int:
    """The number of live rows of a piece (None for the lines in RAM), of those that `bits` has if given."""
    dead = index.live.dead if piece is None else piece.dead
    rows = len(index.live) if piece is None else piece.rows
    if bits is None:
        return rows - codec.count_bits(dead)
    both = bytearray(bits)
    for at in range(len(both)):
        both[at] &= ~dead[at]
    return codec.count_bits(both)
