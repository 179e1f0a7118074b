"""A copy of the companion's PostgreSQL database in one file, made by pg_dump, and put back by pg_restore and psql.

Lines are checked in the dump itself: pg_restore writes it as text, row by row, and needs no server for that.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from engram_host.companion.errors import CompanionError, SettingError, StoreUnavailable
from engram_host.companion.recovery.backup import (
    BadBackup,
    LineKey,
    draft_beside,
    kept_files,
    require_nothing_lost,
)
from engram_host.companion.store.database import bundled_migrations
from engram_host.companion.store.row_types import is_intact

_IF_LINES = (
    "run `engram serve` until the boards have sent them again, `engram restore` that backup, or save to another file."
)


class ToolMissing(CompanionError):
    """A program of PostgreSQL is not installed; `name` is its name."""

    def __init__(self, name: str):
        super().__init__(f"{name} is not installed: PostgreSQL's client programs bring it.")
        self.name = name


def save_postgres(url: str, out: Path, keep: int = 1) -> int:
    """Save a database by pg_dump to a file, whole or not at all; how many of its lines are damaged.

    What was written is read again, each line checked, before it takes the place of anything. NotReplaced if an earlier backup
    has a line whole that is damaged now. ToolMissing, StoreUnavailable.
    """
    with draft_beside(out, keep) as draft:
        _run(url, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={draft}")
        damaged = {key for key, is_whole in _checked_lines(draft) if not is_whole}
        for file in kept_files(out, keep):
            whole = _whole_in(file, damaged) if damaged and file.exists() else 0
            require_nothing_lost("the database", len(damaged), whole, file, _IF_LINES)
    return len(damaged)


def _whole_in(file: Path, wanted: set[LineKey]) -> int:
    """How many of some lines an earlier backup has whole; 0 if it cannot be read."""
    try:
        return len({key for key, is_whole in _checked_lines(file) if is_whole and key in wanted})
    except StoreUnavailable:
        return 0


def _checked_lines(dump: Path) -> Iterator[tuple[LineKey, bool]]:
    """The lines of a dump, and whether each is whole; StoreUnavailable if pg_restore cannot read it to its end."""
    command = [_program("pg_restore"), "--data-only", "--file=-", str(dump)]
    with tempfile.TemporaryFile() as said, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as process:
        assert process.stdout is not None
        try:
            yield from _lines_of(process.stdout)
        finally:
            process.stdout.close()
            process.wait()
        said.seek(0)
        _require_success("pg_restore", process.returncode, said.read().decode("utf-8", "replace"))


_COPY = re.compile(rb"COPY (?:public\.)?lines_[0-9]+ \((.*)\) FROM stdin;")


def _lines_of(output: Iterable[bytes]) -> Iterator[tuple[LineKey, bool]]:
    """The rows of the table of lines in what pg_restore writes: values between tabs, up to a line with `\\.`."""
    columns: list[str] = []
    for row in output:
        if not columns:
            begins = _COPY.match(row)
            columns = begins[1].decode().split(", ") if begins else []
        elif row == b"\\.\n":
            columns = []
        else:
            values = dict(zip(columns, row.rstrip(b"\n").split(b"\t"), strict=False))
            if values["line"] != b"\\N":
                yield _checked(values)


def _checked(values: dict[str, bytes]) -> tuple[LineKey, bool]:
    device, log, crc = (values[name].decode("utf-8", "replace") for name in ("device", "log", "crc"))
    epoch, seq = int(values["epoch"]), int(values["seq"])
    line = bytes.fromhex(values["line"].removeprefix(b"\\\\x").decode())
    is_whole = bool(crc) and is_intact(seq, crc, line)
    return (device, log, epoch, seq), is_whole


def restore_postgres(saved: Path, url: str) -> None:
    """Put what pg_dump saved in the place of what is there, in one transaction. ToolMissing, StoreUnavailable, BadBackup."""
    try:
        with saved.open("rb") as file:
            is_dump = file.read(5) == b"PGDMP"
    except OSError as error:
        raise BadBackup(f"{saved} cannot be read: {error.strerror}.") from None
    if not is_dump:
        raise BadBackup(f"{saved} is no backup of a PostgreSQL database.")
    with tempfile.TemporaryDirectory(prefix="engram-") as folder:  # for its owner alone
        drop, make = Path(folder) / "drop.sql", Path(folder) / "make.sql"
        # Not by --clean: pg_restore drops the keys of partitions one by one, which PostgreSQL refuses.
        drop.write_text(f"DROP TABLE IF EXISTS {', '.join(_tables())} CASCADE;\n")
        _run(url, "pg_restore", "--no-owner", "--no-privileges", f"--file={make}", str(saved))
        options = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1")
        _run(url, "psql", *options, f"--file={drop}", f"--file={make}")


def _tables() -> list[str]:
    """The companion's tables; their partitions go with them."""
    sql = "".join(step.sql for step in bundled_migrations("postgres"))
    return ["migrations", *re.findall(r"^CREATE TABLE (\w+)", sql, re.MULTILINE)]


def _run(url: str, program: str, *words: str) -> None:
    """Run a program of PostgreSQL; the address goes by its environment, where no other user of the computer sees it."""
    environment = {**os.environ, **_environment(url)}
    done = subprocess.run([_program(program), *words], env=environment, capture_output=True, text=True, check=False)
    _require_success(program, done.returncode, done.stderr)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ToolMissing(name)
    return found


def _require_success(program: str, status: int, said: str) -> None:
    if status:
        lines = said.strip().splitlines() or ["it said nothing"]
        raise StoreUnavailable(f"{program} failed: {lines[0]}")


def _environment(url: str) -> dict[str, str]:
    from psycopg import ProgrammingError, conninfo

    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
    names |= {"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT"}
    try:
        parts = conninfo.conninfo_to_dict(url)
    except ProgrammingError:
        raise SettingError("store.url", "is no address of a PostgreSQL database.") from None
    return {names[name]: str(value) for name, value in parts.items() if name in names}
