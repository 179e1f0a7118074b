"""A database as the store's tables use it: transactions, which get the rows, and migrations of the schema."""

import functools
import hashlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import resources
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from engram_host.companion.errors import IF_DAMAGED, StoreBusy, StoreDamaged, StoreUnavailable
from engram_host.companion.store.damage import Found, mark_damaged
from engram_host.companion.store.queries import Rows

_log = logging.getLogger("engram.store")

# --- migrations


MIGRATION_SECONDS = 600.0
"""How long a process waits for another one that changes the schema: a step may rewrite a large table."""

_TABLE = (
    "CREATE TABLE IF NOT EXISTS migrations "
    "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, at BIGINT NOT NULL)"
)


@dataclass(frozen=True)
class Migration:
    """One step: its number, name and SQL."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of its SQL."""
        return hashlib.sha256(self.sql.encode()).hexdigest()[:16]


def bundled_migrations(dialect: str) -> list[Migration]:
    """The migrations of `sqlite` or `postgres`, in order."""
    folder = resources.files("engram_host.companion.store") / "migrations" / dialect
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [_parse_migration(file.name, file.read_text(encoding="utf-8")) for file in files]


def _parse_migration(file: str, sql: str) -> Migration:
    number, _, name = file.removesuffix(".sql").partition("_")
    return Migration(int(number), name.replace("_", " "), sql.replace("\r\n", "\n"))


def apply_next(rows: Rows, steps: Sequence[Migration], now: int) -> str:
    """Take the next step that a database needs, in a transaction that nobody else takes one in; a sentence on it, "" if it
    is up to date. StoreUnavailable if it is not ours to change: made by a newer version, or by other SQL.
    """
    rows.lock_schema()
    rows.run(_TABLE)
    applied = rows.run("SELECT number, checksum FROM migrations ORDER BY number")
    missing = _missing(steps, applied)
    if not missing:
        return ""
    migration = missing[0]
    rows.script(migration.sql)
    values = (migration.number, migration.name, migration.checksum, now)
    rows.run("INSERT INTO migrations (number, name, checksum, at) VALUES (?, ?, ?, ?)", values)
    return f"the database has schema {migration.number} now ({migration.name})."


def _missing(steps: Sequence[Migration], applied: Sequence[tuple[int, str]]) -> list[Migration]:
    by_number = {migration.number: migration for migration in steps}
    newest = max(by_number, default=0)
    for number, checksum in applied:
        if number > newest:
            raise StoreUnavailable(
                f"the database was made by a newer version of Engram (its schema is {number}, this version knows {newest}): "
                "update Engram, or give it another database."
            )
        if number not in by_number or by_number[number].checksum != checksum:
            raise StoreUnavailable(
                f"the database's schema {number} is not the one of this version of Engram: use the version that made it, or "
                "give this one another database."
            )
    there = {number for number, _ in applied}
    return [migration for migration in steps if migration.number not in there]


# --- database


Result = TypeVar("Result")
Options = ParamSpec("Options")
AnyTable = TypeVar("AnyTable", bound="DatabaseTable")


class AdvisoryLocks(Protocol):
    """The locks of one process, by name; StoreUnavailable once all are lost."""

    async def take(self, name: str) -> bool:
        """Take a lock that this process does not hold; False if another one holds it."""
        ...

    async def give_back(self, name: str) -> None:
        """Let another process take a lock."""
        ...

    async def check(self) -> None:
        """Find out whether the locks are still held."""
        ...


