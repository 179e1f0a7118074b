"""The keyword index of one log: sealed tables in flash, and the newest lines in RAM.

    NAME.x1 NAME.x2 ...    tables (table.py)
    NAME.index             the manifest, which of them count: lines as in log_line.py, replaced in one step

    {"format":4,"epoch","tail":[segment, offset, seq],"next","tidy","drop":[numbers of files to remove],
     "pieces":[[number, first seq], ...],"marked":N,"pending":[entry, ...],"crc"}
    {"state":{...},"crc"}
    {"piece","dead":bits of dead rows in base64,"crc"}       for each of the N tables that have some

`tail` is where the lines begin that are not in a table; only those are read when the log is opened. `next` is the number of
the next table; those with dead rows and a number below `tidy` still have lines that have left the log. `pending` and `state`
belong to the store and to the log's owner.

All of this is a cache: what is damaged or missing is rebuilt from the log, in slices (`tick`), while searches go on over
what there is.
"""

import os
from binascii import a2b_base64, b2a_base64

from engram import diag, files, log_line
from engram.errors import StoreError
from engram.store.index import codec
from engram.store.index.memtable import MemTable
from engram.store.index.table import Table, TableDamaged

_MEAN = const(12 * 16)  # words of a row, times 16, before there are rows to tell
_MOST_FAULTS = const(3)  # rebuilds of tables that do not read back: without end they would wear the flash out
_FAULT = const("it does not read back as it was written: restart the board, and report this if it comes again.")
_FORMAT = const(4)  # also counts what the tables have: 3 has other hashes, 2 and 1 other stems
_FIELDS = const("format epoch tail next tidy drop pieces marked pending state")


