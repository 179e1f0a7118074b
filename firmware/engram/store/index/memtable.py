"""The newest lines of a log, in RAM until there are enough of them for a piece of the index.

Each word of a row is one entry of 31 bits: the term's hash and the row, so that sorting the entries gives the postings.
"""

from array import array

from engram.compat import const, unload_module
from engram.store.index import codec

ROW_BITS = const(7)
MOST_ROWS = const(128)
"""Rows before they become a piece: with the hash they fill a small integer, which takes no heap of its own."""

NO_ROW = const(255)
MOST_WORDS = 1280
"""Words and labels for which there is room: a line that has more makes more room, and the next one a piece."""

_SPARE_WORDS = const(96)  # room that is left for a line of common length

HASH_BIAS = const(1 << 23)
"""What is taken from a hash, so that half of the entries are negative: all are small integers."""

_ROW_MASK = const(127)
_LONGEST_NAME = const(255)  # bytes of a label that is kept as it is: its length stands in one


class MemTable:
    """Up to MOST_ROWS rows, in the order of their seqs, with room for so many words and labels."""

    def __init__(self, words: int = MOST_WORDS):
        # Made at their full size: tables that grow bit by bit leave holes all over the heap. The list keeps its room when it
        # is emptied; it is one, so that it is sorted where it is.
        self.seqs = array("I", bytes(4 * MOST_ROWS))
        self.offsets = array("I", bytes(4 * MOST_ROWS))
        self.minutes = array("I", bytes(4 * MOST_ROWS))
        self.sessions = array("I", bytes(4 * MOST_ROWS))
        self.lengths = array("H", bytes(2 * MOST_ROWS))
        self.previous = bytearray(MOST_ROWS)
        self.dead = bytearray(MOST_ROWS >> 3)
        self.entries = [0] * words
        self._most_words = self._room = words
        self.clear()

    def clear(self) -> None:
        """Begin again without rows."""
        self._names = bytearray()  # each with its length before it: as strings they would take thrice the heap
        self.words = 0
        self._rows = 0
        for at in range(len(self.dead)):
            self.dead[at] = 0
        if self._room > self._most_words:
            self._room = self._most_words
            self.entries = [0] * self._room
        del self.entries[:]

    def __len__(self):
        return self._rows

    @property
    def is_full(self) -> bool:
        """Whether there is no sure room for another row."""
        return self._rows == MOST_ROWS or len(self.entries) > self._most_words - _SPARE_WORDS

    def has_room_for(self, rows: int) -> bool:
        """Whether there are places for so many more rows."""
        return self._rows + rows <= MOST_ROWS

    def _put(self, term: str, row: int) -> None:
        if len(self.entries) == self._room:
            # A full list would take twice the room for one more.
            self.entries.extend([0] * _SPARE_WORDS)
            del self.entries[self._room :]
            self._room += _SPARE_WORDS
        self.entries.append(codec.term_hash(term) - HASH_BIAS << ROW_BITS | row)

    def add(self, seq: int, offset: int, minutes: int, session: int, terms, labels) -> None:
        """Add a row; `session` is 0 if there is none."""
        row = self._rows
        length = 0
        for term in terms:
            self._put(term, row)
            length += 1
        for label in labels:
            self._put(label, row)
            if label[0] in "#%@":
                self._put_name(label.encode())
        self.previous[row] = self._last_of(session) if session else NO_ROW
        self.seqs[row] = seq
        self.offsets[row] = offset
        self.minutes[row] = minutes
        self.sessions[row] = session
        self.lengths[row] = min(length, 0xFFFF)
        self.words += length
        self._rows += 1

    def _put_name(self, name: bytes) -> None:
        if len(name) > _LONGEST_NAME:
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

    def _last_of(self, session: int) -> int:
        for row in range(self._rows - 1, -1, -1):
            if self.sessions[row] == session:
                return row
        return NO_ROW

    def row_of(self, seq: int) -> int:
        """The row of a line, -1 if it is not here."""
        low, high = 0, self._rows
        while low < high:
            middle = (low + high) >> 1
            if self.seqs[middle] < seq:
                low = middle + 1
            else:
                high = middle
        return low if low < self._rows and self.seqs[low] == seq else -1

    def matches(self, hashes: dict):
        """Yield (what `hashes` has for a term, row) for each word or label of a row that is not dead."""
        dead = self.dead
        wanted = hashes.get
        for entry in self.entries:
            value = wanted((entry >> ROW_BITS) + HASH_BIAS)
            if value is not None:
                row = entry & _ROW_MASK
                if not dead[row >> 3] >> (row & 7) & 1:
                    yield value, row

    def counts(self, hashes: list):
        """Yield (row, how often it has each of some terms) for the rows that are not dead and have one; one list is lent.

        After a piece could not be written a row comes more than once, each time with other terms.
        """
        here = -1
        counts = [0] * len(hashes)
        none = tuple(counts)
        for number, row in self.matches({hash: number for number, hash in enumerate(hashes)}):
            if row != here:
                if here >= 0:
                    yield here, counts
                here = row
                counts[:] = none
            counts[number] += 1
        if here >= 0:
            yield here, counts

    def having(self, hash: int) -> list:
        """The seqs of the rows that have a label, dead ones too."""
        wanted = hash - HASH_BIAS
        return [self.seqs[entry & _ROW_MASK] for entry in self.entries if entry >> ROW_BITS == wanted]

    def write(self, path: str, mean: int, epoch: int, log_bytes: int, first: int, last: int) -> None:
        """Write the rows as a piece for the lines from seq `first` to `last`; clear them afterwards.

        `mean` is 16 times the mean number of words of a row.
        """
        from engram.store.index.memtable_writer import write  # when a board only reads, its heap is for searches

        write(self, path, mean, epoch, log_bytes, first, last)
        unload_module("engram.store.index.memtable_writer")  # its 2 KB are for the merge that may follow
