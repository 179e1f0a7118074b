"""PostgreSQL with pgvector: a row lock per board, several processes on one database."""

import random
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from engram_host.companion.errors import IF_POSTGRES_DAMAGED, SettingError, StoreBusy, StoreFull, StoreUnavailable
from engram_host.companion.store.database import Database, Result
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.removal import OF_DEVICE
from engram_host.companion.store.sql.notices import CHANNEL
from engram_host.companion.store.sql.statements import LINE_COLUMNS, ON_KNOWN_LINE
from engram_host.companion.store.sql.vacuum import read_vacuum_state
from engram_host.companion.vector_types import Vector
from engram_host.extras import install_command

try:
    import psycopg
    from pgvector import Vector as PgVector
    from pgvector.psycopg import register_vector
    from psycopg import errors
    from psycopg.types import TypeInfo
    from psycopg.types.string import ByteaBinaryLoader

    from engram_host.companion.store.sql.postgres_session import PostgresLocks, advisory_locks, hear_notices
    from engram_host.companion.store.sql.postgres_transaction import (
        READ,
        WRITE,
        ConnectionLost,
        is_committed,
        run_transaction,
    )
except ImportError as error:
    raise SettingError(
        "store.url", f"asks for PostgreSQL: {install_command('postgres')} brings what it needs."
    ) from error

CONNECTIONS = 8

CONNECTION_SECONDS = 3600.0
"""Seconds of use: an old temporary table keeps the server from forgetting old transactions."""

WAIT_SECONDS = 10
"""Seconds to wait for a free connection or a lock; half of them to connect to the server."""

TRIES = 6

_VECTOR_HEAD = 4

_LOOK_SECONDS = 60.0

_SCHEMA_LOCK = 0x656E6772
"""Advisory lock of the schema; a number that nothing else of the database should use."""

_OPTIONS = f"-c synchronous_commit=on -c lock_timeout={WAIT_SECONDS}s -c idle_in_transaction_session_timeout=60s"

_REWRITTEN = tuple(table.encode() for table in (*OF_DEVICE, "devices", "notes"))
_COLUMNS = """
    SELECT convert_to(quote_ident(attname), 'UTF8'), convert_to(format_type(atttypid, atttypmod), 'UTF8') FROM pg_attribute
    LEFT JOIN pg_partitioned_table ON partrelid = attrelid
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attnum <> ALL (coalesce(partattrs, ''))
"""
_SAME_TYPE = b"ALTER TABLE %b ALTER COLUMN %b TYPE %b"
_SERVER_LOG = "PostgreSQL's write-ahead log, its archive and its replicas, until the server has recycled them."

_TRY_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
_DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)
_SAYS_DAMAGED = ("could not open file", "could not read block", "invalid memory alloc", "chunk")

_SETTINGS = (
    errors.InsufficientPrivilege,
    errors.FeatureNotSupported,
    errors.UndefinedFile,
    errors.ReadOnlySqlTransaction,
)


COPIED_LINES = 50
"""Least lines for COPY; below that, its three statements cost more than they save."""

_LINE_TYPES = ("text", "text", "int8", "int8", "int8", "int8", "text", "bytea")
_NEW_LINES = (
    b"CREATE TEMPORARY TABLE IF NOT EXISTS new_lines (device TEXT, log TEXT, epoch BIGINT, seq BIGINT, version BIGINT, "
    b"received BIGINT, crc TEXT, line BYTEA) ON COMMIT DELETE ROWS"
)
_COPY_LINES = f"COPY new_lines ({LINE_COLUMNS}) FROM STDIN (FORMAT BINARY)".encode()
_PUT_NEW_LINES = f"INSERT INTO lines ({LINE_COLUMNS}) SELECT {LINE_COLUMNS} FROM new_lines {ON_KNOWN_LINE}"


