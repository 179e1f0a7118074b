"""One SQLite file: write-ahead log, synced at every commit, one writer at a time."""

import contextlib
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

from engram_host.companion.errors import StoreBusy, StoreDamaged, StoreFull, StoreUnavailable
from engram_host.companion.store.database import Database, Result
from engram_host.companion.store.rows import Rows

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

BUSY_SECONDS = 10

LEAST_FREE = 16 << 20
"""Free bytes on disk below which to warn: a write-ahead log may take 4 MB, plus a batch of lines."""

_MISTAKES = (sqlite3.IntegrityError, sqlite3.ProgrammingError)
_FAILURES = (sqlite3.DatabaseError, TypeError, ValueError, AttributeError)
"""Errors of a transaction; the last three are bugs, or come from values that damage made."""

_LOOK_SECONDS, _LOOK_EVERY = 5.0, 60.0

_CHECK_STEPS = 5000

_CHECK_TRIES, _CHECK_PAUSE = 20, 0.5

READERS = 8

_LOG_IS_READ = (
    "the write-ahead log beside the database, which another process reads now: it is emptied at the next change, or at the "
    "companion's next start."
)

_BEGIN_TRIES, _BEGIN_PAUSE = 50, 0.1

_UNREADABLE = (
    sqlite3.SQLITE_IOERR_READ,
    sqlite3.SQLITE_IOERR_SHORT_READ,
    sqlite3.SQLITE_IOERR_DATA,
    sqlite3.SQLITE_IOERR_CORRUPTFS,
)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_SAYS_DAMAGED = ("Could not decode to UTF-8", "already exists")


class SqliteRows(Rows):
    def __init__(self, connection: sqlite3.Connection):
        super().__init__()
        self._connection = connection

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            self._connection.executemany(sql, rows)

    def script(self, sql: str) -> None:
        """Execute statements one by one, as executescript() would commit first."""
        statement = ""
        for line in sql.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self._connection.execute(statement)
                statement = ""

    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self._connection.execute(sql, values).rowcount

    def size(self) -> int:
        ((pages,),) = self.run("PRAGMA page_count")
        ((each,),) = self.run("PRAGMA page_size")
        return pages * each


