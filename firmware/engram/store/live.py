"""The newest lines of a log, in RAM until there are enough of them for a piece of the index.

Each word of a row is one entry of 31 bits: the term's hash and the row, so that sorting the entries gives the postings.
"""

from array import array

from engram.compat import const
from engram.store import codec
from engram.store.piece import Footer, PieceWriter, buckets_for, pack_row

MOST_ROWS = const(128)
"""Rows before they become a piece: with the hash they fill a small integer, which takes no heap of its own."""

NO_ROW = const(255)
MOST_WORDS = 1536
"""Words and labels for which there is room: a line that has more makes more room, and the next one a piece."""

_ROW_BITS = const(7)
_BIAS = const(1 << 30)
_NONE = const((1 << 30) - 1)  # in the place of an entry that is not there: sorts behind all others


class Live:
    """Up to MOST_ROWS rows, in the order of their seqs."""

    def __init__(self):
        # Made at their full size: tables that grow bit by bit leave holes all over the heap.
        self.seqs = array("I", bytes(4 * MOST_ROWS))
        self.offsets = array("I", bytes(4 * MOST_ROWS))
        self.minutes = array("I", bytes(4 * MOST_ROWS))
        self.sessions = array("I", bytes(4 * MOST_ROWS))
        self.lengths = array("H", bytes(2 * MOST_ROWS))
        self.previous = bytearray(MOST_ROWS)
        self.dead = bytearray(MOST_ROWS >> 3)
        # A list, so that it is sorted where it is: a sorted copy would not fit a heap in pieces.
        self._entries = [_NONE] * MOST_WORDS
        self.clear()

    def clear(self) -> None:
        """Begin again without rows."""
        self.names = []
        self.words = 0
        self._rows = 0
        self._used = 0
        for at in range(len(self.dead)):
            self.dead[at] = 0
        if len(self._entries) > MOST_WORDS:
            self._entries = [_NONE] * MOST_WORDS
        for at in range(MOST_WORDS):
            self._entries[at] = _NONE

    def __len__(self):
        return self._rows

    @property
    def is_full(self) -> bool:
        """Whether there is no sure room for another row."""
        return self._rows == MOST_ROWS or self._used * 8 > MOST_WORDS * 7

    def _put(self, term: str, row: int) -> None:
        if self._used == len(self._entries):
            self._entries.extend([_NONE] * (MOST_WORDS >> 1))
        self._entries[self._used] = (codec.term_hash(term) << _ROW_BITS | row) - _BIAS
        self._used += 1

    def add(self, seq: int, offset: int, minutes: int, session: int, terms, labels) -> None:
        """Add a row; `session` is 0 if there is none."""
        row = self._rows
        length = 0
        for term in terms:
            self._put(term, row)
            length += 1
        for label in labels:
            self._put(label, row)
            if label[0] == "#" and label not in self.names:
                self.names.append(label)
        self.previous[row] = self._last_of(session) if session else NO_ROW
        self.seqs[row] = seq
        self.offsets[row] = offset
        self.minutes[row] = minutes
        self.sessions[row] = session
        self.lengths[row] = min(length, 0xFFFF)
        self.words += length
        self._rows += 1

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
        mask = (1 << _ROW_BITS) - 1
        dead = self.dead
        for at in range(self._used):
            entry = self._entries[at] + _BIAS
            wanted = hashes.get(entry >> _ROW_BITS)
            if wanted is not None:
                row = entry & mask
                if not dead[row >> 3] >> (row & 7) & 1:
                    yield wanted, row

    def having(self, hash: int) -> list:
        """The seqs of the rows that have a label, dead ones too."""
        mask = (1 << _ROW_BITS) - 1
        found = []
        for at in range(self._used):
            entry = self._entries[at] + _BIAS
            if entry >> _ROW_BITS == hash:
                found.append(self.seqs[entry & mask])
        return found

    def count(self, hash: int) -> int:
        """The number of rows that have a term and are not dead."""
        last = -1
        total = 0
        for _, row in self.matches({hash: 0}):
            # Entries stand in the order of rows: a word's repetitions follow each other.
            total += row != last
            last = row
        return total

    def write(self, path: str, mean: int, epoch: int, log_bytes: int) -> None:
        """Write the rows as a piece; `mean` is 16 times the mean number of words of a row. Clear them afterwards."""
        order = [self.sessions[row] << _ROW_BITS | row for row in range(self._rows)]
        order.sort()
        mask = (1 << _ROW_BITS) - 1
        places = bytearray(len(order))
        for place, key in enumerate(order):
            order[place] = key & mask
            places[key & mask] = place
        self._renumber(places)
        self._entries.sort()
        writer = PieceWriter(path, buckets_for(self._used * 2 // 3))
        try:
            self._write_terms(writer, order, mean)
            footer = Footer()
            footer.rows_at = writer.end_terms()
            for row in order:
                writer.rows(pack_row(self.seqs[row], self.offsets[row], self.minutes[row]))
            footer.rows = len(order)
            footer.first, footer.last = self.seqs[0], self.seqs[self._rows - 1]
            footer.words, footer.epoch, footer.log_bytes = self.words, epoch, log_bytes
            writer.finish(footer, self._runs(order), (name_bytes(name) for name in self.names))
        except OSError:
            writer.abandon()
            self._renumber(order)
            raise

    def _renumber(self, rows) -> None:
        """Let each entry's row be the one that `rows` has in its place."""
        mask = (1 << _ROW_BITS) - 1
        for at in range(self._used):
            entry = self._entries[at] + _BIAS
            self._entries[at] = (entry & ~mask | rows[entry & mask]) - _BIAS

    def _write_terms(self, writer, order, mean) -> None:
        mask = (1 << _ROW_BITS) - 1
        entries, used = self._entries, self._used
        at = 0
        while at < used:
            hash = entries[at] + _BIAS >> _ROW_BITS
            writer.begin_list(hash)
            postings = Postings(writer.out, hash)
            while at < used and entries[at] + _BIAS >> _ROW_BITS == hash:
                place = entries[at] + _BIAS & mask
                count = 1
                at += 1
                while at < used and entries[at] == entries[at - 1]:
                    count += 1
                    at += 1
                postings.add(place, codec.level(count, self.lengths[order[place]], mean))
            postings.end()
            writer.end_list(hash, postings.count)

    def _runs(self, order):
        last = -1
        for place, row in enumerate(order):
            session = self.sessions[row]
            if session != last:
                last = session
                yield run_bytes(session, place)


class Postings:
    """Encodes one term's postings into `out`, rows ascending."""

    def __init__(self, out: bytearray, hash: int):
        self.out = out
        self.count = 0
        self._is_label = hash >= codec.LABEL
        self._last = -1
        self._start = -1

    def add(self, row: int, level: int) -> None:
        """Add a row."""
        self.count += 1
        if not self._is_label:
            codec.put_varint(self.out, row - self._last - 1 << 3 | level)
            self._last = row
        elif self._start >= 0 and row == self._last + 1:
            self._last = row
        else:
            self._put_run(row)
            self._start = self._last = row

    def _put_run(self, row: int) -> None:
        # The rows that have the label, then those up to the next that has it not.
        if self._start >= 0:
            codec.put_varint(self.out, self._last - self._start)
            codec.put_varint(self.out, row - self._last - 2)
        else:
            codec.put_varint(self.out, row)

    def end(self) -> None:
        """There are no more rows."""
        if self._start >= 0:
            codec.put_varint(self.out, self._last - self._start)


def run_bytes(session: int, row: int) -> bytes:
    """A run's bytes in a piece."""
    return bytes((session & 0xFF, session >> 8 & 0xFF, session >> 16, row & 0xFF, row >> 8))


def name_bytes(name: str) -> bytes:
    """A label's bytes among a piece's names."""
    data = name.encode()
    return bytes((len(data),)) + data