class Database(ABC):
    """Connections, transactions and errors of one kind of database. Calls block and may come from any thread."""

    name = ""
    """What people call it."""

    dialect = ""
    """The folder of its migrations."""

    if_damaged = IF_DAMAGED
    """What a person does about damaged pages."""

    is_shared = False
    """Whether several processes share it: they hear each other's notices, and hold advisory locks."""

    damage = ""
    """What any transaction found damaged; nothing is written from then on, until the companion is started again."""

    def require_undamaged(self) -> None:
        """StoreDamaged once a transaction has found damage."""
        if self.damage:
            raise StoreDamaged(self.damage, self.if_damaged)

    def note_damage(self, what: str) -> StoreDamaged:
        """Note that the database is damaged; the error to raise."""
        if not self.damage:
            self.damage = f"{what}: nothing is written to it any more, and nothing acknowledged"
            _log.error("%s", StoreDamaged(self.damage, self.if_damaged))
        return StoreDamaged(self.damage, self.if_damaged)

    def check(self) -> None:
        """Look at all pages, where a database does not do that by itself as they are read; StoreDamaged."""
        return

    def notices(self) -> AsyncGenerator[str, None]:
        """The notices of transactions that are committed from now on; "" where some may have been lost. StoreUnavailable."""
        raise StoreUnavailable(f"{self.name} sends no notices.")

    def advisory_locks(self) -> AbstractAsyncContextManager[AdvisoryLocks]:
        """Locks that no other process holds at the same time, until the block ends. StoreUnavailable."""
        raise StoreUnavailable(f"{self.name} has no advisory locks.")

    def warnings(self) -> list[str]:
        """What will soon keep the database from working, a sentence each."""
        return []

    @abstractmethod
    def connect(self) -> None:
        """Make sure that there is a database; StoreUnavailable."""

    @abstractmethod
    def close(self) -> None:
        """Let all connections go."""

    @abstractmethod
    def write(self, work: Callable[[Rows], Result]) -> Result:
        """Do work in one transaction that is on disk at the end; StoreUnavailable, and then nothing of it has happened."""

    @abstractmethod
    def read(self, work: Callable[[Rows], Result]) -> Result:
        """Do work that only reads, on one state of the database; StoreUnavailable."""

    @abstractmethod
    def scrub(self) -> list[str]:
        """Rewrite the files, so that they have no byte of what was removed; a sentence on each place that may still have some.

        It takes as much room as the database has, and others that write wait for it. StoreUnavailable.
        """

    def read_once(self, work: Callable[[Rows], Result]) -> Result:
        """Do work that is one SELECT; a database may spare it the transaction. StoreUnavailable."""
        return self.read(work)

    def migrate(self) -> list[str]:
        """Bring the schema up to date, or wait for another process that does; what was done to it, a sentence for each
        migration. StoreUnavailable.
        """
        steps = bundled_migrations(self.dialect)
        done: list[str] = []
        while sentence := self._migrate_once(steps):
            done.append(sentence)
        return done

    def _migrate_once(self, steps: Sequence[Migration]) -> str:
        until = time.monotonic() + MIGRATION_SECONDS
        while True:
            try:
                return self.write(lambda rows: apply_next(rows, steps, int(time.time())))
            except StoreBusy as problem:
                if time.monotonic() > until:
                    raise StoreUnavailable(
                        f"the database has been locked for {MIGRATION_SECONDS:g} s, by another process that brings it up to "
                        "date, or by another program: start this one again when that is done."
                    ) from problem
                _log.warning("another process has locked the database, and may bring it up to date: waiting for it")


class DatabaseTable:
    """Some tables of a database, and all that is done to them.

    A method that reads() or writes() decorate is one transaction: it is written with that transaction's rows as its first
    argument, and called without them. Each may raise StoreUnavailable.
    """

    def __init__(self, database: Database):
        self.database = database


def _run(
    database: Database, transaction: Callable[[Callable[[Rows], Result]], Result], work: Callable[[Rows], Result]
) -> Result:
    """Do work in a transaction, and mark in another one the lines that it found damaged."""
    found: set[Found] = set()

    def noting(rows: Rows) -> Result:
        rows.damaged = found
        return work(rows)

    result = transaction(noting)
    if found:
        try:
            for sentence in database.write(lambda rows: mark_damaged(rows, found, int(time.time()))):
                _log.warning("%s", sentence)
        except StoreUnavailable as problem:
            # What was asked for is done. Whoever reads these lines next finds them again.
            _log.warning("damaged lines could not be marked: %s", problem)
    return result


def reads(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a table's method in a transaction that only reads, on one state of the database."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return _run(self.database, self.database.read, lambda rows: method(self, rows, *args, **options))

    return call


def reads_once(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a table's method whose SELECT needs no other one's state, without a transaction where that is faster."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return _run(self.database, self.database.read_once, lambda rows: method(self, rows, *args, **options))

    return call


def writes(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a table's method in a transaction that is on disk when the call returns; an exception leaves nothing of it."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return _run(self.database, self.database.write, lambda rows: method(self, rows, *args, **options))

    return call
