"""The merge policy of an index: tables made from RAM, and merges of tables, in slices.

Tables are merged when three new ones have come, along with older ones of at most four times the size of all that is merged
so far: five at most at once. So their number stays about logarithmic, and a row is rewritten few times.
"""

from engram import diag, files
from engram.errors import StoreError
from engram.store.index import codec, memtable
from engram.store.index.merge import Merge
from engram.store.index.table import Table, TableDamaged
from engram.store.index.table_writer import write_table

_MOST_TABLES = const(5)  # that are merged at once: each takes about 4 bytes a session and a kilobyte
_FRESH_TABLES = const(3)  # tables of RAM lines before they are merged with older ones
_SHARE = const(4)  # how many times as large as all that is merged so far an older one may be
_MOST_ROWS = const(6144)  # of a merged table: a search takes a byte of heap for each


def insert(index, rows: memtable.MemTable, first: int, last: int) -> None:
    """Insert a table of all rows from seq `first` to `last` at its place."""
    path = index.path_of(index.next_number)
    try:
        mean = index.mean()
        index.begun += 1  # from here on the flash is worn
        write_table(rows, path, mean, index.epoch, first, last)
        table = Table(path, index.next_number)
        _mark_dead(table, rows)
    except OSError as error:
        raise files.failure(error, path) from None
    except TableDamaged as error:
        files.discard(path)
        index.note_fault(index.next_number)
        raise StoreError("%s does not read back as it was written (%s)." % (path, error)) from None
    index.begun = 0
    index.next_number += 1
    at = len(index.tables)
    while at and index.tables[at - 1].first > table.first:
        at -= 1
    index.tables.insert(at, table)
    if rows is not index.memtable:
        index.session_sizes.forget()


def _mark_dead(table, rows: memtable.MemTable) -> None:
    for row in range(rows.rows):
        if codec.has_bit(rows.dead, row):
            place = table.row_of(rows.seqs[row], rows.sessions[row])
            if place < 0:
                table.close()
                raise TableDamaged("a row is missing")
            codec.set_bit(table.dead, place)


def due(index, is_filling: bool = False) -> list:
    """Return the tables to merge now, old to new; filling merges only groups of similar size."""
    if is_filling:
        return _alike(index)
    end = len(index.tables)
    while end > 1:
        start, first = _due_before(index, end)
        if first < end:
            return index.tables[first:end]
        end = start
    return []


def _alike(index) -> list:
    for end in range(len(index.tables), _MOST_TABLES - 1, -1):
        some = index.tables[end - _MOST_TABLES : end]
        sizes = [table.log_bytes for table in some]
        is_whole = all(some[at].last + 1 == some[at + 1].first for at in range(_MOST_TABLES - 1))
        if is_whole and max(sizes) * 2 <= sum(sizes) and sum(table.rows for table in some) <= _MOST_ROWS:
            return some
    return []


def _due_before(index, end: int) -> tuple:
    """Return where the contiguous tables before `end` start, and where to merge from."""
    tables = index.tables
    start = end - 1
    while start and tables[start - 1].last + 1 == tables[start].first:
        start -= 1
    least = max(start, end - _MOST_TABLES)
    first = end
    while first > least and tables[first - 1].log_bytes < 2 * memtable.CHUNK_BYTES:
        first -= 1
    if end - first < _FRESH_TABLES:
        return start, end
    size = sum(table.log_bytes for table in tables[first:end])
    rows = sum(table.rows for table in tables[first:end])
    while first > least:
        older = tables[first - 1]
        rows += older.rows
        if older.log_bytes > _SHARE * size or rows > _MOST_ROWS:
            break
        size += older.log_bytes
        first -= 1
    return start, first


def is_busy(index) -> bool:
    return index.job is not None or bool(untidy(index) or due(index))


def step(index, is_filling: bool = False) -> bool:
    """Do a slice of merging; True if the index must be saved, which may wait for the next table."""
    tables = []
    if index.job is None:
        tables = untidy(index)
        if not tables:
            index.tidy_below = 0
            tables = due(index, is_filling)
        if not tables:
            return False
    try:
        if tables:
            index.begun += 1
            left = index.has_words if tables[0].number < index.tidy_below else None
            index.job = Merge(tables, index.path_of(index.next_number), index.next_number, left)
            index.next_number += 1
        if index.job.step():
            return False
        _finish(index, index.job)
    except (TableDamaged, ValueError, IndexError) as error:
        _drop_damaged(index, index.job.tables if index.job else tables, error)
        index.stop_job()
        return False
    except OSError as error:
        index.stop_job()
        raise files.failure(error, index.base) from None
    is_tidy = len(index.job.tables) == 1
    index.job = None
    index.begun = 0
    return is_filling or is_tidy


def untidy(index) -> list:
    """Return a list of one table to rewrite, or []."""
    for table in index.tables:
        if table.number < index.tidy_below and any(table.dead):
            return [table]
    return []


def _finish(index, job) -> None:
    at = index.tables.index(job.tables[0])
    made = []
    if job.rows:
        made.append(Table(job.path, job.number))
        job.take_over_dead(made[0])
    else:
        job.abandon()
    index.tables[at : at + len(job.tables)] = made
    if job.has_left_names and not index.has_left_names:
        index.has_left_names = True
        diag.warning(
            "index", index.base + ": there are more tags than the catalog holds: some are found but not listed"
        )
    if job.rows < sum(old.rows for old in job.tables):
        index.session_sizes.forget()
    for old in job.tables:
        old.close()
        index.retired.append(old.number)


def _drop_damaged(index, tables: list, error) -> None:
    """Drop tables that a merge could not read, for a rebuild; a few times only."""
    index.note_fault(max(table.number for table in tables))
    for table in () if index.fault else tables:
        index.lose(table, error)
