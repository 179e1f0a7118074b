"""Rebuilds missing parts of the index from the log, in slices. The newest lines come first, so that
nothing forgotten or replaced is found.
"""

from engram.store.index import codec
from engram.store.index.memtable import MemTable
from engram.store.index.merge_policy import insert
from engram.store.types import concerned

_TABLE_BYTES = const(5632)  # of the log, that one table is tried for
_LINES_AT_ONCE = const(8)


class Rebuild:
    """An indexer of a log's `unindexed` spans; note(number) reports entries with stale rows."""

    def __init__(self, log, index, describe, unindexed: list, note):
        self._log = log
        self._index = index
        self._describe = describe
        self._unindexed = unindexed
        self._note = note
        self._rows = MemTable()
        self._work = self._run()
        self.is_open = False
        self.ended = set()

    def step(self):
        """Do a slice; True when the index must be saved, None at the end."""
        return next(self._work, None)

    def _run(self):
        while self._unindexed:
            span = self._unindexed[-1]
            last = span[1]
            # The oldest lines may have left the log meanwhile.
            while last >= max(span[0], self._log.oldest):
                start = yield from self._table(max(span[0], self._log.oldest), last, span[1])
                # Lines that have gone leave no row: the table before them covers their seqs.
                last = start - 1
                if self._rows.rows:
                    span[1] = last
                yield True
            self._unindexed.pop()
            yield True

    def _table(self, first: int, last: int, claimed: int):
        start = max(first, _start_of(self._log, last, _TABLE_BYTES))
        self.is_open = True
        while True:
            self._rows.clear()
            size = yield from self._read(start, last)
            if size >= 0:
                break
            start = (start + last + 1) >> 1
        if self._rows.rows:
            yield from self._check()
            for row in range(self._rows.rows):
                if self._rows.sessions[row] in self.ended:
                    codec.set_bit(self._rows.dead, row)
            insert(self._index, self._rows, start, claimed)
        self.is_open = False
        self.ended.clear()
        return start

    def _read(self, start: int, last: int):
        """Add rows of lines between two seqs; return their bytes, -1 if too many for a table."""
        size = 0
        rows = self._rows
        for _, offset, length, line in self._log.scan_from(start, last):
            if rows.is_full:
                return -1
            entry = self._describe(line)
            seq = line["seq"]
            rows.add_row(seq, offset, length, entry)
            for number in concerned(entry, seq):
                self._note(number)
            if entry.ends:
                self._index.end_session(entry.ends)
                self.ended.add(entry.ends)
            size += length
            if rows.rows % _LINES_AT_ONCE == 0:
                yield False
        return size

    def _check(self):
        rows = self._rows
        seen = set()
        for row in range(rows.rows):
            seq, session = rows.seqs[row], rows.sessions[row]
            if self._index.seqs_with_label("=%d" % seq):
                self._note(seq)
            if session and session not in seen:
                seen.add(session)
                if self._index.seqs_with_label("=s%d" % session):
                    self.ended.add(session)
            if row % _LINES_AT_ONCE == 0:
                yield False


def _start_of(log, seq: int, size: int) -> int:
    """Return the first seq of about `size` bytes of lines that end with `seq`."""
    _, start, first, end, following = log.segment_of(seq)
    return max(first, seq - size * (following - first) // max(1, end - start) + 1)