class SqliteDatabase(Database):
    """A database file, on a local disk; several processes may use it."""

    name = "SQLite"

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._writing = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._readers: LifoQueue[sqlite3.Connection] = LifoQueue(READERS)
        self._is_wiping = False
        self._next_look = 0.0
        self._has_old_bytes = True  # in the write-ahead log; a killed process may have left some

    def connect(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Private data; the files beside it get the same mode.
            self.path.touch(mode=0o600)
        except OSError as error:
            raise StoreUnavailable(f"{self.path} cannot be made: {error.strerror}. Choose another place.") from error
        with self._writing:
            if self._writer is None:
                self._writer = self._connection()

    def close(self) -> None:
        with self._writing:
            writer, self._writer = self._writer, None
            while True:
                try:
                    self._readers.get_nowait().close()
                except Empty:
                    break
            if writer is not None:
                self._wipe(writer)
                writer.close()

    def _connection(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            # Deleted bytes are overwritten with zeros.
            for pragma in ("secure_delete = ON", "synchronous = FULL"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            _use_write_ahead_log(connection)
        except UnicodeDecodeError as error:
            raise self._note_garbled() from error
        except sqlite3.DatabaseError as error:
            raise self._problem(error) from error
        return connection

    def write(self, work: Callable[[Rows], Result]) -> Result:
        with self._writing:
            if self._writer is None:
                raise StoreUnavailable("the companion's database is closed.")
            self.require_undamaged()
            rows = SqliteRows(self._writer)
            try:
                result = _transaction(self._writer, rows, "BEGIN IMMEDIATE", work)
            except _FAILURES as error:
                raise self._problem(error) from error
            self._has_old_bytes |= rows.let_go
            if self._has_old_bytes:
                self._wipe(self._writer)
            return result

    def read(self, work: Callable[[Rows], Result]) -> Result:
        if self._writer is None:
            raise StoreUnavailable("the companion's database is closed.")
        try:
            connection = self._readers.get_nowait()
        except Empty:
            connection = self._connection()
        try:
            return _transaction(connection, SqliteRows(connection), "BEGIN", work)
        except _FAILURES as error:
            raise self._problem(error) from error
        finally:
            self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._writer is None or self._readers.full():
            connection.close()
        else:
            self._readers.put_nowait(connection)

    def scrub(self) -> list[str]:
        with self._writing:
            if self._writer is None:
                raise StoreUnavailable("the companion's database is closed.")
            try:
                self._writer.execute("VACUUM")
            except sqlite3.DatabaseError as error:
                raise self._problem(error) from error
            self._wipe(self._writer)
            return [_LOG_IS_READ] if self._has_old_bytes else []

    def _wipe(self, writer: sqlite3.Connection) -> None:
        self._is_wiping = True
        try:
            (is_busy, _, _) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.DatabaseError:
            is_busy = True  # the transaction is committed; the next write will report the problem
        finally:
            self._is_wiping = False
        self._has_old_bytes = bool(is_busy)

    def check(self) -> None:
        if self._writer is None:
            raise StoreUnavailable("the companion's database is closed.")
        with contextlib.closing(self._connection()) as connection:
            try:
                connection.set_progress_handler(self._must_yield, _CHECK_STEPS)
                names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                for (name,) in names:
                    self._check_table(connection, name)
            except UnicodeDecodeError as error:
                raise self._note_garbled() from error
            except sqlite3.DatabaseError as error:
                raise self._problem(error) from error

    def _must_yield(self) -> bool:
        return self._is_wiping or self._writer is None

    def _check_table(self, connection: sqlite3.Connection, name: str) -> None:
        for again in reversed(range(_CHECK_TRIES)):
            try:
                ((verdict, *_), *_) = connection.execute(f"PRAGMA integrity_check({name})").fetchall()
            except sqlite3.OperationalError as error:
                if (
                    getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_INTERRUPT
                    or not again
                    or self._writer is None
                ):
                    raise
                time.sleep(_CHECK_PAUSE)
                continue
            if verdict != "ok":
                raise self.note_damage(f"{self.path} is damaged ({verdict})")
            return

    def _damage_behind(self) -> StoreDamaged | None:
        if time.monotonic() < self._next_look:
            return None
        self._next_look = time.monotonic() + _LOOK_EVERY
        until = time.monotonic() + _LOOK_SECONDS
        try:
            with contextlib.closing(sqlite3.connect(self.path, BUSY_SECONDS)) as connection:
                connection.set_progress_handler(lambda: time.monotonic() > until, _CHECK_STEPS)
                ((verdict, *_), *_) = connection.execute("PRAGMA quick_check(1)").fetchall()
        except UnicodeDecodeError:
            return self._note_garbled()
        except sqlite3.DatabaseError:
            return None  # a timeout, or an error that the next call reports
        return self.note_damage(f"{self.path} is damaged ({verdict})") if verdict != "ok" else None

    def warnings(self) -> list[str]:
        try:
            free = shutil.disk_usage(self.path.parent).free
        except OSError as error:
            return [f"the disk of {self.path} cannot be looked at: {error.strerror}."]
        if free >= LEAST_FREE:
            return []
        return [f"the disk of {self.path} has only {free >> 20} MB left: make room; boards keep what is not copied."]

    def _note_garbled(self) -> StoreDamaged:
        return self.note_damage(f"{self.path} is damaged (its schema is garbled)")

    def _problem(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, _MISTAKES):
            # Damaged rows cause such errors, too.
            return self._damage_behind() or error
        extended = getattr(error, "sqlite_errorcode", 0)
        code = extended & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return StoreFull(f"the disk of {self.path} is full: make room there; boards keep what is not copied.")
        if code in _BUSY:
            return StoreBusy(f"{self.path} is locked by another program: close that, or wait until it is done.")
        if code in DAMAGED or extended in _UNREADABLE or any(part in str(error) for part in _SAYS_DAMAGED):
            return self.note_damage(f"{self.path} is damaged, or no database ({error})")
        return StoreUnavailable(f"{self.path} cannot be used: {error}. Look at its disk and its permissions.")


def _transaction(
    connection: sqlite3.Connection, rows: SqliteRows, begin: str, work: Callable[[Rows], Result]
) -> Result:
    connection.execute(begin)
    try:
        result = work(rows)
        rows.flush()
        connection.execute("COMMIT")
    except BaseException:
        # A full disk has rolled it back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    for again in reversed(range(_BEGIN_TRIES)):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or not again:
                raise
            time.sleep(_BEGIN_PAUSE)
