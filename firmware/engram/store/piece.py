"""One sealed piece of the index: an immutable file, read in place with a few small reads.

A piece covers the log's lines from one seq to another. Its rows are ordered by session, then seq, so that a row's
neighbours in its session stand beside it and a session is one run of rows; a log without sessions has a single run.

    lists and buckets    for each bucket, in the order of the terms' hashes: the postings of its terms one after the other,
                         then the bucket itself: number of terms (2), check (2), and for each term
                         hash (3), number of rows (2), bytes of postings (2), check of the postings (1)
    rows                 seq (4), offset of the line in its segment (3), minutes since 2020 (3), check (1), for each row
    runs                 session (3), its first row (2), for each session
    names                the labels that people see, each with its length (1) before it
    directory            where each bucket is (4)
    footer               see _FOOTER; its crc covers runs, names, directory and footer

All numbers little-endian. Bucket b has the hashes from b * 2^24 / buckets on. A check is of a crc32's low bits.
"""

import struct
from array import array
from binascii import crc32

from engram import files
from engram.compat import const
from engram.store import codec

_MAGIC = b"EGX1"
_FOOTER = "<4sHHHHIIIIIIIIII"
# magic, terms, rows, runs, buckets, first seq, last seq, words in all, where rows, runs, names and directory begin, bytes
# of the log, epoch, crc
FOOTER_BYTES = struct.calcsize(_FOOTER)
ROW_BYTES = 11
RUN_BYTES = 5
TERM_BYTES = 8
BUCKET_TERMS = 24
"""About how many terms share a bucket: a bucket is read whole, and each costs 4 bytes of heap."""

RUNS_A_BLOCK = 64
_RUNS_BITS = const(6)
_ROWS_AT_ONCE = const(16)
_BUFFER = const(256)
_HASHES = const(1 << 24)


class Damaged(Exception):
    """A piece is not as it was written; it has to be made anew from the log."""


class Footer:
    """A piece's numbers, as its footer has them."""

    terms: int
    rows: int
    runs: int
    buckets: int
    first: int
    last: int
    words: int
    rows_at: int
    runs_at: int
    names_at: int
    directory_at: int
    log_bytes: int
    epoch: int

    FIELDS = (
        "terms", "rows", "runs", "buckets", "first", "last", "words",
        "rows_at", "runs_at", "names_at", "directory_at", "log_bytes", "epoch",
    )  # fmt: skip

    def pack(self, crc: int) -> bytes:
        """The footer's bytes without (crc 0) or with its crc."""
        return struct.pack(_FOOTER, _MAGIC, *[getattr(self, name) for name in self.FIELDS], crc)

    def unpack(self, data: bytes) -> int:
        """Take the numbers from a footer's bytes; the crc that stands there."""
        values = struct.unpack(_FOOTER, data)
        if values[0] != _MAGIC:
            raise Damaged("no footer")
        for name, value in zip(self.FIELDS, values[1:]):
            setattr(self, name, value)
        return values[-1]


