"""Merging tables of the index into one, in slices between other work.

Tables cover parts of the log that follow each other, and in each the rows are in the order of sessions. So the merged
order takes, session by session, the runs of all tables from old to new, and within a table rows only move by a number
that is the same for a whole run. A term's postings are therefore merged as they come, and at no time is more in RAM than
a few bytes a session and a buffer a table. Dead rows stay with all that they have, since an entry's earlier versions are
found by them and one may come back. After a compaction a single table is rewritten without the rows whose lines have left the
log, and without the words of lines that have lost theirs.
"""

from array import array

from engram.native import loops
from engram.store.index import codec
from engram.store.index.table import ROW_BYTES, SINGLE_BYTES, TERM_BYTES, Footer, term
from engram.store.index.table_writer import TableWriter

_SLICE_BYTES = const(512)  # written in a slice
_STEP = const(32)  # terms in a slice, or runs
_ROWS_AT_ONCE = const(16)
_MOST_NAMES = const(512)  # visible labels of a table: the rest is found by search, not in the catalog
_END = const(1 << 24)  # a hash, or session, after all others
_MOVED_AT_ONCE = const(256)  # rows


class _Source:
    """A merged table with its current term and its rows' new places."""

    def __init__(self, table):
        self.table = table
        self.gone = bytearray(len(table.dead))  # bits of rows that are left out altogether
        self.mute = self.gone  # bits of those, and of rows whose words are left out
        self.moves = array("H", bytes(2 * table.rows))  # where each row goes
        self.kept_before = None  # for each row, if any is left out
        self._number = -1
        self._lists = self._list = self._single = 0  # where lists end and what comes next, in the bucket
        self._bucket = b""
        self.next_term()

    def next_term(self) -> None:
        """Advance to the next term, whose hash is _END at the end."""
        while self._list >= self._lists and self._single >= len(self._bucket):
            self._number += 1
            if self._number >= self.table.buckets:
                self.hash = _END
                return
            self._lists, self._bucket = self.table.bucket(self._number)
            self._bucket_at = self.table.bucket_at
            self._list, self._single = 0, self._lists
        self.hash = self._hash_at(self._list) if self._list < self._lists else _END
        single = self._hash_at(self._single) if self._single < len(self._bucket) else _END
        if self.hash < single:
            self._at = self._list
            self._list += TERM_BYTES
        else:
            self._at, self.hash = self._single, single
            self._single += SINGLE_BYTES

    def _hash_at(self, at: int) -> int:
        bucket = self._bucket
        return bucket[at] | bucket[at + 1] << 8 | bucket[at + 2] << 16

    def find_gone(self, left):
        """Find dead rows without a line (`left` gives None) or words (False); pause after each."""
        table = self.table
        gone, mute = bytearray(len(table.dead)), bytearray(len(table.dead))
        for row in range(table.rows):
            if codec.has_bit(table.dead, row):
                seq, offset, _ = table.row(row)
                has_words = left(seq, offset)
                if has_words is None:
                    codec.set_bit(gone, row)
                if not has_words:
                    codec.set_bit(mute, row)
                yield _STEP
        self.mute = mute
        if any(gone):
            self.gone = gone
            self.kept_before = array("H", bytes(2 * (table.rows + 1)))
            kept = 0
            for row in range(table.rows):
                self.kept_before[row] = kept
                kept += not codec.has_bit(gone, row)
                if row % _STEP == 0:
                    yield
            self.kept_before[table.rows] = kept

    def place(self, row: int) -> int:
        return self.kept_before[row] if self.kept_before else row

    def move(self, first: int, end: int, new: int):
        """Map a run's rows to `new` and on, pausing now and then."""
        shift = new - self.place(first)
        while first < end:
            to = min(end, first + _MOVED_AT_ONCE)
            if self.kept_before:
                self.moves[first:to] = array("H", [kept + shift for kept in self.kept_before[first:to]])
            else:
                self.moves[first:to] = array("H", range(first + shift, to + shift))
            first = to
            yield

    def decode(self, at: int) -> int:
        """Decode the current term's new rows from `at` on; return their number."""
        gone = self.mute if self.hash < codec.LABEL else self.gone
        rows, bucket, here = codec.lists.rows, self._bucket, self._at
        if here >= self._lists:
            # A single row, as most terms have: not worth the way through lists.
            posting = bucket[here + 3] | bucket[here + 4] << 8
            row = posting >> 3
            if gone[row >> 3] >> (row & 7) & 1:
                return 0
            rows[at] = self.moves[row] << 3 | posting & 7
            return 1
        count = self.table.decode(term(self._lists, bucket, here, self._bucket_at)[1], self.hash, at)
        return loops.move_rows(memoryview(rows)[at:] if at else rows, count, self.moves, gone)

    def has(self, hash: int) -> bool:
        return any(not codec.has_bit(self.gone, row) for row in self.table.rows_with(hash))