def distinct_lines(lines: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Yield runs of lines with distinct keys, in order: one INSERT takes no row twice."""
    seen: set[tuple[Any, ...]] = set()
    start = 0
    for at, line in enumerate(lines):
        key = line[:4]
        if key in seen:
            yield lines[start:at]
            start = at
            seen.clear()
        seen.add(key)
    yield lines[start:]


class PostgresRows(Rows):
    """Rows on one connection of PostgreSQL."""

    for_update = " FOR UPDATE"
    contains = "position(? IN line) > 0"
    if_lost = "put a backup back with PostgreSQL's own tools; boards then send again what is newer."

    def __init__(self, connection: "psycopg.Connection[Any]"):
        super().__init__()
        self._cursor = connection.cursor(binary=True)

    def condition_in(self, column: str, numbers: Sequence[int]) -> tuple[str, Sequence[Any]]:
        return f"{column} = ANY (?::int8[])", [[*map(int, numbers)]]

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._cursor.execute(_marked(sql), values)
        return cursor.fetchall() if cursor.description else []

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if len(rows) == 1:
            self._cursor.execute(_marked(sql), rows[0])
        elif rows:
            self._cursor.executemany(_marked(sql), rows)

    def upsert_lines(self, lines: Sequence[tuple[Any, ...]]) -> None:
        """Copy many lines via a temporary table, which is three times as fast."""
        if len(lines) < COPIED_LINES:
            super().upsert_lines(lines)
            return
        self._cursor.execute(_NEW_LINES)
        for number, part in enumerate(distinct_lines(lines)):
            if number:
                # Not TRUNCATE, which would leave dead rows in the server's catalog.
                self._cursor.execute(b"DELETE FROM new_lines")
            with self._cursor.copy(_COPY_LINES) as copy:
                copy.set_types(_LINE_TYPES)
                for line in part:
                    copy.write_row(line)
            self.run(_PUT_NEW_LINES)

    def script(self, sql: str) -> None:
        self._cursor.connection.execute(sql.encode())

    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self._cursor.execute(_marked(sql), values).rowcount

    def read_by_index(self) -> None:
        for way in ("seqscan", "bitmapscan", "sort"):
            self.run(f"SET LOCAL enable_{way} = off")

    def lock_schema(self) -> None:
        self.run("SELECT pg_advisory_xact_lock(?)", (_SCHEMA_LOCK,))

    def notify(self, notice: str) -> None:
        self.run("SELECT pg_notify(?, ?)", (CHANNEL, notice))

    def size(self) -> int:
        ((size,),) = self.run("SELECT pg_database_size(current_database())")
        return size

    def pack(self, vector: Vector) -> PgVector:
        return PgVector(vector)

    def unpack_all(self, values: Sequence[bytes]) -> Vector:
        of_bytes = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)
        return of_bytes[:, _VECTOR_HEAD:].view(">f4").astype(np.float32)


@lru_cache(256)
def _marked(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


class PostgresDatabase(Database):
    """A database on a PostgreSQL server; connections recover from its restarts."""

    name = "PostgreSQL"
    dialect = "postgres"
    if_damaged = IF_POSTGRES_DAMAGED
    is_shared = True

    def __init__(self, url: str):
        self._url = url
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._guard = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []
        self._made: dict[psycopg.Connection[Any], float] = {}  # open connections by creation time
        self._is_open = False
        self._next_look = 0.0
        self._vacuum_problems: list[str] = []

    def migrate(self) -> list[str]:
        done = super().migrate()
        # Connections from before the migration do not know the vector type yet.
        self._drop_idle()
        return done

    def connect(self) -> None:
        self._is_open = True

    def close(self) -> None:
        self._is_open = False
        self._drop_idle()

    def write(self, work: Callable[[Rows], Result]) -> Result:
        self.require_undamaged()
        return self._transaction(WRITE, work)

    def read(self, work: Callable[[Rows], Result]) -> Result:
        return self._transaction(READ, work)

    def warnings(self) -> list[str]:
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _LOOK_SECONDS
            self._vacuum_problems = self.read(lambda rows: read_vacuum_state(rows.run).problems)
        return self._vacuum_problems

    def scrub(self) -> list[str]:
        """Rewrite the tables and the planner's statistics, which contain column values."""
        try:
            with self._connection() as connection:
                for table in _REWRITTEN:
                    for column, kind in connection.execute(_COLUMNS, (table.decode(),)).fetchall():
                        # Setting a column's type drops its statistics; ANALYZE keeps those of an empty table.
                        connection.execute(_SAME_TYPE % (table, column, kind))
                    connection.execute(b"VACUUM (FULL, ANALYZE) " + table)
                connection.execute(b"VACUUM (FULL) pg_catalog.pg_statistic")
        except psycopg.Error as error:
            raise self._problem(error) from error
        return [_SERVER_LOG]

    def notices(self) -> AsyncGenerator[str, None]:
        return hear_notices(self._url)

    def advisory_locks(self) -> "AbstractAsyncContextManager[PostgresLocks]":
        return advisory_locks(self._url)

    def read_once(self, work: Callable[[Rows], Result]) -> Result:
        return self._transaction(b"", work)

    def _transaction(self, begin: bytes, work: Callable[[Rows], Result]) -> Result:
        """Retry a transaction on a conflict, and once after a lost connection unless it was committed."""
        lost: ConnectionLost | None = None
        for again in reversed(range(TRIES)):
            try:
                with self._connection() as connection:
                    if lost and lost.number and is_committed(connection, lost.number):
                        return lost.result
                    return run_transaction(connection, begin, PostgresRows(connection), work)
            except psycopg.Error as error:
                found = error if isinstance(error, ConnectionLost) and not lost else None
                if not again or not (found or isinstance(error, _TRY_AGAIN)):
                    raise self._problem(error) from error
                lost = lost or found
                time.sleep(random.uniform(0, 0.05))
        raise AssertionError("a transaction ends or fails")

    @contextmanager
    def _connection(self) -> "Iterator[psycopg.Connection[Any]]":
        if not self._is_open:
            raise StoreUnavailable("the companion's database is closed.")
        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise StoreUnavailable(
                "all connections to the database are busy: try again, or start another companion on it."
            )
        try:
            with self._guard:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._new_connection()
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _new_connection(self) -> "psycopg.Connection[Any]":
        timeout = WAIT_SECONDS // 2
        try:
            connection = psycopg.connect(self._url, autocommit=True, options=_OPTIONS, connect_timeout=timeout)
        except psycopg.ProgrammingError:
            # libpq's message quotes the part that it could not parse, which may be the password.
            problem = (
                "is no address of a PostgreSQL database; it must look like postgresql://USER:PASSWORD@HOST/DATABASE, "
            )
            raise SettingError(
                "store.url", problem + "signs such as % and / in a password written %25 and %2F."
            ) from None
        if vector := TypeInfo.fetch(connection, "vector"):
            register_vector(connection)
            connection.adapters.register_loader(vector.oid, ByteaBinaryLoader)  # many are unpacked at once
        with self._guard:
            self._made[connection] = time.monotonic()
        return connection

    def _give_back(self, connection: "psycopg.Connection[Any]") -> None:
        if connection.closed:
            self._forget([connection])
            self._drop_idle()
            return
        with self._guard:
            is_old = time.monotonic() - self._made.get(connection, 0.0) > CONNECTION_SECONDS
            if self._is_open and not is_old:
                self._idle.append(connection)
                return
        self._forget([connection])

    def _drop_idle(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
        self._forget(idle)

    def _forget(self, connections: "Sequence[psycopg.Connection[Any]]") -> None:
        for connection in connections:
            with self._guard:
                self._made.pop(connection, None)
            connection.close()

    def _problem(self, error: psycopg.Error) -> Exception:
        said = (error.diag.message_primary or (str(error).strip() or "no reason given").splitlines()[0]).rstrip(".")
        if isinstance(error, errors.DiskFull):
            return StoreFull(
                "the disk of the PostgreSQL server is full: make room there; boards keep what is not copied."
            )
        if isinstance(error, _DAMAGED) or any(part in said for part in _SAYS_DAMAGED):
            return self.note_damage(f"PostgreSQL has found its files damaged ({said})")
        if isinstance(error, errors.DuplicateTable):
            return self.note_damage(f"the PostgreSQL database has lost its list of migrations ({said})")
        if isinstance(error, errors.UndefinedTable):
            return StoreUnavailable("the database has lost the companion's tables: restart the companion.")
        if isinstance(error, errors.LockNotAvailable):
            return StoreBusy(
                f"another process has locked what is needed of PostgreSQL for {WAIT_SECONDS} s: try again."
            )
        if isinstance(error, _SETTINGS):
            return StoreUnavailable(
                f"PostgreSQL refuses what the companion needs ({said}): give it a database of its own to write to, in which "
                "somebody who may has run CREATE EXTENSION vector."
            )
        if isinstance(error, (psycopg.OperationalError, psycopg.InternalError)):
            return StoreUnavailable(f"PostgreSQL cannot be used now ({said}): look whether it runs, and at store.url.")
        return error