class Index:
    """The index of the log at `base`; has_words(seq, offset) is None for a missing line."""

    def __init__(self, base: str, has_words=None):
        self.base = base
        self.next_number = 1
        self.job = None
        self.has_words = has_words
        self.tidy_below = 0  # tables with a lower number and with dead rows are rewritten
        self.retired = []  # numbers of merged tables whose files go once they are not named any more
        self.tables = []
        self.memtable = MemTable()
        self.session_sizes = codec.SessionSizes()
        self.has_left_names = False  # whether it was reported that there are too many
        self.has_lost = False  # a table since this was reset: its lines are unindexed
        self.epoch = 0
        self.begun = 0
        """Tables begun since the last finished one, to detect stalls."""
        self.fault = ""
        """Reason why writing stops until the next start, or ""."""
        self._faults = 0
        self._fresh = -1  # the number from which on tables were written since the start, and since the last fault

    # --- opening and saving

    def open(self, epoch: int):
        """Open the valid tables; return the manifest as a dict or None."""
        self.epoch = epoch
        saved = _read_manifest(self.base + ".index")
        if saved is None or saved["epoch"] != epoch:
            self.remove()
            return None
        self.next_number, self.tidy_below = saved["next"], saved["tidy"]
        if self._fresh < 0:
            self._fresh = self.next_number
        for number in saved["drop"]:
            files.discard(self.path_of(number))
        for number, first in saved["pieces"]:
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
            except TableDamaged as error:
                self._note_damage(number, error)
        return saved

    def save(self, tail, pending, state) -> None:
        drop = self.retired + ([self.job.number] if self.job else [])
        lines = _manifest_lines(self, tail, drop, pending, state)
        files.write_parts(self.base + ".index", lines)
        for number in self.retired:
            files.discard(self.path_of(number))
        self.retired = []

    def close(self) -> None:
        self.stop_job()
        for table in self.tables:
            table.close()
        self.tables = []
        self.retired = []
        self.clear_memtable()

    def remove(self) -> None:
        self.close()
        self.next_number = self._fresh = 1
        folder, _, name = self.base.rpartition("/")
        for file in os.listdir(folder or "/"):
            if file == name + ".index" or (file.startswith(name + ".x") and file[len(name) + 2 :].isdigit()):
                files.discard(folder + "/" + file)

    def path_of(self, number: int) -> str:
        return self.base + ".x%d" % number

    # --- damage

    def guarded(self, table, function, *arguments):
        """Return a table function's result; None, dropping the table, if it is damaged."""
        try:
            return function(*arguments)
        except (TableDamaged, OSError, ValueError, IndexError) as error:
            self.lose(table, error)
            return None

    def lose(self, table, error) -> None:
        """Drop a damaged table."""
        if table in self.tables:
            self.has_lost = True
            self._note_damage(table.number, error)
            self._drop(table)

    def _note_damage(self, number: int, error) -> None:
        self.note_fault(number)
        consequence = "" if self.fault else " and is rebuilt"
        diag.warning("index", "%s is damaged (%s)%s" % (self.path_of(number), error, consequence))

    def note_fault(self, number: int) -> None:
        """Count an unreadable table written since the start and since the last counted one."""
        if 0 <= self._fresh <= number:
            self._fresh = self.next_number
            self._faults += 1
            if self._faults >= _MOST_FAULTS:
                self.fault = _FAULT

    # --- contents

    def all_tables(self) -> list:
        return self.tables + [self.memtable]

    @property
    def rows(self) -> int:
        return sum(table.live for table in self.all_tables())

    def mean(self) -> int:
        """Return 16 times the mean words of a row."""
        rows = sum(table.rows for table in self.all_tables())
        words = sum(table.words for table in self.all_tables())
        return max(1, words * 16 // rows) if rows > 20 else _MEAN

    def end_session(self, session: int) -> None:
        for row in range(self.memtable.rows):
            if self.memtable.sessions[row] == session:
                codec.set_bit(self.memtable.dead, row)
        for table in list(self.tables):
            run = self.guarded(table, table.run, session)
            for row in range(run[0], run[1]) if run else ():
                codec.set_bit(table.dead, row)

    def set_dead(self, seq: int, session: int, dead: bool) -> None:
        """Hide or show a line's row, if it has one."""
        table, row = self.place(seq, session)
        if row >= 0 and codec.has_bit(table.dead, row) != dead:
            table.dead[row >> 3] ^= 1 << (row & 7)

    def is_dead(self, seq: int, session: int):
        """True if a line's row is hidden, None without a row."""
        table, row = self.place(seq, session)
        return codec.has_bit(table.dead, row) if row >= 0 else None

    def offset_of(self, seq: int) -> int:
        """Return the probable offset of a line, -1 if unknown."""
        table, row = self.place(seq)
        return self.locate(table, row)[1] if row >= 0 else -1

    def place(self, seq: int, session: int = -1) -> tuple:
        """Return (table, row) of a line; row -1 if it has none or needs its session."""
        row = self.memtable.row_of(seq)
        if row >= 0:
            return self.memtable, row
        for table in reversed(self.tables):
            if table.first <= seq <= table.last and (session >= 0 or not table.has_sessions):
                row = self.guarded(table, table.row_of, seq, max(0, session))
                if row is not None and row >= 0:
                    return table, row
        return self.memtable, -1

    # --- growing

    def clear_memtable(self) -> None:
        self.memtable.clear()
        self.session_sizes.forget()

    def drop_before(self, oldest: int) -> bool:
        """Hide rows of lines before a seq, which left the log; True if there were any."""
        were_there = False
        for table in list(self.tables):
            if table.last < oldest:
                self._drop(table)
                were_there = True
            elif table.first < oldest and self.guarded(table, _mark_left, table, oldest):
                were_there = True
        return were_there

    def _drop(self, table) -> None:
        self.tables.remove(table)
        table.close()
        files.discard(table.path)
        self.stop_job()
        self.session_sizes.forget()

    def stop_job(self) -> None:
        if self.job is not None:
            self.job.abandon()
            self.job = None

    # --- searching

    def seqs_with_label(self, label: str) -> list:
        """Return the ascending seqs of all rows with a label, dead ones included."""
        hash = codec.term_hash(label)
        found = []
        for table in self.all_tables():
            found += (
                self.guarded(table, lambda table: [table.row(row)[0] for row in table.rows_with(hash)], table) or []
            )
        found.sort()
        return found

    def locate(self, table, row: int) -> tuple:
        """Return (seq, offset) of a row, (0, 0) if the table is damaged."""
        found = self.guarded(table, table.row, row)
        return (found[0], found[1]) if found else (0, 0)


def _mark_left(table, oldest: int) -> bool:
    before = table.live
    for row, (seq, _, _) in enumerate(table.each_row()):
        if seq < oldest:
            codec.set_bit(table.dead, row)
    return table.live < before


# --- the manifest


def _read_manifest(path: str):
    written = log_line.whole_lines(path)
    try:
        # A damaged line is decoded, too, as one that is none.
        found = (log_line.decode(line or b"") for line in written)
        saved = next(found, None)
        if saved is None:
            return None
        saved.update(next(found, {}))
        saved["dead"] = {line["piece"]: line["dead"] for line in found}
        is_known = all(name in saved for name in _FIELDS.split()) and saved["format"] == _FORMAT
        if is_known and len(saved["dead"]) == saved["marked"]:
            return saved
    except (OSError, ValueError, KeyError, StoreError):
        written.close()
    diag.warning("index", path + " is damaged and is rebuilt")
    return None


def _manifest_lines(index, tail, drop, pending, state):
    marked = [table for table in index.tables if any(table.dead)]
    named = [[table.number, table.first] for table in index.tables]
    head = [("format", _FORMAT), ("epoch", index.epoch), ("tail", tail), ("next", index.next_number)]
    head += [("tidy", index.tidy_below), ("drop", drop), ("pieces", named)]
    yield log_line.encode(head + [("marked", len(marked)), ("pending", pending)])
    yield log_line.encode((("state", state or {}),))
    for table in marked:
        yield log_line.encode((("piece", table.number), ("dead", b2a_base64(table.dead).decode().strip())))
