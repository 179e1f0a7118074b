"""The numbered steps by which a database's schema comes to what this version needs."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.queries import Rows

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


def known(dialect: str) -> list[Migration]:
    """The migrations of `sqlite` or `postgres`, in order."""
    folder = resources.files("engram_host.companion.store") / "migrations" / dialect
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [_read(file.name, file.read_text(encoding="utf-8")) for file in files]


def _read(file: str, sql: str) -> Migration:
    number, _, name = file.removesuffix(".sql").partition("_")
    return Migration(int(number), name.replace("_", " "), sql.replace("\r\n", "\n"))


def step(rows: Rows, steps: Sequence[Migration], now: int) -> str:
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
