"""PostgreSQL: a row lock per board, several processes on one database."""

import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import lru_cache
from typing import Any

from engram_host.companion.errors import IF_POSTGRES_DAMAGED, SettingError, StoreBusy, StoreFull, StoreUnavailable
from engram_host.companion.store.database import Database, Result, tables_with
from engram_host.companion.store.rows import Rows
from engram_host.companion.store.values import CHANNEL
from engram_host.companion.supervisor import Backoff
from engram_host.extras import install_command

try:
    import psycopg
    from psycopg import errors
except ImportError as error:
    raise SettingError(
        "store.url", f"asks for PostgreSQL: {install_command('postgres')} brings what it needs."
    ) from error

CONNECTIONS = 8

WAIT_SECONDS = 10
"""Seconds to wait for a free connection or a lock; half of them to connect to the server."""

TRIES = 6
_PAUSES = 0.02, 0.2

_WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_SCHEMA_LOCK = 0x656E6772
"""Advisory lock of the schema; a number that nothing else of the database should use."""

_OPTIONS = f"-c synchronous_commit=on -c lock_timeout={WAIT_SECONDS}s -c idle_in_transaction_session_timeout=60s"

_COLUMNS = """
    SELECT convert_to(quote_ident(attname), 'UTF8'), convert_to(format_type(atttypid, atttypmod), 'UTF8') FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
"""
_SAME_TYPE = b"ALTER TABLE %b ALTER COLUMN %b TYPE %b"
_SERVER_LOG = "PostgreSQL's write-ahead log, its archive and its replicas, until the server has recycled them."


class ConnectionLost(psycopg.OperationalError):
    """A connection that broke before COMMIT, so that nothing has happened."""


_TRY_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected, ConnectionLost)
_DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)
_SAYS_DAMAGED = ("could not open file", "could not read block", "invalid memory alloc", "chunk")

_SETTINGS = (errors.InsufficientPrivilege, errors.FeatureNotSupported, errors.ReadOnlySqlTransaction)