class Piece(Footer):
    """An open piece; `dead` has a bit for each row whose line is not live any more."""

    def __init__(self, path: str, number: int):
        self.path = path
        self.number = number
        self.reads = 0
        try:
            self._file = open(path, "rb")
        except OSError:
            raise Damaged("no file")
        try:
            self._open(self._file.seek(0, 2))
        except (OSError, ValueError):
            self.close()
            raise Damaged("no piece")
        self.dead = bytearray((self.rows + 7) >> 3)

    def _open(self, size: int) -> None:
        if size < FOOTER_BYTES:
            raise Damaged("too short")
        self._file.seek(size - FOOTER_BYTES)
        footer = self._file.read(FOOTER_BYTES)
        crc = self.unpack(footer)
        end = size - FOOTER_BYTES
        if not self.rows_at <= self.runs_at <= self.names_at <= self.directory_at == end - 4 * self.buckets:
            raise Damaged("no sense in the footer")
        if self.runs_at - self.rows_at != ROW_BYTES * self.rows or not self.buckets:
            raise Damaged("no sense in the footer")
        self._check(end, crc)
        self._directory = array("I", bytes(4 * self.buckets))
        self._file.seek(self.directory_at)
        self._file.readinto(self._directory)

    def _check(self, end: int, wanted: int) -> None:
        self._file.seek(self.runs_at)
        left = end - self.runs_at
        buffer = bytearray(RUN_BYTES * RUNS_A_BLOCK)
        view = memoryview(buffer)
        self._sessions = array("I", bytes(4 * -(-self.runs // RUNS_A_BLOCK)))
        crc = block = 0
        while left > 0:
            count = self._file.readinto(view[: min(left, len(buffer))])
            if not count:
                raise Damaged("too short")
            if block < len(self._sessions):
                self._sessions[block] = buffer[0] | buffer[1] << 8 | buffer[2] << 16
                block += 1
            crc = crc32(view[:count], crc)
            left -= count
        if crc32(self.pack(0), crc) != wanted:
            raise Damaged("the crc does not fit")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def has_sessions(self) -> bool:
        """Whether the log's lines belong to sessions."""
        return self.runs != 1 or self._sessions[0] != 0

    @property
    def live(self) -> int:
        """The number of rows that are live."""
        return self.rows - codec.count_bits(self.dead)

    # --- terms

    def find(self, hash: int):
        """(number of rows, offset and bytes of the postings, their check) of a term, None if the piece has it not."""
        bucket = self.bucket(hash * self.buckets >> 24)
        wanted = bytes((hash & 0xFF, hash >> 8 & 0xFF, hash >> 16))
        at = bucket.find(wanted)
        while at >= 0 and at % TERM_BYTES:
            at = bucket.find(wanted, at + 1)
        if at < 0:
            return None
        offset = self._bucket_at
        for later in range(at, len(bucket), TERM_BYTES):
            offset -= bucket[later + 5] | bucket[later + 6] << 8
        return (bucket[at + 3] | bucket[at + 4] << 8, offset, bucket[at + 5] | bucket[at + 6] << 8, bucket[at + 7])

    def bucket(self, number: int) -> bytes:
        """A bucket's terms, TERM_BYTES each; Damaged if its check does not fit."""
        self._bucket_at = self._directory[number]
        self._file.seek(self._bucket_at)
        data = self._file.read(_BUFFER)
        size = 4 + TERM_BYTES * (data[0] | data[1] << 8)
        if size > len(data):
            data += self._file.read(size - len(data))
        elif size < len(data):
            data = data[:size]
        if len(data) != size:
            raise Damaged("a bucket is cut")
        terms = data[4:]
        if crc32(terms) & 0xFFFF != data[2] | data[3] << 8:
            raise Damaged("a bucket's check does not fit")
        return terms

    def read_list(self, found, buffer: bytearray):
        """Yield (bytes read, number of them) of a term's postings, through a lent buffer; Damaged if they changed."""
        _, offset, left, check = found
        view = memoryview(buffer)
        crc = 0
        self._file.seek(offset)
        while left > 0:
            count = self._file.readinto(view[: min(left, len(buffer))])
            if not count:
                raise Damaged("postings are cut")
            crc = crc32(view[:count], crc)
            left -= count
            # The last bytes count only if all were right: wrong ones before cost a wrong hit, which its line unmasks.
            if not left and crc & 0xFF != check:
                raise Damaged("postings changed")
            yield count
            if left:
                self._file.seek(offset + found[2] - left)

    # --- rows

    def row(self, number: int) -> tuple:
        """(seq, offset, minutes) of a row."""
        self._file.seek(self.rows_at + ROW_BYTES * number)
        return unpack_row(self._file.read(ROW_BYTES))

    def row_bytes(self, first: int, count: int) -> bytes:
        """Some rows as they stand in the file."""
        self._file.seek(self.rows_at + ROW_BYTES * first)
        data = self._file.read(ROW_BYTES * count)
        if len(data) != ROW_BYTES * count:
            raise Damaged("rows are cut")
        return data

    def run_table(self, first: int = 0, count: int = 0xFFFF) -> bytes:
        """The sessions' runs, RUN_BYTES each, all or some."""
        self._file.seek(self.runs_at + RUN_BYTES * first)
        return self._file.read(RUN_BYTES * min(count, self.runs - first))

    def run_blocks(self) -> list:
        """All runs, in blocks of RUNS_A_BLOCK: in one piece they would not fit a heap in pieces."""
        return [self.run_table(first, RUNS_A_BLOCK) for first in range(0, self.runs, RUNS_A_BLOCK)]

    def run(self, session: int):
        """(first row, row after the last) of a session, None if the piece has none of it."""
        block = len(self._sessions) - 1
        while block > 0 and self._sessions[block] > session:
            block -= 1
        if self._sessions[block] > session:
            return None
        first = block * RUNS_A_BLOCK
        count = min(RUNS_A_BLOCK, self.runs - first)
        table = [self.run_table(first, count + 1)]
        wanted = bytes((session & 0xFF, session >> 8 & 0xFF, session >> 16))
        at = table[0].find(wanted)
        while at % RUN_BYTES and at >= 0:
            at = table[0].find(wanted, at + 1)
        at //= RUN_BYTES
        if at < 0 or at >= count:
            return None
        start = _row_at(table[0], at)
        return start, _row_at(table[0], at + 1) if first + at + 1 < self.runs else self.rows

    def row_of(self, seq: int, session: int) -> int:
        """The row of a line, -1 if it has none here."""
        run = self.run(session)
        if run is None or not self.first <= seq <= self.last:
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
        """Yield the labels that people see."""
        self._file.seek(self.names_at)
        data = self._file.read(self.directory_at - self.names_at)
        at = 0
        while at < len(data):
            size = data[at]
            yield data[at + 1 : at + 1 + size].decode()
            at += 1 + size


def pack_row(seq: int, offset: int, minutes: int) -> bytes:
    """A row's bytes."""
    data = struct.pack("<IHBHB", seq, offset & 0xFFFF, offset >> 16, minutes & 0xFFFF, minutes >> 16)
    return data + bytes((crc32(data) & 0xFF,))


def unpack_row(data: bytes) -> tuple:
    """(seq, offset, minutes) of a row's bytes; Damaged if they changed."""
    if len(data) != ROW_BYTES or crc32(data[:10]) & 0xFF != data[10]:
        raise Damaged("a row changed")
    seq, low, high, minutes, more = struct.unpack("<IHBHB", data[:10])
    return seq, low | high << 16, minutes | more << 16


def _row_at(table: bytes, number: int) -> int:
    at = number * RUN_BYTES
    return table[at + 3] | table[at + 4] << 8


def run_session(blocks: list, number: int) -> int:
    """The session of a run."""
    block = blocks[number >> _RUNS_BITS]
    at = (number & RUNS_A_BLOCK - 1) * RUN_BYTES
    return block[at] | block[at + 1] << 8 | block[at + 2] << 16


def run_row(blocks: list, number: int) -> int:
    """The first row of a run."""
    block = blocks[number >> _RUNS_BITS]
    at = (number & RUNS_A_BLOCK - 1) * RUN_BYTES
    return block[at + 3] | block[at + 4] << 8


class PieceWriter:
    """Writes a piece from first to last: terms by hash, rows, then finish(). A term's postings are streamed."""

    def __init__(self, path: str, buckets: int):
        self.path = path
        self._file = open(path, "wb")
        self._buckets = buckets
        self._directory = array("I", bytes(4 * buckets))
        self._ended = 0  # buckets that are written
        self._bucket = bytearray()
        self.size = 0
        self._term_start = 0
        self._crc = 0
        self.terms = 0
        self.out = bytearray()

    def begin_list(self, hash: int) -> None:
        """The postings that come next are those of this term."""
        while self._ended < hash * self._buckets >> 24:
            self._end_bucket()
        self._term_start = self.size
        self._crc = 0

    def flush(self) -> None:
        """Write what is in `out`."""
        self._crc = crc32(self.out, self._crc)
        self._write(self.out)
        self.out = bytearray()

    def end_list(self, hash: int, count: int) -> None:
        """All postings of the term are in `out` or written: it stands in `count` rows."""
        self.flush()
        self.terms += 1
        size = self.size - self._term_start
        self._bucket.extend(struct.pack("<HBHHB", hash & 0xFFFF, hash >> 16, count, size, self._crc & 0xFF))

    def _end_bucket(self) -> None:
        self._directory[self._ended] = self.size
        self._ended += 1
        count = len(self._bucket) // TERM_BYTES
        self._write(struct.pack("<HH", count, crc32(self._bucket) & 0xFFFF))
        self._write(self._bucket)
        self._bucket = bytearray()

    def _write(self, data) -> None:
        self._file.write(data)
        self.size += len(data)

    def end_terms(self) -> int:
        """All terms are written; where the rows begin."""
        while self._ended < self._buckets:
            self._end_bucket()
        return self.size

    def rows(self, data) -> None:
        """Append rows."""
        self._write(data)

    def finish(self, footer: Footer, runs, names) -> None:
        """Write runs, names, directory and footer, and close; `runs` and `names` are iterables of bytes."""
        footer.buckets = self._buckets
        footer.terms = min(0xFFFF, self.terms)
        footer.runs_at = self.size
        crc = self._checked(0, runs)
        footer.runs = (self.size - footer.runs_at) // RUN_BYTES
        footer.names_at = self.size
        crc = self._checked(crc, names)
        footer.directory_at = self.size
        crc = self._checked(crc, (bytes(self._directory),))
        self._write(footer.pack(crc32(footer.pack(0), crc)))
        self._file.close()

    def _checked(self, crc: int, pieces) -> int:
        for data in pieces:
            crc = crc32(data, crc)
            self._write(data)
        return crc

    def abandon(self) -> None:
        """Give the piece up."""
        try:
            self._file.close()
        except OSError:
            # What could not be written is not wanted any more.
            pass
        files.discard(self.path)


def buckets_for(terms: int) -> int:
    """The number of buckets for about that many terms."""
    return max(1, min(0xFFFF, terms // BUCKET_TERMS))
