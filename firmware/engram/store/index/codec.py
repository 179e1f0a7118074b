"""Numbers and postings as the index in flash has them. All integers, so that every runtime ranks alike.

    varint     seven bits a byte, low ones first, the top bit set on all but the last
    words      for each row half bytes, the high one of a byte first: the number of rows passed over since the last one in
               digits of 1 to 8 as 8 to 15, the highest first, none for 0; then the level of the word's weight, 0 to 7.
               A digit at the end has no meaning
    labels     pairs of varints: rows that do not have the label, then rows that do

In RAM each row is an integer: its number times 8, plus the level.

A term is known by a hash of 24 bits, made from its crc32; those of labels are the highest eighth. That a word of a query
shares its hash with one of ten thousand others has a chance of one in 1,500; then the two are one word to the index.
The first half of a word's hash is that of its first five letters, so that words which begin alike stand together.
"""

from array import array
from binascii import crc32

from engram.native import loops

LABEL = 0xE00000
"""First hash of labels; words are below."""

_LABEL_MARKS = const("#@~%!=&^")
_LEVEL_FIRST = const(475)  # BM25's term weight, in thousandths, at which level 0 begins
_LEVEL_STEP = const(150)
_LEVEL_TOP = const(7)
LEVELS = (11, 14, 17, 20, 23, 26, 29, 32)
"""Weight of each level, in twentieths."""

_FLAT = const(540)  # k1 * (1 - b) for k1 .9 and b .4, in thousandths
_SLOPE = const(360)  # k1 * b
_GAIN = const(1900)  # k1 + 1
_FRACTION = const(16)  # of the mean length
_MOST_COUNT = const(512)  # eighths of a word's count: what follows stays a small integer

_EIGHTHS = const(8)  # types.EIGHTHS: an import within an import takes more of the stack
_LEAST_LENGTH = const(160)  # eighths: the shortest rows do not gain from being shorter

SLOTS = 513
NO_SLOT = const(0)
"""Slot of rows without a session."""
_SPARE = const(16)  # bytes that a list may have more than rows

_BITS = const(b"\0\1\1\2\1\2\2\3\1\2\2\3\2\3\3\4")


BEGIN = const(5)
"""Letters at the begin of a word by which it is related to others."""

BEGIN_BITS = 0xFFF000
"""Bits of a word's hash that its begin gives."""

_HASH_MARK = const("*")  # of a term that is a hash of six hexadecimal digits


def word_hash(term: str) -> int:
    bits = crc32(term.encode()) & 0xFFFFFF
    if len(term) > BEGIN:
        bits = crc32(term[:BEGIN].encode()) & BEGIN_BITS | bits & ~BEGIN_BITS
    return bits if bits < LABEL else bits - LABEL


def term_hash(term: str) -> int:
    if term[0] in _LABEL_MARKS:
        return crc32(term.encode()) & 0xFFFFFF | LABEL
    return int(term[1:], 16) if term[0] == _HASH_MARK else word_hash(term)


def level(count: int, length: int, mean: int) -> int:
    """Return a word's level; lengths are in eighths, `mean` is 16 times the mean in words."""
    count = min(count, _MOST_COUNT)
    length = max(length, _LEAST_LENGTH)
    weight = count * _GAIN * 1000 // (count * 1000 + _EIGHTHS * _FLAT + _SLOPE * length * _FRACTION // mean)
    return max(0, min(_LEVEL_TOP, (weight - _LEVEL_FIRST) // _LEVEL_STEP))


def put_varint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def varints(parts):
    """Yield the varints in parts of bytes."""
    value = shift = 0
    for part in parts:
        for byte in part:
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte <= 0x7F:
                yield value
                value = shift = 0


class Lists:
    """A buffer lent for one list at a time; its content lasts until the next."""

    def __init__(self):
        self.rows = array("I")
        self.data = memoryview(bytearray())

    def make_room(self, rows: int) -> None:
        if len(self.rows) < rows:
            self.rows = array("I", bytes(4 * rows))
            self.data = memoryview(bytearray(rows + _SPARE))

    def encode(self, hash: int, rows, count: int) -> memoryview:
        """Return the bytes of a term's rows, and their check."""
        data = self.data
        if hash < LABEL:
            size = loops.pack_words(rows, count, data, len(data))
            if size & 1:
                data[size >> 1] = data[size >> 1] << 4 & 0xF0 | 8  # a digit that has no meaning
            size = size + 1 >> 1
        else:
            size = loops.pack_labels(rows, count, data, len(data))
        data[size] = crc32(data[:size]) & 0xFF
        return data[: size + 1]


lists = Lists()


def slot_of(session: int) -> int:
    """Return a session's slot for counting, 0 for none."""
    return session % (SLOTS - 1) + 1 if session else NO_SLOT


class SessionSizes:
    """Rows by session slot over tables and RAM, recounted after tables change."""

    def __init__(self):
        self._sizes = array("H", bytes(2 * SLOTS))
        self._is_known = False

    def forget(self) -> None:
        self._is_known = False

    def add_rows(self, session: int, rows: int = 1) -> None:
        if session:
            slot = slot_of(session)
            self._sizes[slot] = min(0xFFFF, self._sizes[slot] + rows)

    def by_slot(self, index) -> array:
        if not self._is_known:
            for slot in range(SLOTS):
                self._sizes[slot] = 0
            for row in range(index.memtable.rows):
                self.add_rows(index.memtable.sessions[row])
            for table in list(index.tables):
                index.guarded(table, self._add_table, table)
            self._is_known = True
        return self._sizes

    def _add_table(self, table) -> None:
        first = 0
        for session, end in table.each_run():
            self.add_rows(session, end - first)
            first = end


def has_bit(bits, row: int) -> bool:
    return bool(bits[row >> 3] >> (row & 7) & 1)


def set_bit(bits: bytearray, row: int) -> None:
    bits[row >> 3] |= 1 << (row & 7)


def count_bits(bits) -> int:
    total = 0
    for byte in bits:
        if byte:
            total += _BITS[byte & 15] + _BITS[byte >> 4]
    return total


def merged(lists: list):
    """Yield the merged items of sorted iterators, each once."""
    heads: list = [(next(names, None), names) for names in lists]
    last = None
    while True:
        heads = [head for head in heads if head[0] is not None]
        if not heads:
            return
        least = min(head[0] for head in heads)
        if least != last:
            last = least
            yield least
        heads = [(next(names, None) if name == least else name, names) for name, names in heads]