class Merge:
    """A merge of tables, old to new, into `path`; with `left`, rows without lines are dropped."""

    def __init__(self, tables: list, path: str, number: int, left=None):
        self.rows = 0
        self.has_left_names = False  # whether there were too many
        self._left = left
        self.tables = tables
        self.path = path
        self.number = number
        self._sources = [_Source(table) for table in tables]
        # About how many terms there will be: those of the table with most of them, and some that only the others have.
        terms = [table.terms for table in tables]
        self._writer = TableWriter(path, max(terms) + (sum(terms) - max(terms)) // 3)
        self._work = self._run()

    def step(self) -> bool:
        end = self._writer.size + _SLICE_BYTES
        done = 0
        for share in self._work:
            done += share or 1
            if self._writer.size >= end or done >= _STEP:
                return True
        return False

    def abandon(self) -> None:
        self._writer.abandon()

    def take_over_dead(self, table) -> None:
        """Mark merged rows that died in their sources meanwhile."""
        for source in self._sources:
            for at, bits in enumerate(source.table.dead):
                bits &= ~source.gone[at]
                for row in range(8 * at, 8 * at + 8) if bits else ():
                    if bits >> (row & 7) & 1:
                        codec.set_bit(table.dead, source.moves[row])

    def _run(self):
        writer, tables, sources = self._writer, self.tables, self._sources
        for source in sources if self._left else ():
            yield from source.find_gone(self._left)
        self.rows = sum(source.place(source.table.rows) for source in sources)
        if not self.rows:
            return
        for _, new, number, first, end in _order(sources):
            yield from sources[number].move(first, end, new)
        codec.lists.make_room(sum(table.rows for table in tables))
        yield from _merge_terms(sources, writer)
        footer = Footer()
        writer.end_terms(footer)
        for _, _, number, first, end in _order(sources):
            yield from _copy_rows(sources[number], first, end, writer)
        footer.rows = self.rows
        footer.first, footer.last = tables[0].first, tables[-1].last
        footer.words = sum(table.words for table in tables) * footer.rows // max(1, sum(table.rows for table in tables))
        footer.log_bytes = sum(table.log_bytes for table in tables)
        footer.epoch = tables[-1].epoch
        yield from writer.finish(footer, _runs(sources), _names(self, sources))


def _order(sources):
    """Yield (session, new first row, source, its first row, end) of all runs in the new order."""
    readers = [source.table.each_run() for source in sources]
    heads = [next(reader, (_END, 0)) for reader in readers]
    firsts = [0] * len(sources)
    new = 0
    while True:
        session = min(head[0] for head in heads)
        if session == _END:
            return
        for number, (found, end) in enumerate(heads):
            if found == session:
                first, source = firsts[number], sources[number]
                yield session, new, number, first, end
                new += source.place(end) - source.place(first)
                firsts[number] = end
                heads[number] = next(readers[number], (_END, 0))


def _runs(sources):
    last = -1
    after = 0
    for session, new, number, first, end in _order(sources):
        kept = sources[number].place(end) - sources[number].place(first)
        if not kept:
            continue
        if session != last and last >= 0:
            yield last, after
        last, after = session, new + kept
    if last >= 0:
        yield last, after


def _merge_terms(sources, writer):
    while True:
        hash = _END
        for source in sources:
            if source.hash < hash:
                hash = source.hash
        if hash == _END:
            return
        rows = codec.lists.rows
        count = 0
        is_sorted = True
        for source in sources:
            if source.hash == hash:
                before = count
                count += source.decode(count)
                is_sorted = is_sorted and (not before or before == count or rows[before - 1] < rows[before])
                source.next_term()
        if not is_sorted:
            loops.sort(rows, count)
        writer.add_term(hash, rows, count)
        yield


def _copy_rows(source, first: int, end: int, writer):
    while first < end:
        count = min(_ROWS_AT_ONCE, end - first)
        data = source.table.row_bytes(first, count)
        if source.kept_before is None:
            writer.write(data)
        else:
            for row in range(count):
                if not codec.has_bit(source.gone, first + row):
                    writer.write(data[row * ROW_BYTES : (row + 1) * ROW_BYTES])
        first += count
        yield


def _names(job, sources):
    count = 0
    is_sure = all(source.kept_before is None for source in sources)
    for name in codec.merged([source.table.names() for source in sources]):
        if is_sure or any(source.has(codec.term_hash(name)) for source in sources):
            # Keep all scopes, as they decide on visibility (see queries.py).
            if name[0] == "@":
                yield name
            elif count < _MOST_NAMES:
                yield name
                count += 1
            else:
                job.has_left_names = True
