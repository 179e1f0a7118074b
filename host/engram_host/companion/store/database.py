"""Base of databases: transactions, which pass rows to table methods, and schema migrations."""

import functools
import hashlib
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import resources
from typing import Concatenate, Literal, ParamSpec, Protocol, TypeVar

from engram_host.companion.errors import IF_DAMAGED, StoreBusy, StoreDamaged, StoreUnavailable
from engram_host.companion.store.damage import Found, mark_damaged
from engram_host.companion.store.rows import Rows

_log = logging.getLogger("engram.store")

MOST_NOTICE_BYTES = 500

NoticeKind = Literal["", "board", "message", "pushed", "settings"]
"""Kinds: news for a board, a changed message, a new push, changed settings; "": anything changed."""

# --- migrations


MIGRATION_SECONDS = 600.0

_TABLE = (
    "CREATE TABLE IF NOT EXISTS migrations "
    "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, at BIGINT NOT NULL)"
)


@dataclass(frozen=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()[:16]


def bundled_migrations() -> list[Migration]:
    folder = resources.files("engram_host.companion.store") / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [_parse_migration(file.name, file.read_text(encoding="utf-8")) for file in files]


def tables_with(column: str = "") -> list[str]:
    made = re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", "".join(step.sql for step in bundled_migrations()), re.DOTALL)
    return [name for name, body in made if not column or f"\n    {column} " in body]


def _parse_migration(file: str, sql: str) -> Migration:
    number, _, name = file.removesuffix(".sql").partition("_")
    return Migration(int(number), name.replace("_", " "), sql.replace("\r\n", "\n"))


def apply_next(rows: Rows, steps: Sequence[Migration], now: int) -> str:
    """Apply one migration under the schema lock; "" if up to date, StoreUnavailable if incompatible."""
    rows.lock_schema()
    rows.run(_TABLE)
    applied = rows.run("SELECT number, checksum FROM migrations ORDER BY number")
    missing = _missing(steps, applied)
    if not missing:
        return ""
    migration = missing[0]
    rows.script(rows.translated(migration.sql))
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
    """Locks of one process by name; StoreUnavailable once all are lost."""

    async def take(self, name: str) -> bool: ...

    async def give_back(self, name: str) -> None: ...

    async def check(self) -> None: ...


class Database(ABC):
    """Connections, transactions and errors of a kind of database; calls block and are thread-safe."""

    name = ""

    if_damaged = IF_DAMAGED

    is_shared = False
    """True if several processes share it, with notices and advisory locks."""

    damage = ""
    """Damage that a transaction found; blocks all writes until a restart."""

    def require_undamaged(self) -> None:
        if self.damage:
            raise StoreDamaged(self.damage, self.if_damaged)

    def note_damage(self, what: str) -> StoreDamaged:
        if not self.damage:
            self.damage = f"{what}: nothing is written to it any more, and nothing acknowledged"
            _log.error("%s", StoreDamaged(self.damage, self.if_damaged))
        return StoreDamaged(self.damage, self.if_damaged)

    def check(self) -> None:
        """Check all pages unless reads do so anyway; may raise StoreDamaged."""
        return

    def notices(self) -> AsyncGenerator[str, None]:
        """Yield notices of future commits, "" where some may be lost; ends with StoreUnavailable."""
        raise StoreUnavailable(f"{self.name} sends no notices.")

    def advisory_locks(self) -> AbstractAsyncContextManager[AdvisoryLocks]:
        """Hold advisory locks while the context is open; may raise StoreUnavailable."""
        raise StoreUnavailable(f"{self.name} has no advisory locks.")

    def warnings(self) -> list[str]:
        return []

    @abstractmethod
    def connect(self) -> None:
        """Open the database, or raise StoreUnavailable."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""

    @abstractmethod
    def write(self, work: Callable[[Rows], Result]) -> Result:
        """Run `work` in one durable transaction; StoreUnavailable if it failed, or its outcome is unknown."""

    @abstractmethod
    def read(self, work: Callable[[Rows], Result]) -> Result:
        """Run `work` read-only on one snapshot; may raise StoreUnavailable."""

    @abstractmethod
    def scrub(self) -> list[str]:
        """Rewrite the files without removed bytes, doubling disk use; return places that may keep some."""

    def migrate(self) -> list[str]:
        steps = bundled_migrations()
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


@dataclass(frozen=True)
class Notice:
    """A change of a board or message, "" if unspecified."""

    kind: NoticeKind
    device: str = ""
    mid: str = ""

    def encode(self) -> str:
        found = " ".join((self.kind, self.device, self.mid)).rstrip()
        return found if len(found.encode()) <= MOST_NOTICE_BYTES else ""


def parse_notice(payload: str) -> Notice:
    kind, _, rest = payload.partition(" ")
    device, _, mid = rest.partition(" ")
    if kind == "board" or kind == "message" or kind == "pushed" or kind == "settings":
        return Notice(kind, device, mid)
    return Notice("")


class DatabaseTable:
    def __init__(self, database: Database):
        self.database = database


def _run(
    database: Database, transaction: Callable[[Callable[[Rows], Result]], Result], work: Callable[[Rows], Result]
) -> Result:
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
            # The transaction itself is done, and the next read finds these lines again.
            _log.warning("damaged lines could not be marked: %s", problem)
    return result


def reads(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a method read-only on one snapshot."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return _run(self.database, self.database.read, lambda rows: method(self, rows, *args, **options))

    return call


def writes(
    method: Callable[Concatenate[AnyTable, Rows, Options], Result],
) -> Callable[Concatenate[AnyTable, Options], Result]:
    """Run a method in a transaction that is durable on return, and undone by an exception."""

    @functools.wraps(method)
    def call(self: AnyTable, *args: Options.args, **options: Options.kwargs) -> Result:
        return _run(self.database, self.database.write, lambda rows: method(self, rows, *args, **options))

    return call