_DIALECT = (
    (" INTEGER PRIMARY KEY AUTOINCREMENT", " BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    (" INTEGER", " BIGINT"),
    (" BLOB", " BYTEA"),
    (") WITHOUT ROWID;", ");"),
)
_VACUUMED_SOON = ("lines", "vectors", "aside", "files", "note_files")
"""Tables whose forgotten rows leave the files soon, not only when a fifth of them has changed."""


class PostgresRows(Rows):
    for_update = " FOR UPDATE"
    contains = "position(? IN line) > 0"
    if_lost = "put a backup back with PostgreSQL's own tools; boards then send again what is newer."

    def __init__(self, connection: "psycopg.Connection[Any]"):
        super().__init__()
        self._cursor = connection.cursor(binary=True)

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._cursor.execute(_marked(sql), values)
        return cursor.fetchall() if cursor.description else []

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if len(rows) == 1:
            self._cursor.execute(_marked(sql), rows[0])
        elif rows:
            self._cursor.executemany(_marked(sql), rows)

    def translated(self, schema: str) -> str:
        for one, other in _DIALECT:
            schema = schema.replace(one, other)
        soon = "autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0"
        return schema + "".join(f"\nALTER TABLE {table} SET ({soon});" for table in _VACUUMED_SOON)

    def script(self, sql: str) -> None:
        self._cursor.connection.execute(sql.encode())

    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        return self._cursor.execute(_marked(sql), values).rowcount

    def lock_schema(self) -> None:
        self.run("SELECT pg_advisory_xact_lock(?)", (_SCHEMA_LOCK,))

    def notify(self, notice: str) -> None:
        self.run("SELECT pg_notify(?, ?)", (CHANNEL, notice))

    def size(self) -> int:
        ((size,),) = self.run("SELECT pg_database_size(current_database())")
        return size


def _run(connection: "psycopg.Connection[Any]", begin: bytes, work: Callable[[Rows], Result]) -> Result:
    is_ending = False
    try:
        connection.execute(begin)
        rows = PostgresRows(connection)
        result = work(rows)
        rows.flush()
        is_ending = True
        connection.execute("COMMIT")
    except BaseException as error:
        _roll_back(connection)
        if connection.closed and isinstance(error, psycopg.Error) and not is_ending:
            raise ConnectionLost(*error.args) from error
        raise
    return result


def _roll_back(connection: "psycopg.Connection[Any]") -> None:
    try:
        if not connection.closed:
            connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()


@lru_cache(256)
def _marked(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


class PostgresDatabase(Database):
    """A database on a PostgreSQL server; connections recover from its restarts."""

    name = "PostgreSQL"
    if_damaged = IF_POSTGRES_DAMAGED
    is_shared = True

    def __init__(self, url: str):
        self._url = url
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._guard = threading.Lock()
        self._idle: list[psycopg.Connection[Any]] = []
        self._is_open = False

    def connect(self) -> None:
        self._is_open = True

    def close(self) -> None:
        self._is_open = False
        self._drop_idle()

    def write(self, work: Callable[[Rows], Result]) -> Result:
        self.require_undamaged()
        return self._transaction(_WRITE, work)

    def read(self, work: Callable[[Rows], Result]) -> Result:
        return self._transaction(_READ, work)

    def scrub(self) -> list[str]:
        """Rewrite the tables and the planner's statistics, which contain column values."""
        try:
            with self._connection() as connection:
                for table in tables_with():
                    for column, kind in connection.execute(_COLUMNS, (table,)).fetchall():
                        # Setting a column's type drops its statistics; ANALYZE keeps those of an empty table.
                        connection.execute(_SAME_TYPE % (table.encode(), column, kind))
                    connection.execute(b"VACUUM (FULL, ANALYZE) " + table.encode())
                connection.execute(b"VACUUM (FULL) pg_catalog.pg_statistic")
        except psycopg.Error as error:
            raise self._problem(error) from error
        return [_SERVER_LOG]

    def notices(self) -> AsyncGenerator[str, None]:
        return hear_notices(self._url)

    def advisory_locks(self) -> "AbstractAsyncContextManager[PostgresLocks]":
        return advisory_locks(self._url)

    def _transaction(self, begin: bytes, work: Callable[[Rows], Result]) -> Result:
        backoff = Backoff(*_PAUSES)
        for again in reversed(range(TRIES)):
            try:
                with self._connection() as connection:
                    return _run(connection, begin, work)
            except psycopg.Error as error:
                if not again or not isinstance(error, _TRY_AGAIN):
                    raise self._problem(error) from error
                time.sleep(backoff.next())
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
        return connection

    def _give_back(self, connection: "psycopg.Connection[Any]") -> None:
        if connection.closed:
            self._drop_idle()
            return
        with self._guard:
            self._idle.append(connection)
        if not self._is_open:
            self._drop_idle()

    def _drop_idle(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
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
                f"PostgreSQL refuses what the companion needs ({said}): give it a database of its own to write to."
            )
        if isinstance(error, (psycopg.OperationalError, psycopg.InternalError)):
            return StoreUnavailable(f"PostgreSQL cannot be used now ({said}): look whether it runs, and at store.url.")
        return error


# --- connections for notices and advisory locks


_SESSION_SECONDS = 5

_LOCKS = 0x656E6773

_SERVER_KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
"""A process cut off from the server detects lost locks before the server frees them."""


async def hear_notices(url: str) -> AsyncGenerator[str, None]:
    """Yield "" and then all notices from now on; ends with StoreUnavailable."""
    try:
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=_SESSION_SECONDS)
        async with connection:
            await connection.execute(b"LISTEN " + CHANNEL.encode())
            yield ""
            async for each in connection.notifies():
                yield each.payload
    except psycopg.Error as error:
        raise StoreUnavailable(f"PostgreSQL sends no notices now ({error}): look whether it runs.") from error
    raise StoreUnavailable("PostgreSQL has ended the connection of notices.")


class PostgresLocks:
    def __init__(self, connection: psycopg.AsyncConnection[Any]):
        self._connection = connection

    async def take(self, name: str) -> bool:
        cursor = await self._connection.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", (_LOCKS, name))
        found = await cursor.fetchone()
        return bool(found and found[0])

    async def give_back(self, name: str) -> None:
        await self._connection.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", (_LOCKS, name))

    async def check(self) -> None:
        await self._connection.execute("SELECT 1")


@asynccontextmanager
async def advisory_locks(url: str) -> AsyncIterator[PostgresLocks]:
    """Hold locks while the context is open; StoreUnavailable, also inside, on a lost connection."""
    try:
        connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, connect_timeout=_SESSION_SECONDS, options=_SERVER_KEEPALIVE, tcp_user_timeout=8000
        )
        async with connection:
            yield PostgresLocks(connection)
    except psycopg.Error as error:
        raise StoreUnavailable(f"PostgreSQL keeps no locks now ({error}): look whether it runs.") from error
