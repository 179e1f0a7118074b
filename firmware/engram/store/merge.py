"""Merging pieces of the index into one, in slices between other work.

Pieces cover parts of the log that follow each other, and in each the rows are in the order of sessions. So the merged
order takes, session by session, the runs of all pieces from old to new, and within a piece rows only move by a number
that is the same for a whole run. A term's postings are therefore merged as they come, and at no time is more in RAM than
a few bytes a session and a buffer a piece. The words of dead rows are left out; their rows and labels stay, since an entry's
earlier versions are found by them.
"""

from array import array

from engram.compat import const
from engram.store import codec
from engram.store.live import Postings, name_bytes, run_bytes
from engram.store.piece import (
    TERM_BYTES,
    Footer,
    PieceWriter,
    buckets_for,
    run_row,
    run_session,
)

_SLICE_BYTES = const(512)  # written in a slice
_STEP = const(96)  # postings between two places at which a merge can pause
_BUFFER = const(128)
_ROWS_AT_ONCE = const(16)
_RUNS_AT_ONCE = const(24)
MOST_PIECES = 4
"""Pieces that are merged at once: each takes about 4 bytes a session and a kilobyte."""

_MOST_NAMES = const(512)  # labels that people see, kept in a piece: what is over is found by search, not in the catalog
_END = const(1 << 24)  # a hash after all hashes


class _Source:
    """A piece that is merged: where it stands among its terms, and how its rows move."""

    def __init__(self, piece):
        self.piece = piece
        self.dead = bytes(piece.dead)
        self.starts = array("H", bytes(2 * piece.runs))
        self.shifts = array("H", bytes(2 * piece.runs))  # forward only: rows that come from other pieces lie before
        self._number = -1
        self._bucket = b""
        self._at = 0
        self.hash = -1
        self.count = self.offset = self.size = self.check = 0
        self.next_term()

    def runs(self):
        """Yield (session, first row, row after the last) of each run."""
        rows, runs = self.piece.rows, self.piece.runs
        for first in range(0, runs, _RUNS_AT_ONCE):
            count = min(_RUNS_AT_ONCE, runs - first)
            table = [self.piece.run_table(first, count + 1)]
            for at in range(count):
                last = first + at + 1 == runs
                yield run_session(table, at), run_row(table, at), rows if last else run_row(table, at + 1)

    def next_term(self) -> None:
        """Go on to the next term; its hash is _END when there is none."""
        while self._at >= len(self._bucket):
            self._number += 1
            if self._number >= self.piece.buckets:
                self.hash = _END
                return
            self._bucket = self.piece.bucket(self._number)
            self._at = 0
            self.offset = self.piece._bucket_at
            for at in range(0, len(self._bucket), TERM_BYTES):
                self.offset -= self._bucket[at + 5] | self._bucket[at + 6] << 8
            self.size = 0
        bucket, at = self._bucket, self._at
        self.hash = bucket[at] | bucket[at + 1] << 8 | bucket[at + 2] << 16
        self.count = bucket[at + 3] | bucket[at + 4] << 8
        self.offset += self.size
        self.size = bucket[at + 5] | bucket[at + 6] << 8
        self.check = bucket[at + 7]
        self._at += TERM_BYTES

    def postings(self):
        """Yield (new row, level) of the present term's rows, for a word of the live ones."""
        is_label = self.hash >= codec.LABEL
        dead, starts, shifts, runs = self.dead, self.starts, self.shifts, self.piece.runs
        run = 0
        limit = starts[1] if runs > 1 else 0x10000
        for row, level in decoded(self.piece, (self.count, self.offset, self.size, self.check), self.hash):
            if not is_label and dead[row >> 3] >> (row & 7) & 1:
                continue
            while row >= limit:
                run += 1
                limit = starts[run + 1] if run + 1 < runs else 0x10000
            yield row + shifts[run], level


def decoded(piece, found, hash: int):
    """Yield (row, level) of a term's postings in a piece."""
    buffer = bytearray(_BUFFER)
    is_label = hash >= codec.LABEL
    row = -1
    value = shift = 0
    start = True
    for count in piece.read_list(found, buffer):
        for at in range(count):
            byte = buffer[at]
            value |= (byte & 0x7F) << shift
            if byte > 0x7F:
                shift += 7
                continue
            if not is_label:
                row += (value >> 3) + 1
                yield row, value & 7
            elif start:
                row += value + 1
                start = False
            else:
                for _ in range(value + 1):
                    yield row, 0
                    row += 1
                start = True
            value = shift = 0


