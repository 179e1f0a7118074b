"""The memtable: the newest lines of a log, in RAM until there are enough of them for a table of the index.

The words of each row stand one after the other as hashes of 24 bits. Whoever needs them in order sorts them part by part: so
few bytes are needed for a word, and never many in one table.
"""

from array import array
from binascii import crc32

from engram.compat import const
from engram.native import loops
from engram.store import types
from engram.store.index import codec

CHUNK_BYTES = 16384
"""Bytes of the log from which the lines in RAM become a table: bounds what is read when the log is opened."""

MOST_ROWS = const(96)
"""Rows before they become a table: more than any append has lines."""

MOST_WORDS = const(1280)
"""Words and labels for which there is room: a line that has more makes more room, and the next one a table."""

LONGEST_NAME = const(255)
"""Bytes of a label that is kept as it is: its length stands in one. Of each that may be there is more than enough room: see
tests/firmware/store/test_store_names.py."""

_SPARE_WORDS = const(96)  # room that is left for a line of common length
_REPLY_BIT = const(23)  # of an offset, as in a table


class MemTable:
    """Up to MOST_ROWS rows, in the order of their seqs, with bounded room for words and labels; read as a Table is."""

    number = 0

    def __init__(self, words: int = MOST_WORDS):
        # Made at their full size: arrays that grow bit by bit leave holes all over the heap.
        self.seqs = array("I", bytes(4 * MOST_ROWS))
        self.offsets = array("I", bytes(4 * MOST_ROWS))
        self.minutes = array("I", bytes(4 * MOST_ROWS))
        self.sessions = array("I", bytes(4 * MOST_ROWS))
        self.lengths = array("H", bytes(2 * MOST_ROWS))
        self._ends = array("H", bytes(2 * MOST_ROWS))  # of each row's words
        self.dead = bytearray(MOST_ROWS >> 3)
        self._most_words = words
        self._make_words(words)
        self.clear()

    def _make_words(self, room: int) -> None:
        self._lows = array("H", bytes(2 * room))
        self._highs = bytearray(room)

    def clear(self) -> None:
        """Drop all rows."""
        self._names = bytearray()  # each with its length before it: as strings they would take thrice the heap
        self.words = 0
        self.log_bytes = 0
        self.rows = 0
        self.used = 0
        """Words and labels of all rows."""
        for at in range(len(self.dead)):
            self.dead[at] = 0
        if len(self._highs) > self._most_words:
            self._make_words(self._most_words)

    @property
    def live(self) -> int:
        """The number of rows that are live."""
        return self.rows - codec.count_bits(self.dead)

    @property
    def is_full(self) -> bool:
        """True if the rows have to become a table."""
        is_long = self.rows == MOST_ROWS or self.used > self._most_words - _SPARE_WORDS
        return is_long or self.log_bytes >= CHUNK_BYTES

    def has_room_for(self, rows: int) -> bool:
        """True if there is room for `rows` more."""
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
        """Add the row of a line of `size` bytes that stands for an entry."""
        row, session = self.rows, entry.session
        start = self.used
        for term in entry.terms:
            if self.used - start == types.MOST_TERMS:
                break
            # As term_hash() does it, for words: a call less for each saves a tenth of the time.
            hash = crc32(term.encode()) & 0xFFFFFF
            self._put(hash if hash < codec.LABEL else hash - codec.LABEL)
        length = types.row_length(self.used - start)
        for label in types.labels(entry, seq):
            self._put(codec.term_hash(label))
            if label[0] in "#%@":
                self._put_name(label.encode())
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

    def _put_name(self, name: bytes) -> None:
        if len(name) > LONGEST_NAME:
            return
        name = bytes((len(name),)) + name
        if self._names.find(name) < 0:
            self._names.extend(name)

    def names(self) -> list:
        """The labels that are kept as they are, in order."""
        found = []
        at = 0
        while at < len(self._names):
            end = at + 1 + self._names[at]
            found.append(str(self._names[at + 1 : end], "utf-8"))
            at = end
        found.sort()
        return found

    def row_of(self, seq: int) -> int:
        """The row of a line, -1 if it is not here."""
        low, high = 0, self.rows
        while low < high:
            middle = (low + high) >> 1
            if self.seqs[middle] < seq:
                low = middle + 1
            else:
                high = middle
        return low if low < self.rows and self.seqs[low] == seq else -1

    def postings(self, hash: int):
        """Yield (row, how often it has the term, in eighths) of the rows that have a term, dead ones too."""
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

    def rows_with(self, hash: int):
        """Yield the rows that have a term, dead ones too."""
        for row, _ in self.postings(hash):
            yield row

    def mark_rows(self, hash: int, bits: bytearray) -> None:
        """Set the bits of the rows that have a term."""
        for row, _ in self.postings(hash):
            codec.set_bit(bits, row)

    def row(self, number: int) -> tuple:
        """(seq, offset, minutes) of a row."""
        return self.seqs[number], self.offsets[number] & ~(1 << _REPLY_BIT), self.minutes[number]

    def is_reply(self, number: int) -> bool:
        """True if the assistant said a row's line."""
        return bool(self.offsets[number] >> _REPLY_BIT)

    def each_row(self):
        """Yield (seq, offset, minutes) of all rows."""
        for row in range(self.rows):
            yield self.row(row)

    def order(self) -> list:
        """The rows by session, then by seq."""
        order = [self.sessions[row] << 7 | row for row in range(self.rows)]
        order.sort()
        return [key & 127 for key in order]

    def take_words(self, high: int, places, words: array) -> int:
        """See loops.take_words; sorted."""
        count = loops.take_words(self._highs, self._lows, self.used, self._ends, places, high, words)
        loops.sort(words, count)
        return count
