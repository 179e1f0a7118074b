"""Writes a table of the index in one pass, also from a memtable; table.py describes the layout."""

import struct
from array import array
from binascii import crc32

from engram import files
from engram.native import loops
from engram.store.index import codec
from engram.store.index.memtable import MemTable
from engram.store.index.table import (
    BUCKETS_A_PART,
    BUCKETS_BITS,
    RUNS_A_MARK,
    SHORT,
    SHORT_BITS,
    SINGLE_BYTES,
    TERM_BYTES,
    Footer,
    start_of,
)

BUCKET_TERMS = 18
"""Terms per bucket, about: a bucket is read whole and costs 4 bytes of heap."""

_PART = const(64)  # bytes of runs that are gathered before they are written
_SHORT = const(24)  # bytes of a list that follows its bucket, so that it is read with it
_MOST_SHORT = const(4000)  # bytes of such lists behind one bucket
_PARTS = const(16)  # of the hashes, which are sorted one after the other: so they fit in small integers
_PART_BITS = const(4)  # of the upper byte of a hash
_ROW_BITS = const(10)  # of a word: its row and its level
_ROW_MASK = const(1023)


class TableWriter:
    def __init__(self, path: str, terms: int):
        self.path = path
        self.size = 0
        self._file = open(path, "wb")
        self._buckets = max(1, min(0xFFFF, terms // BUCKET_TERMS))  # for about that many terms
        self._directory = [
            array("I", bytes(4 * min(BUCKETS_A_PART, self._buckets - first)))
            for first in range(0, self._buckets, BUCKETS_A_PART)
        ]
        self._ended = 0  # buckets that are written
        self._lists = bytearray()  # the bucket's terms
        self._singles = bytearray()
        self._short = bytearray()
        self._terms = 0

    # --- terms

    def add_term(self, hash: int, rows, count: int) -> None:
        """Add a term with its rows; without rows it is left out."""
        if not count:
            return
        while self._ended < hash * self._buckets >> 24:
            self._end_bucket()
        self._terms += 1
        if count == 1:
            self._singles.extend(struct.pack("<HBH", hash & 0xFFFF, hash >> 16, rows[0]))
            return
        data = codec.lists.encode(hash, rows, count)
        start = self.size
        if len(data) <= _SHORT and len(self._short) < _MOST_SHORT:
            start = SHORT | len(data) << SHORT_BITS | len(self._short)
            self._short.extend(data)
        else:
            self.write(data)
        self._lists.extend(struct.pack("<HBHHB", hash & 0xFFFF, hash >> 16, count, start & 0xFFFF, start >> 16))

    def _end_bucket(self) -> None:
        lists, at = self._lists, self.size
        for term in range(0, len(lists), TERM_BYTES):
            start = start_of(lists, term)
            if not start & SHORT:
                # The list's offset becomes its distance before the bucket.
                start = at - start
                lists[term + 5], lists[term + 6], lists[term + 7] = start & 0xFF, start >> 8 & 0xFF, start >> 16
        counts = len(lists) // TERM_BYTES, len(self._singles) // SINGLE_BYTES
        lists.extend(self._singles)
        self.write(struct.pack("<HHH", counts[0], counts[1], crc32(lists, self._ended + 1) & 0xFFFF))
        self.write(lists)
        entry = at << 8 | min(255, self.size - at + 15 >> 4)
        self._directory[self._ended >> BUCKETS_BITS][self._ended & BUCKETS_A_PART - 1] = entry
        self._ended += 1
        self.write(self._short)
        self._lists, self._singles, self._short = bytearray(), bytearray(), bytearray()

    def write(self, data) -> None:
        self._file.write(data)
        self.size += len(data)

    # --- what follows the terms

    def end_terms(self, footer: Footer) -> None:
        while self._ended < self._buckets:
            self._end_bucket()
        footer.rows_at = self.size
        footer.buckets = self._buckets
        footer.terms = min(0xFFFF, self._terms)

    def finish(self, footer: Footer, runs, names):
        """Write the rest and close, pausing now and then."""
        footer.names_at = self.size
        self._crc = 0
        for name in names:
            data = name.encode()
            self._checked(bytes((len(data),)) + data)
            yield
        footer.names_crc = self._crc
        footer.runs_at = self.size
        self._crc = 0
        yield from self._write_runs(footer, runs)
        footer.directory_at = self.size
        for part in self._directory:
            self._checked(part)
            self.size += 3 * len(part)  # len() counts items
        self.write(footer.pack(crc32(footer.pack(0), self._crc)))
        self._file.close()
        self._directory = []  # the reader of the table takes as much of the heap

    def _write_runs(self, footer: Footer, runs):
        marks = []
        out = bytearray()
        count = last_session = last_row = 0
        for session, row in runs:
            if count % RUNS_A_MARK == 0:
                marks.append((session, last_row, self.size + len(out) - footer.runs_at))
            step = session - last_session
            codec.put_varint(out, row - last_row - 1 << 1 | (step != 1))
            if step != 1:
                codec.put_varint(out, step)
            last_session, last_row = session, row
            count += 1
            if len(out) >= _PART:
                self._checked(out)
                out = bytearray()
                yield
        self._checked(out)
        for mark in marks:
            self._checked(struct.pack("<III", *mark))
        footer.runs = count

    def _checked(self, data) -> None:
        self._crc = crc32(data, self._crc)
        self.write(data)

    def abandon(self) -> None:
        try:
            self._file.close()
        except OSError:
            # Drop what could not be written.
            pass
        files.discard(self.path)


def pack_row(seq: int, offset: int, minutes: int) -> bytes:
    data = struct.pack("<IHBHB", seq, offset & 0xFFFF, offset >> 16, minutes & 0xFFFF, minutes >> 16)
    return data + bytes((crc32(data) & 0xFF,))


# --- a memtable as a table


def write_table(rows: MemTable, path: str, mean: int, epoch: int, first: int, last: int) -> None:
    """Write RAM rows as a table of all lines from seq `first` to `last`; they stay in RAM."""
    order = rows.order()
    places = bytearray(len(order))
    for place, row in enumerate(order):
        places[row] = place
    codec.lists.make_room(len(order))
    writer = TableWriter(path, rows.used * 2 // 3)
    is_whole = False
    try:
        _write_terms(writer, rows, places, order, mean)
        footer = Footer()
        writer.end_terms(footer)
        for row in order:
            writer.write(pack_row(rows.seqs[row], rows.offsets[row], rows.minutes[row]))
        footer.rows = len(order)
        footer.first, footer.last = first, last
        footer.words, footer.epoch, footer.log_bytes = rows.words, epoch, rows.log_bytes
        for _ in writer.finish(footer, _runs(rows, order), rows.names()):
            pass
        is_whole = True
    finally:
        if not is_whole:
            writer.abandon()


def _write_terms(writer: TableWriter, rows: MemTable, places, order: list, mean: int) -> None:
    lengths = array("H", [rows.lengths[row] for row in order])
    words = array("I", bytes(4 * rows.used))
    view = memoryview(words)
    for part in range(_PARTS):
        count = rows.take_words(part << _PART_BITS, places, words)
        count = loops.join_words(words, count, lengths, mean, codec.level)
        at = 0
        while at < count:
            start, hash = at, words[at] >> _ROW_BITS
            while at < count and words[at] >> _ROW_BITS == hash:
                at += 1
            postings = array("I", [word & _ROW_MASK for word in view[start:at]])
            writer.add_term(part << _PART_BITS + 16 | hash, postings, at - start)


def _runs(rows: MemTable, order: list):
    session = rows.sessions[order[0]]
    for place, row in enumerate(order):
        if rows.sessions[row] != session:
            yield session, place
            session = rows.sessions[row]
    yield session, len(order)