class Merge:
    """Merges pieces, given from old to new, into the file at `path`; the pieces stay as they are."""

    def __init__(self, pieces: list, path: str, number: int):
        self.pieces = pieces
        self.path = path
        self.number = number
        self._sources = [_Source(piece) for piece in pieces]
        self._writer = PieceWriter(path, buckets_for(_terms(self._sources)))
        self._work = self._run()

    def step(self) -> bool:
        """Do a slice of the work; False when the file is whole."""
        end = self._writer.size + _SLICE_BYTES
        for _ in self._work:
            if self._writer.size >= end:
                return True
        return False

    def abandon(self) -> None:
        """Give it up."""
        self._writer.abandon()

    def take_over_dead(self, piece) -> None:
        """Mark the rows of the merged piece that are dead in its sources by now."""
        for source in self._sources:
            run = 0
            for row in range(source.piece.rows):
                if codec.has_bit(source.piece.dead, row):
                    while run + 1 < source.piece.runs and row >= source.starts[run + 1]:
                        run += 1
                    codec.set_bit(piece.dead, row + source.shifts[run])

    def _run(self):
        writer, pieces = self._writer, self.pieces
        positions = array("H", bytes(2 * len(pieces)))
        for _, new, number, first, _ in _order(self._sources):
            source, position = self._sources[number], positions[number]
            source.starts[position] = first
            source.shifts[position] = new - first
            positions[number] += 1
        yield
        yield from _merge_terms(self._sources, writer)
        footer = Footer()
        footer.rows_at = writer.end_terms()
        footer.rows = sum(piece.rows for piece in pieces)
        for _, _, number, first, end in _order(self._sources):
            source = self._sources[number]
            yield from _copy_rows(source, first, end, writer)
        footer.first, footer.last = pieces[0].first, pieces[-1].last
        footer.words = sum(piece.words for piece in pieces)
        footer.log_bytes = sum(piece.log_bytes for piece in pieces)
        footer.epoch = pieces[-1].epoch
        writer.finish(footer, _runs(self._sources), _names(pieces))


def _terms(sources) -> int:
    """About how many terms the merged piece has: those of the largest, and some that only the others have."""
    counts = [source.piece.terms for source in sources]
    return max(counts) + (sum(counts) - max(counts)) // 3


def _order(sources):
    """Yield (session, new first row, number of the source, its first row, end) of all runs in their new order."""
    readers = [source.runs() for source in sources]
    heads = [next(reader) for reader in readers]
    new = 0
    while True:
        session = _END
        for head in heads:
            if head is not None:
                session = min(session, head[0])
        if session == _END:
            return
        for number, head in enumerate(heads):
            if head is not None and head[0] == session:
                yield session, new, number, head[1], head[2]
                new += head[2] - head[1]
                heads[number] = next(readers[number], None)


def _runs(sources):
    """Yield the bytes of the merged runs."""
    last = -1
    for session, new, _, _, _ in _order(sources):
        if session != last:
            last = session
            yield run_bytes(session, new)


def _merge_terms(sources, writer):
    while True:
        hash = min(source.hash for source in sources)
        if hash == _END:
            return
        having = [source for source in sources if source.hash == hash]
        writer.begin_list(hash)
        postings = Postings(writer.out, hash)
        yield from _merge_lists([source.postings() for source in having], postings, writer)
        postings.end()
        if postings.count:
            writer.end_list(hash, postings.count)
        for source in having:
            source.next_term()
        yield


def _merge_lists(lists: list, postings, writer):
    heads = []
    for postings_of in lists:
        head = next(postings_of, None)
        if head is not None:
            heads.append([head, postings_of])
    done = 0
    while heads:
        best = heads[0]
        for other in heads:
            if other[0][0] < best[0][0]:
                best = other
        row, level = best[0]
        postings.add(row, level)
        head = next(best[1], None)
        if head is None:
            heads.remove(best)
        else:
            best[0] = head
        done += 1
        if done % _STEP == 0:
            writer.flush()
            postings.out = writer.out
            yield


def _copy_rows(source, first: int, end: int, writer):
    while first < end:
        count = min(_ROWS_AT_ONCE, end - first)
        writer.rows(source.piece.row_bytes(first, count))
        first += count
        yield


def _names(pieces):
    seen = set()
    for piece in pieces:
        for name in piece.names():
            if name not in seen and len(seen) < _MOST_NAMES:
                seen.add(name)
                yield name_bytes(name)
