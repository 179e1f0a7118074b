"""A PostgreSQL for tests, which can be emptied between two of them."""

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engram_host.companion.store import choose_store
from postgres_process import PostgresProcess

if TYPE_CHECKING:
    import psycopg

_END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
)
_RELATIONS = "SELECT relname, relkind, reltablespace FROM pg_class WHERE relnamespace = 'public'::regnamespace"


@dataclass(frozen=True)
class Schema:
    """All relations of a database, and the migrations that made them."""

    relations: frozenset[tuple[Any, ...]]
    migrations: tuple[tuple[Any, ...], ...]

    @property
    def tables(self) -> list[str]:
        """Those that lines are deleted from."""
        return sorted(name for name, kind, _ in self.relations if kind == "r" and name != "migrations")

    @property
    def sequences(self) -> list[str]:
        """Those that count."""
        return sorted(name for name, kind, _ in self.relations if kind == "S")


def _schema(connection: Any) -> Schema | None:
    relations = frozenset(connection.execute(_RELATIONS).fetchall())
    if "migrations" not in {name for name, *_ in relations}:
        return None
    migrations = connection.execute("SELECT number, name, checksum FROM migrations ORDER BY number").fetchall()
    return Schema(relations, tuple(migrations))


def cut_notices(url: str) -> None:
    """End the connections over which workers hear notices."""
    import psycopg  # an extra, which only PostgreSQL needs

    with psycopg.connect(url, autocommit=True) as connection:
        sql = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        # That of a test before may be there still.
        assert sum(is_ended for (is_ended,) in connection.execute(sql).fetchall()) >= 2


class PostgresServer(PostgresProcess):
    """A server that begins with an empty folder; `url` leads to its database postgres. Use it as a context."""

    def __init__(self, options: dict[str, str] | None = None):
        super().__init__(options)
        self._schema: Schema | None = None
        self._cleaner: psycopg.Connection[Any] | None = None

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server, as PostgresProcess does."""
        if self._cleaner:
            self._cleaner.close()
            self._cleaner = None
        super().stop(how)

    def empty(self) -> None:
        """Remove all that is in the database postgres. A database for each test would be a thousand files for each."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(_END_OTHERS)
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")

    def checkpoint(self) -> None:
        """Write all pages to the files of the tables, and remove those of tables that were rewritten."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")

    def table_files(self) -> list[Path]:
        """The files of all tables and indexes; the write-ahead log is elsewhere."""
        return [path for path in (self.folder / "data" / "base").rglob("*") if path.is_file()]

    def clear(self) -> None:
        """Leave Engram's tables in the database postgres, with nothing in them: making them takes a hundred times as long.

        They are made where they are not there, or not as they were made.
        """
        import psycopg

        try:
            is_cleared = self._delete_lines()
        except psycopg.OperationalError:  # the server was restarted, or a test has ended all connections
            self._cleaner = None
            is_cleared = self._delete_lines()
        if is_cleared:
            return
        self.empty()
        store = choose_store(self.url)
        store.open()
        store.close()
        with psycopg.connect(self.url) as connection:
            self._schema = _schema(connection)

    def _delete_lines(self) -> bool:
        """Delete the lines of all tables, if these are as they were made; whether they are.

        Its connection stays open: a new one reads the catalog first, which takes ten times as long as the rest.
        """
        import psycopg

        if not self._cleaner:
            self._cleaner = psycopg.connect(self.url, autocommit=True)
        connection = self._cleaner
        connection.execute(_END_OTHERS)
        schema = _schema(connection)
        if not schema or schema != self._schema:
            return False
        with connection.transaction():
            for table in schema.tables:
                connection.execute(f"DELETE FROM {table}".encode())
            for sequence in schema.sequences:
                connection.execute(f"ALTER SEQUENCE {sequence} RESTART".encode())
        return True
