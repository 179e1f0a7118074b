"""One sealed table of the index: an immutable file, read in place with a few small reads. table_writer.py writes it.

A table covers the log's lines from one seq to another. Its rows are ordered by session, then seq, so that a row's
neighbours in its session stand beside it and a session is one run of rows; a log without sessions has a single run.

    lists and buckets    for each bucket, in the order of the terms' hashes: the long lists of its terms, one after the other,
                         then the bucket itself: number of terms with a list (2), of others (2), check (2), then for each
                         that has a list hash (3), number of rows (2), and where the list begins (3): how far before the
                         bucket, or for a short list SHORT, its bytes times 2^SHORT_BITS, and how far behind the bucket;
                         then for each that stands in one row only hash (3), and row times 8 plus the level (2);
                         then the short lists, which are read with the bucket.
                         A list is the postings and their check (1).
    rows                 seq (4), offset of the line in its segment (3; the highest bit is set if the assistant said it),
                         minutes since 2020 (3), check (1), for each row
    names                the tags, speakers and scopes, in the order of their bytes, each with its length (1) before it
    runs                 varints for each session's run: rows minus 1, times 2, plus 1 if the session is not the one before
                         plus 1; then session minus the one before, if it is not 1
                         then for every 64th run: its session (4), first row (4), and offset in the runs (4)
    directory            where each bucket is and, in the lowest byte, a sixteenth of its size, rounded up, 255 for more (4)
    footer               see _FOOTER; its crc covers runs, directory and footer

All numbers little-endian. Bucket b has the hashes from b * 2^24 / buckets on. A check is of a crc32's low bits;
that of a bucket begins with its number plus 1, so that blank bytes are no empty bucket.
"""

import struct
from array import array
from binascii import crc32

from engram import files
from engram.native import loops
from engram.store.index import codec

_MAGIC = const(b"EGX7")
_FOOTER = const("<4sHHHHIIIIIIIIIII")
# magic, terms, rows, runs, buckets, first seq, last seq, words in all, where rows, names, runs and directory begin, crc of
# the names, bytes of the log, epoch, crc
FOOTER_BYTES = struct.calcsize(_FOOTER)
ROW_BYTES = 11
_HIGHEST = const(6)  # the offset's highest byte in a row
TERM_BYTES = 8
_LARGEST_BUCKET = const(16384)
SINGLE_BYTES = 5
SHORT = 0x800000
SHORT_BITS = 12
_BEHIND = const(0xFFF)
BUCKETS_BITS = const(6)
BUCKETS_A_PART = const(64)
RUNS_A_MARK = 64
"""Runs between two that stay in RAM."""

_ROWS_AT_ONCE = const(16)
_BUFFER = const(64)


class TableDamaged(Exception):
    """A table is not as it was written; its lines have to be indexed again."""


class Footer:
    def pack(self, crc: int) -> bytes:
        places = self.rows_at, self.names_at, self.runs_at, self.directory_at
        counts = self.terms, self.rows, self.runs, self.buckets, self.first, self.last, self.words
        rest = self.names_crc, self.log_bytes, self.epoch, crc
        return struct.pack(_FOOTER, _MAGIC, *(counts + places + rest))

    def unpack(self, data: bytes) -> int:
        """Read a footer; return its crc."""
        values = struct.unpack(_FOOTER, data)
        if values[0] != _MAGIC:
            raise TableDamaged("no footer")
        self.terms, self.rows, self.runs, self.buckets, self.first, self.last, self.words = values[1:8]
        self.rows_at, self.names_at, self.runs_at, self.directory_at = values[8:12]
        self.names_crc, self.log_bytes, self.epoch, crc = values[12:]
        return crc


