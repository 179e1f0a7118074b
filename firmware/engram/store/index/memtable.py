"""The memtable: the newest lines of a log, in RAM until they become a table of the index.

Words are stored by row as 24-bit hashes and sorted in parts on demand, so that a word takes few bytes and no
array is large.
"""

from array import array

from engram.native import loops
from engram.store import types
from engram.store.index import codec

CHUNK_BYTES = 16384
"""Bytes of the log per table, which bounds the reading at a start."""

MOST_ROWS = const(96)
"""Maximum rows; no append has more lines."""

MOST_WORDS = const(1280)
"""Words and labels that fit; a bigger line grows the room and ends the table."""

LONGEST_NAME = const(255)
"""Maximum bytes of a label kept as it is; its length takes one byte."""

_SPARE_WORDS = const(96)  # room that is left for a line of common length
_REPLY_BIT = const(23)  # of an offset, as in a table


class MemTable:
    """Up to MOST_ROWS rows in order of seq with bounded room, read like a Table."""

    number = 0

    def __init__(self):
        # Made at their full size: arrays that grow bit by bit leave holes all over the heap.
        self.seqs = array("I", bytes(4 * MOST_ROWS))
        self.offsets = array("I", bytes(4 * MOST_ROWS))
        self.minutes = array("I", bytes(4 * MOST_ROWS))
        self.sessions = array("I", bytes(4 * MOST_ROWS))
        self.lengths = array("H", bytes(2 * MOST_ROWS))
        self._ends = array("H", bytes(2 * MOST_ROWS))  # of each row's words
        self.dead = bytearray(MOST_ROWS >> 3)
        self._make_words()
        self.clear()

    def _make_words(self) -> None:
        self._lows = array("H", bytes(2 * MOST_WORDS))
        self._highs = bytearray(MOST_WORDS)

    def clear(self) -> None:
        self._names = set()
        self.words = 0
        self.log_bytes = 0
        self.rows = 0
        self.used = 0
        for at in range(len(self.dead)):
            self.dead[at] = 0
        if len(self._highs) > MOST_WORDS:
            self._make_words()

    @property
    def live(self) -> int:
        return self.rows - codec.count_bits(self.dead)

    @property
    def is_full(self) -> bool:
        is_long = self.rows == MOST_ROWS or self.used > MOST_WORDS - _SPARE_WORDS
        return is_long or self.log_bytes >= CHUNK_BYTES

    def has_room_for(self, rows: int) -> bool:
        return self.rows + rows <= MOST_ROWS

    def _put(self, hash: int) -> None:
        at = self.used
        if at == len(self._highs):
            self._lows.extend(array("H", bytes(2 * _SPARE_WORDS)))
            self._highs.extend(bytes(_SPARE_WORDS))
        self._lows[at] = hash & 0xFFFF
        self._highs[at] = hash >> 16
        self.used = at + 1

    def add_row(self, seq: int, offset: int, size: int, entry: types.Entry) -> None:
        row, session = self.rows, entry.session
        start = self.used
        for term in entry.terms:
            if self.used - start == types.MOST_TERMS:
                break
            self._put(codec.word_hash(term))
        length = types.row_length(self.used - start)
        for label in types.labels(entry, seq):
            self._put(codec.term_hash(label))
            if label[0] in "#%@" and len(label.encode()) <= LONGEST_NAME:
                self._names.add(label)
        self.seqs[row] = seq
        self.offsets[row] = offset | entry.is_reply << _REPLY_BIT
        self.minutes[row] = types.minutes(entry.at)
        self.sessions[row] = session
        self.lengths[row] = length
        self._ends[row] = self.used
        self.words += length // types.EIGHTHS
        self.log_bytes += size
        self.rows += 1
        if entry.number < 0:
            codec.set_bit(self.dead, row)

    def names(self) -> list:
        return sorted(self._names)

    def row_of(self, seq: int) -> int:
        low, high = 0, self.rows
        while low < high:
            middle = (low + high) >> 1
            if self.seqs[middle] < seq:
                low = middle + 1
            else:
                high = middle
        return low if low < self.rows and self.seqs[low] == seq else -1

    def postings(self, hash: int):
        """Yield (row, frequency in eighths) of a term's rows, dead ones included."""
        lows, ends, low, high = self._lows, self._ends, hash & 0xFFFF, bytes((hash >> 16,))
        row = count = 0
        behind = types.HEAD  # where the words of the row's head end
        at = self._highs.find(high, 0, self.used)
        while at >= 0:
            if lows[at] == low:
                if at >= ends[row]:
                    if count:
                        yield row, count
                    count = 0
                    while at >= ends[row]:
                        behind = ends[row] + types.HEAD
                        row += 1
                count += types.EIGHTHS if at < behind else 1
            at = self._highs.find(high, at + 1, self.used)
        if count:
            yield row, count

    def hashes_near(self, hash: int) -> list:
        """Return hashes, among them those of the words that begin like that of a hash."""
        return [self._highs[at] << 16 | self._lows[at] for at in range(self.used) if self._highs[at] == hash >> 16]

    def rows_with(self, hash: int):
        for row, _ in self.postings(hash):
            yield row

    def mark_rows(self, hash: int, bits: bytearray) -> None:
        """Set the bits of the rows that have a term."""
        for row, _ in self.postings(hash):
            codec.set_bit(bits, row)

    def row(self, number: int) -> tuple:
        return self.seqs[number], self.offsets[number] & ~(1 << _REPLY_BIT), self.minutes[number]

    def is_reply(self, number: int) -> bool:
        """True if the assistant said a row's line."""
        return bool(self.offsets[number] >> _REPLY_BIT)

    def each_row(self):
        for row in range(self.rows):
            yield self.row(row)

    def order(self) -> list:
        order = [self.sessions[row] << 7 | row for row in range(self.rows)]
        order.sort()
        return [key & 127 for key in order]

    def take_words(self, high: int, places, words: array) -> int:
        count = loops.take_words(self._highs, self._lows, self.used, self._ends, places, high, words)
        loops.sort(words, count)
        return count
