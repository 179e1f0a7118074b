"""The keyword index of one log: sealed tables in flash, and the newest lines in RAM.

    NAME.x1 NAME.x2 ...    tables (table.py)
    NAME.index             which of them count (manifest.py)

All of this is a cache: what is damaged or missing is rebuilt from the log, in slices (`tick`), while searches go on over
what there is.
"""

import gc
import os
from binascii import a2b_base64

from engram import diag, files
from engram.compat import const
from engram.lazy import lazy
from engram.store.index import codec
from engram.store.index.memtable import MemTable
from engram.store.index.table import Table, TableDamaged
from engram.store.search.session_scores import SessionSizes

_MEAN = const(12 * 16)  # words of a row, times 16, before there are rows to tell


class Index:
    """The index beside the log at `base`; has_words(seq, offset) says whether a line has words, None if the log lacks it."""

    def __init__(self, base: str, has_words=None):
        self.base = base
        self.next_number = 1
        self.job = None
        self.has_words = has_words
        self.tidy_below = 0  # tables with a lower number and with dead rows are rewritten
        self.retired = []  # numbers of merged tables whose files go once they are not named any more
        self.tables = []
        self.memtable = MemTable()
        self.session_sizes = None  # SessionSizes once there is a session
        self.has_left_names = False  # whether it was reported that there are too many
        self.has_lost = False  # a table since this was reset: its lines are unindexed
        self.epoch = 0

    # --- opening and saving

    def open(self, epoch: int):
        """Open the tables that count; the manifest's fields as a dict, None if there is nothing to go on from."""
        self.epoch = epoch
        with lazy("store.index.manifest"):
            from engram.store.index import manifest

            saved = manifest.read(self.base + ".index")
        if saved is None or saved["epoch"] != epoch:
            self.remove()
            return None
        self.next_number, self.tidy_below = saved["next"], saved["tidy"]
        for number in saved["drop"]:
            files.discard(self.path_of(number))
        for number, first in saved["pieces"]:
            gc.collect()  # so that what stays does not lie behind what goes
            try:
                table = Table(self.path_of(number), number)
                if table.epoch != epoch or table.first != first:
                    raise TableDamaged("another one's")
                if number in saved["dead"]:
                    dead = a2b_base64(saved["dead"][number])
                    if len(dead) != len(table.dead):
                        raise TableDamaged("another table's")
                    table.dead = bytearray(dead)
                self.tables.append(table)
                if table.has_sessions:
                    self._sizes()
            except TableDamaged as error:
                self._warn(number, error)
        return saved

    def save(self, tail, pending, state) -> None:
        """Write the manifest."""
        from engram.store.index import manifest

        drop = self.retired + ([self.job.number] if self.job else [])
        lines = manifest.lines(self, tail, drop, pending, state)
        files.write_parts(self.base + ".index", lines)
        for number in self.retired:
            files.discard(self.path_of(number))
        self.retired = []

    def close(self) -> None:
        """Close the files and forget the lines in RAM."""
        self.stop_job()
        for table in self.tables:
            table.close()
        self.tables = []
        self.retired = []
        self.clear_memtable()

    def remove(self) -> None:
        """Take the index off the flash: it comes back from the log."""
        self.close()
        self.next_number = 1
        folder, _, name = self.base.rpartition("/")
        for file in os.listdir(folder or "/"):
            if file == name + ".index" or (file.startswith(name + ".x") and file[len(name) + 2 :].isdigit()):
                files.discard(folder + "/" + file)

    def path_of(self, number: int) -> str:
        """The path of a table's file."""
        return self.base + ".x%d" % number

    # --- damage

    def guarded(self, table, function, *arguments):
        """The result of a function of a table; None, and the table leaves the index, if the table is damaged."""
        try:
            return function(*arguments)
        except (TableDamaged, OSError, ValueError, IndexError) as error:
            self.lose(table, error)
            return None

    def lose(self, table, error) -> None:
        """A table turned out to be damaged: it leaves the index."""
        if table in self.tables:
            self.has_lost = True
            self._warn(table.number, error)
            self._drop(table)

    def _warn(self, number: int, error) -> None:
        diag.warning("index", "%s is damaged (%s) and is rebuilt" % (self.path_of(number), error))

    # --- what is in it

    @property
    def rows(self) -> int:
        """The number of rows that are live."""
        live = len(self.memtable) - codec.count_bits(self.memtable.dead)
        return live + sum(table.live for table in self.tables)

    def mean(self) -> int:
        """16 times the mean number of words of a row."""
        rows = len(self.memtable) + sum(table.rows for table in self.tables)
        words = self.memtable.words + sum(table.words for table in self.tables)
        return max(1, words * 16 // rows) if rows > 20 else _MEAN

    def covered(self):
        """Yield (first seq, last seq) of each table, in order."""
        for table in self.tables:
            yield table.first, table.last

    def add_row(self, seq: int, offset: int, size: int, minutes: int, session: int, terms, labels) -> None:
        """Take in the next line."""
        self.memtable.add_row(seq, offset, size, minutes, session, terms, labels)
        if session:
            self._sizes().add_rows(session)

    def _sizes(self) -> SessionSizes:
        if self.session_sizes is None:
            self.session_sizes = SessionSizes()
        return self.session_sizes

    def forget_sizes(self) -> None:
        """The rows of sessions are others than before."""
        if self.session_sizes:
            self.session_sizes.forget()

    @property
    def is_full(self) -> bool:
        """Whether the lines in RAM have to become a table."""
        return self.memtable.is_full

    def end_session(self, session: int) -> None:
        """Take all rows of a session out of the answers."""
        for row in range(len(self.memtable)):
            if self.memtable.sessions[row] == session:
                codec.set_bit(self.memtable.dead, row)
        for table in list(self.tables):
            run = self.guarded(table, table.run, session)
            for row in range(run[0], run[1]) if run else ():
                codec.set_bit(table.dead, row)

    def set_dead(self, seq: int, session: int, dead: bool) -> bool:
        """Take a line's row out of the answers, or back in; whether it has a row."""
        row = self.memtable.row_of(seq)
        if row >= 0:
            _set(self.memtable.dead, row, dead)
            return True
        for table in reversed(self.tables):
            if table.first <= seq <= table.last:
                row = self.guarded(table, table.row_of, seq, session)
                if row is not None and row >= 0:
                    _set(table.dead, row, dead)
                    return True
        return False

    def offset_of(self, seq: int) -> int:
        """Where a line should begin, as far as that is known without its session; -1 if it is not."""
        row = self.memtable.row_of(seq)
        if row >= 0:
            return self.memtable.offsets[row]
        for table in reversed(self.tables):
            if table.first <= seq <= table.last:
                row = -1 if table.has_sessions else self.guarded(table, table.row_of, seq, 0)
                return self.locate(table, row)[1] if row is not None and row >= 0 else -1
        return -1

    def is_dead(self, seq: int, session: int):
        """Whether a line's row is out of the answers; None if it has no row."""
        row = self.memtable.row_of(seq)
        if row >= 0:
            return codec.has_bit(self.memtable.dead, row)
        for table in reversed(self.tables):
            if table.first <= seq <= table.last:
                row = self.guarded(table, table.row_of, seq, session)
                if row is not None and row >= 0:
                    return codec.has_bit(table.dead, row)
        return None

    # --- growing

    def seal(self, first: int, last: int) -> None:
        """Make a table of the lines in RAM, which are all from seq `first` to `last`."""
        if len(self.memtable):
            self._insert(self.memtable, first, last)
            self.memtable.clear()

    def clear_memtable(self) -> None:
        """Let the lines in RAM go."""
        self.memtable.clear()
        self.forget_sizes()

    def drop_before(self, oldest: int) -> bool:
        """Hide the rows of lines before a seq, which have left the log; whether there were any."""
        were_there = False
        for table in list(self.tables):
            if table.last < oldest:
                self._drop(table)
                were_there = True
            elif table.first < oldest and self.guarded(table, _mark_left, table, oldest):
                were_there = True
        return were_there

    def _drop(self, table) -> None:
        """Take a table out of the index, and its file off the flash."""
        self.tables.remove(table)
        table.close()
        files.discard(table.path)
        self.stop_job()
        self.forget_sizes()

    def insert(self, rows: MemTable, first: int, last: int) -> None:
        """Make a table of some rows, all that there are from seq `first` to `last`, in its place among the tables."""
        self._insert(rows, first, last)
        if any(table.has_sessions for table in self.tables):
            self._sizes().forget()

    def _insert(self, rows: MemTable, first: int, last: int) -> None:
        from engram.store.index import merge_policy  # when a board only reads, its heap is for searches

        merge_policy.insert(self, rows, first, last)

    def tick(self, is_filling: bool = False) -> bool:
        """Do a slice of merging; whether the index has to be saved.

        After a merge that can wait for the next table: until then the tables stay of which the merged one was made.
        """
        from engram.store.index import merge_policy

        return merge_policy.step(self, is_filling)

    def tidy(self) -> None:
        """Have tick() rewrite the present tables that have dead rows, without lines that have left the log (see Merge)."""
        self.tidy_below = self.next_number

    @property
    def is_tidying(self) -> bool:
        """Whether there are tables to rewrite."""
        from engram.store.index import merge_policy

        return bool(merge_policy.untidy(self))

    @property
    def is_busy(self) -> bool:
        """Whether there is merging to do."""
        from engram.store.index import merge_policy

        return self.job is not None or bool(merge_policy.untidy(self) or merge_policy.due(self))

    def stop_job(self) -> None:
        """Give up the merge that is under way."""
        if self.job is not None:
            self.job.abandon()
            self.job = None

    # --- searching

    def seqs_with_label(self, hash: int) -> list:
        """The seqs of all rows that have a label, dead ones too, ascending."""
        found = []
        for table in list(self.tables):
            found += self.guarded(table, _seqs_with_label, table, hash) or []
        found += self.memtable.seqs_with_label(hash)
        found.sort()
        return found

    def locate(self, table, row: int) -> tuple:
        """(seq, offset) of a row, (0, 0) if the table is damaged."""
        if table is None:
            return self.memtable.seqs[row], self.memtable.offsets[row]
        found = self.guarded(table, table.row, row)
        return (found[0], found[1]) if found else (0, 0)

    def has_label(self, hash: int) -> bool:
        """Whether a row has a label."""
        return bool(self.memtable.seqs_with_label(hash)) or any(
            self.guarded(table, table.find, hash) for table in list(self.tables)
        )


def _seqs_with_label(table, hash: int) -> list:
    found = table.find(hash)
    return [table.row(row)[0] for row, _ in codec.decoded(table, found, hash)] if found else []


def _set(bits: bytearray, row: int, on: bool) -> None:
    if on:
        codec.set_bit(bits, row)
    else:
        bits[row >> 3] &= ~(1 << (row & 7))


def _mark_left(table, oldest: int) -> bool:
    before = table.live
    for row, (seq, _, _) in enumerate(table.each_row()):
        if seq < oldest:
            codec.set_bit(table.dead, row)
    return table.live < before