class Table(Footer):
    """An open table; `dead` has a bit for each dead row."""

    def __init__(self, path: str, number: int):
        self.path = path
        self.number = number
        try:
            self._file = open(path, "rb")
        except OSError:
            raise TableDamaged("no file")
        try:
            self._open(self._file.seek(0, 2))
        except (TableDamaged, OSError, ValueError) as error:
            self.close()
            raise TableDamaged(str(error))
        self.dead = bytearray((self.rows + 7) >> 3)
        codec.lists.make_room(self.rows)
        self._has_checked_names = False
        self._runs = ()

    def _open(self, size: int) -> None:
        if size < FOOTER_BYTES:
            raise TableDamaged("too short")
        crc = self.unpack(self._read(size - FOOTER_BYTES, FOOTER_BYTES))
        end = size - FOOTER_BYTES
        if not self.rows_at <= self.names_at <= self.runs_at <= self.directory_at == end - 4 * self.buckets:
            raise TableDamaged("no sense in the footer")
        marks = 3 * -(-self.runs // RUNS_A_MARK)
        self._marks_at = self.directory_at - 4 * marks
        if self.names_at - self.rows_at != ROW_BYTES * self.rows or not self.buckets or self.runs_at >= self._marks_at:
            raise TableDamaged("no sense in the footer")
        # Read and check the part for RAM at once, in pieces, as a long one would not fit the heap.
        found = self._crc(self.runs_at, self._marks_at)
        self._marks = self._array(self._marks_at, marks)
        found = crc32(self._marks, found)
        self._directory = []
        for first in range(0, self.buckets, BUCKETS_A_PART):
            part = self._array(self.directory_at + 4 * first, min(BUCKETS_A_PART, self.buckets - first))
            self._directory.append(part)
            found = crc32(part, found)
        if crc32(self.pack(0), found) != crc:
            raise TableDamaged("the crc does not fit")

    def _crc(self, at: int, end: int) -> int:
        """Return the crc32 of some bytes of the file."""
        crc = 0
        for part in self._parts(at, end):
            crc = crc32(part, crc)
        return crc

    def close(self) -> None:
        self._file.close()

    def _read(self, at: int, size: int) -> bytes:
        files.seek(self._file, at)
        data = self._file.read(size)
        if len(data) != size:
            raise TableDamaged("too short")
        return data

    def _array(self, at: int, count: int) -> array:
        values = array("I", bytes(4 * count))
        files.seek(self._file, at)
        self._file.readinto(values)
        return values

    @property
    def has_sessions(self) -> bool:
        """True if lines belong to sessions."""
        return self.runs != 1 or self._marks[0] != 0

    @property
    def live(self) -> int:
        return self.rows - codec.count_bits(self.dead)

    # --- terms

    def find(self, hash: int):
        """Return (rows, single posting, short list's bytes, or offset and size of a list), or None."""
        lists, bucket = self.bucket(hash * self.buckets >> 24)
        data, self._behind = self._behind, b""
        wanted = bytes((hash & 0xFF, hash >> 8 & 0xFF, hash >> 16))
        at = bucket.find(wanted)
        while at >= 0 and (at % TERM_BYTES if at < lists else (at - lists) % SINGLE_BYTES):
            at = bucket.find(wanted, at + 1)
        if at < 0:
            return None
        rows, place = term(lists, bucket, at, self.bucket_at)
        if isinstance(place, int) or place[0] <= self.bucket_at:
            return rows, place
        # The bytes behind the bucket mostly were read with it; if not, no seek is needed.
        offset, size = place
        start = offset - self.bucket_at - 6 - len(bucket)
        if start + size > len(data):
            data += self._file.read(start + size - len(data))
        return rows, data[start : start + size]

    def bucket(self, number: int) -> tuple:
        """Return (bytes of terms with lists, bytes of all terms) of a bucket; TableDamaged."""
        entry = self._directory[number >> BUCKETS_BITS][number & BUCKETS_A_PART - 1]
        self.bucket_at = entry >> 8
        files.seek(self._file, self.bucket_at)
        data = self._file.read((entry & 0xFF) << 4)
        lists = (data[0] | data[1] << 8) * TERM_BYTES
        end = 6 + lists + (data[2] | data[3] << 8) * SINGLE_BYTES
        if end > len(data):
            # Only where the directory could not tell the size: else damage could ask for more than the heap has.
            if entry & 0xFF < 0xFF or end > _LARGEST_BUCKET:
                raise TableDamaged("a bucket is cut")
            data += self._file.read(end - len(data))
        terms = data[6:end]
        self._behind = data[end:]
        if crc32(terms, number + 1) & 0xFFFF != data[4] | data[5] << 8:
            raise TableDamaged("a bucket's check does not fit")
        return lists, terms

    def hashes_near(self, hash: int) -> list:
        """Return the hashes of a hash's bucket."""
        lists, bucket = self.bucket(hash * self.buckets >> 24)
        places = list(range(0, lists, TERM_BYTES)) + list(range(lists, len(bucket), SINGLE_BYTES))
        return [bucket[at] | bucket[at + 1] << 8 | bucket[at + 2] << 16 for at in places]

    def rows_with(self, hash: int) -> list:
        found = self.find(hash)
        count = self.decode(found[1], hash) if found else 0
        return [codec.lists.rows[at] >> 3 for at in range(count)]

    def mark_rows(self, hash: int, bits: bytearray) -> None:
        """Set the bits of the rows that have a term."""
        found = self.find(hash)
        if found:
            loops.mark_rows(codec.lists.rows, self.decode(found[1], hash), bits)

    def decode(self, place, hash: int, at: int = 0) -> int:
        """Decode a list from find() into `codec.lists.rows`; return its rows. TableDamaged."""
        rows, data = codec.lists.rows, codec.lists.data
        if isinstance(place, int):
            rows[at] = place
            if place >> 3 >= self.rows:
                raise TableDamaged("a posting is out of range")
            return 1
        if isinstance(place, bytes):
            data, size = memoryview(place), len(place)
        else:
            offset, size = place
            files.seek(self._file, offset)
            if self._file.readinto(data[:size]) != size:
                raise TableDamaged("postings are cut")
        size -= 1
        if size < 0 or crc32(data[:size]) & 0xFF != data[size]:
            raise TableDamaged("postings changed")
        unpack = loops.unpack_words if hash < codec.LABEL else loops.unpack_labels
        count = unpack(data, size, memoryview(rows)[at:] if at else rows, self.rows)
        if count < 0:
            raise TableDamaged("postings are out of range")
        return count

    # --- rows

    def row(self, number: int) -> tuple:
        return unpack_row(self._read(self.rows_at + ROW_BYTES * number, ROW_BYTES))

    def is_reply(self, number: int) -> bool:
        data = self.row_bytes(number, 1)
        unpack_row(data)
        return data[_HIGHEST] > 0x7F

    def row_bytes(self, first: int, count: int) -> bytes:
        return self._read(self.rows_at + ROW_BYTES * first, ROW_BYTES * count)

    def each_row(self):
        for first in range(0, self.rows, _ROWS_AT_ONCE):
            data = self.row_bytes(first, min(_ROWS_AT_ONCE, self.rows - first))
            for at in range(0, len(data), ROW_BYTES):
                yield unpack_row(data[at : at + ROW_BYTES])

    def each_run(self, mark: int = 0):
        """Yield (session, row after the last) of each run, from a mark on if given."""
        # The mark has the session of its run, so skip the step there.
        session, row, at = self._marks[3 * mark : 3 * mark + 3]
        values = codec.varints(self._parts(self.runs_at + at, self._marks_at))
        is_first = True
        for value in values:
            step = 1
            if value & 1:
                step = next(values, 0)
            if not is_first:
                session += step
            is_first = False
            row += (value >> 1) + 1
            yield session, row

    def runs_by_slot(self) -> tuple:
        if not self._runs:
            ends, slots = array("H", bytes(2 * self.runs)), array("H", bytes(2 * self.runs))
            run = row = 0
            for session, row in self.each_run():
                ends[run], slots[run] = row, codec.slot_of(session)
                run += 1
            if run != self.runs or row != self.rows:
                raise TableDamaged("no sense in the runs")
            self._runs = ends, slots
        return self._runs

    def _parts(self, at: int, end: int):
        while at < end:
            data = self._read(at, min(_BUFFER, end - at))
            at += len(data)
            yield data

    def run(self, session: int):
        """Return (first row, row after the last) of a session, or None."""
        mark = len(self._marks) // 3 - 1
        while mark > 0 and self._marks[3 * mark] > session:
            mark -= 1
        first = self._marks[3 * mark + 1]
        for found, end in self.each_run(mark):
            if found >= session:
                return (first, end) if found == session else None
            first = end
        return None

    def row_of(self, seq: int, session: int) -> int:
        """Return a line's row, -1 if it has none here."""
        if not self.first <= seq <= self.last:
            return -1
        run = self.run(session) if self.has_sessions or session else (0, self.rows)
        if run is None:
            return -1
        low, high = run
        # In a log without sessions every line has a row: the first guess is mostly right.
        guess = low + seq - self.first
        while high - low > _ROWS_AT_ONCE:
            if not low <= guess < high:
                guess = (low + high) >> 1
            here = self.row(guess)[0]
            if here == seq:
                return guess
            if here < seq:
                low = guess + 1
            else:
                high = guess
            guess = -1
        data = self.row_bytes(low, high - low)
        for row in range(low, high):
            if unpack_row(data[(row - low) * ROW_BYTES : (row - low + 1) * ROW_BYTES])[0] == seq:
                return row
        return -1

    def names(self):
        """Yield the visible labels in byte order; TableDamaged."""
        if not self._has_checked_names:
            if self._crc(self.names_at, self.runs_at) != self.names_crc:
                raise TableDamaged("the names changed")
            self._has_checked_names = True
        at = self.names_at
        data = b""
        while at < self.runs_at or data:
            end = 1 + data[0] if data else 1
            if end <= len(data):
                yield data[1:end].decode()
                data = data[end:]
            elif at == self.runs_at:
                raise TableDamaged("a name is cut")
            else:
                more = self._read(at, min(_BUFFER, self.runs_at - at))
                at += len(more)
                data += more


def term(lists: int, bucket: bytes, at: int, bucket_at: int) -> tuple:
    """Return find()'s result for the term at `at` in a bucket, without reading short lists."""
    if at >= lists:
        return 1, bucket[at + 3] | bucket[at + 4] << 8
    rows = bucket[at + 3] | bucket[at + 4] << 8
    start = start_of(bucket, at)
    if start & SHORT:
        return rows, (bucket_at + 6 + len(bucket) + (start & _BEHIND), (start & ~SHORT) >> SHORT_BITS)
    end = SHORT
    while end & SHORT and at + TERM_BYTES < lists:
        at += TERM_BYTES
        end = start_of(bucket, at)
    return rows, (bucket_at - start, start - (0 if end & SHORT else end))


def start_of(lists, at: int) -> int:
    """Return where a term's list begins."""
    return lists[at + 5] | lists[at + 6] << 8 | lists[at + 7] << 16


def unpack_row(data: bytes) -> tuple:
    if len(data) != ROW_BYTES or crc32(data[:10]) & 0xFF != data[10]:
        raise TableDamaged("a row changed")
    seq, low, high, minutes, more = struct.unpack("<IHBHB", data[:10])
    return seq, low | (high & 0x7F) << 16, minutes | more << 16
