"""A log's raw lines for copies: digests of spans of seqs, and their bytes in pieces. Between calls only
file positions are held; pieces of moved lines raise an error.
"""

from binascii import crc32
from collections import namedtuple

from engram import files, log_line
from engram.errors import StoreError
from engram.store.log import seq_seek

_PIECE = const(512)  # bytes of a span that are read at once
_SEQ = const(24)  # bytes that hold how a line begins, {"seq":123456789,

Span = namedtuple("Span", "after to count size check crc place")
"""Contiguous lines in one file from `after` to `to`: count, bytes, crc of crcs, last crc, place."""


class LogReader:
    """The raw lines of a Store's log."""

    def __init__(self, store):
        self.store = store
        # A seq, its segment, the log's `moves`, and its offset while that is unchanged: spans come in a row.
        self._next = (0, 0, 0, 0)

    def crc(self, seq: int) -> str:
        return self.span(seq - 1, seq, 1).crc if seq > 0 else ""

    def span(self, after: int, last: int, most: int) -> Span:
        """Return the lines after a seq within `most` bytes, or one longer line."""
        last = min(last, self.store.next_seq - 1)
        log = self.store.log
        seq = after + 1
        while seq <= last:
            file, number, bounds = log.open_at(seq)
            try:
                offset = self._next[3]
                if self._next[:3] != (seq, number, log.moves):
                    offset = seq_seek.place(file, seq, *bounds)[0]
                run = _Run(file, offset, seq, min(last, bounds[3] - 1), most)
                run.read()
                while run.is_damaged and not run.count and not log.set_damage_aside(number):
                    # The full flash keeps the damage: read on behind it.
                    run.read()
            except OSError as error:
                raise files.failure(error, log.path(number)) from None
            if run.count:
                self._next = (run.to + 1, number, log.moves, run.end)
                place = (number, run.start, run.end, log.moves)
                return Span(after, run.to, run.count, run.end - run.start, run.check, run.crc, place)
            if not run.is_damaged:
                seq = bounds[3]
        return Span(after, max(after, last), 0, 0, 0, "", None)

    def pieces(self, span: Span):
        """Yield a span's bytes as views valid until the next; StoreError."""
        if not span.place:
            return
        log = self.store.log
        number, at, end, moves = span.place
        view = memoryview(bytearray(min(_PIECE, end - at)))
        while at < end:
            file = log.file_of(number) if log.moves == moves else None
            if file is None:
                raise StoreError("lines of the log moved while they were sent; they are sent again.")
            try:
                files.seek(file, at)
                count = file.readinto(view[: min(len(view), end - at)])
            except OSError as error:
                raise files.failure(error, log.path(number)) from None
            if not count:
                raise StoreError("the log is shorter than it was; what was sent is sent again.")
            yield view[:count]
            at += count


class _Run:
    """Contiguous whole lines of one file with rising seqs."""

    def __init__(self, file, offset: int, seq: int, last: int, most: int):
        self._file = file
        self._last = last
        self._most = most
        self._seq = seq - 1  # of the line before
        self.start = self.end = offset
        self.to = last
        self.count = self.check = 0
        self.crc = ""
        self.is_damaged = False

    def read(self) -> None:
        self.is_damaged = False
        for at, line, ended in log_line.lines(self._file, self.end):
            is_whole = log_line.is_whole(line, ended)
            seq = seq_seek.seq_of(bytes(line[:_SEQ])) if is_whole else -1  # pyright: ignore
            size = line if isinstance(line, int) else len(line)
            if not self._take(at, seq, size, line[-11:-3] if is_whole else b""):  # pyright: ignore
                break

    def _take(self, at: int, seq: int, size: int, crc) -> bool:
        if seq <= self._seq:
            # Damage, a header, or a repeated line.
            self.is_damaged = not crc
            if self.count:
                self.to = self._seq
                return False
            self.start = self.end = at + size
            return not self.is_damaged
        if seq > self._last:
            return False
        if self.count and at + size - self.start > self._most:
            self.to = self._seq
            return False
        self._seq = seq
        self.end = at + size
        self.count += 1
        self.check = crc32(crc, self.check)
        self.crc = str(crc, "ascii")
        return True
