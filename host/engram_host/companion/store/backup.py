"""A copy of the companion's database in one file, made while it is in use, and put back while it is not.

SQLite copies itself, page by page, and starts over where others changed something meanwhile: the file is one state of
the database. PostgreSQL is saved by its own pg_dump, into its own format.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from engram_host.companion.errors import CompanionError, SettingError, StoreDamaged, StoreUnavailable
from engram_host.companion.store.database import bundled_migrations
from engram_host.companion.store.row_types import is_intact, line_bytes

PAGES_AT_ONCE = 512
"""Pages that are copied before others may write again: 2 MB, some ms."""

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Errors by which SQLite says that a file is damaged."""

BESIDE = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""

ReportProgress = Callable[[int, int], None]
"""Called with the number of pages that are done, and of all."""


class BadBackup(CompanionError):
    """A file is no backup of a companion that this version can take."""


class NotReplaced(CompanionError):
    """A backup is not good enough to take the place of an earlier one."""


class NotOverwritten(CompanionError):
    """A backup would take the place of a file that is to stay."""


class ToolMissing(CompanionError):
    """A program of PostgreSQL is not installed; `name` is its name."""

    def __init__(self, name: str):
        super().__init__(f"{name} is not installed: PostgreSQL's client programs bring it.")
        self.name = name


def kept_files(out: Path, keep: int) -> list[Path]:
    """The files of so many backups, the newest first: FILE, FILE.1 and so on."""
    return [out, *(out.with_name(f"{out.name}.{number}") for number in range(1, keep))]


def save_sqlite(path: Path, out: Path, report: ReportProgress, keep: int = 1) -> int:
    """Copy a database to a file, whole or not at all; how many of its lines are damaged.

    The copy is checked before it takes the place of anything; `keep` as in kept_files(). NotOverwritten if that is the
    database itself, StoreDamaged if the database is damaged, NotReplaced if only lines of it are and another backup is there.
    StoreUnavailable.
    """
    if not path.exists():
        raise StoreUnavailable(f"there is no database {path}: no companion has run there yet.")
    for file in kept_files(out, keep):
        if any(_is_same(file, path.with_name(path.name + ending)) for ending in ("", *BESIDE)):
            raise NotOverwritten(
                f"{file} is the database itself, or a file beside it: name another file for the backup."
            )
    with _draft(out, keep) as draft:
        try:
            with opened(path, "ro") as source, opened(draft, "rw") as target:
                source.backup(target, pages=PAGES_AT_ONCE, progress=lambda _, left, total: report(total - left, total))
                target.execute("PRAGMA journal_mode = DELETE")
                verdict = target.execute("PRAGMA integrity_check(1)").fetchall()[0][0]
                damaged = _count_damaged(target) if verdict == "ok" else 0
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:
                raise StoreDamaged(f"{path} is damaged ({error}), so no backup was made and none replaced") from None
            raise StoreUnavailable(f"{path} could not be copied to {out}: {error}.") from None
        if verdict != "ok":
            raise StoreDamaged(f"{path} is damaged ({verdict}), so no backup was made and none replaced")
        if damaged and out.exists():
            raise NotReplaced(
                f"{path} has damaged lines ({damaged}), and {out} may have them whole: it stays. Run `engram serve` until the "
                "boards have sent them again, or save to another file."
            )
    return damaged


def _count_damaged(database: sqlite3.Connection) -> int:
    """How many lines are not as their boards wrote them."""
    rows = database.execute("SELECT seq, crc, line FROM lines WHERE line IS NOT NULL")
    return sum(not (crc and is_intact(seq, crc, line_bytes(line))) for seq, crc, line in rows)


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by whatever name, or would be."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def check_sqlite(path: Path) -> None:
    """BadBackup if a file is no whole database of a companion, or one of a newer version. It is not changed."""
    steps = {step.number: step.checksum for step in bundled_migrations("sqlite")}
    try:
        with opened(path, "ro") as database:
            ((verdict,),) = database.execute("PRAGMA quick_check(1)").fetchall()
            applied = database.execute("SELECT number, checksum FROM migrations ORDER BY number").fetchall()
    except sqlite3.Error as error:
        raise BadBackup(f"{path} is no backup of a companion: {error}.") from None
    if verdict != "ok":
        raise BadBackup(f"{path} is damaged: {verdict}.")
    if any(steps.get(number) != checksum for number, checksum in applied) or not applied:
        raise BadBackup(f"{path} was made by another version of Engram: restore it with that one, or a newer one.")


def restore_sqlite(saved: Path, path: Path) -> None:
    """Put a saved database in the place of another, in one step; nobody may have it open. BadBackup, StoreUnavailable."""
    check_sqlite(saved)
    draft = path.with_name(path.name + ".new")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        shutil.copyfile(saved, draft)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        # What was written and is not in the file yet would be taken for the new one's.
        _empty_log(path)
        remove_beside(path)
        draft.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        draft.unlink(missing_ok=True)


def remove_beside(path: Path) -> None:
    """Remove the files that SQLite keeps beside a database; nobody may have it open."""
    for ending in BESIDE:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _empty_log(path: Path) -> None:
    """Bring what stands in the log beside a database into its file; one that is damaged, or is none, goes anyway."""
    with contextlib.suppress(sqlite3.Error), opened(path, "rw") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode = DELETE")


def save_postgres(url: str, out: Path, keep: int = 1) -> None:
    """Save a database by pg_dump to a file, whole or not at all. ToolMissing, StoreUnavailable.

    What was written is read again before it takes the place of anything.
    """
    with _draft(out, keep) as draft:
        _run(url, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={draft}")
        _run(url, "pg_restore", f"--file={os.devnull}", str(draft))


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
    found = shutil.which(program)
    if found is None:
        raise ToolMissing(program)
    environment = {**os.environ, **_environment(url)}
    done = subprocess.run([found, *words], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
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


@contextlib.contextmanager
def opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection to a database: `ro` to read, `rw` to write."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)) as database:
        yield database


@contextlib.contextmanager
def _draft(out: Path, keep: int) -> Iterator[Path]:
    """A file for its owner alone beside `out`, which takes its place when the block ends well."""
    draft = out.with_name(out.name + ".part")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        _make_room(kept_files(out, keep))
        draft.replace(out)
    except OSError as error:
        raise StoreUnavailable(f"{out} cannot be written: {error.strerror}.") from None
    finally:
        draft.unlink(missing_ok=True)


def _make_room(files: Sequence[Path]) -> None:
    """Let each backup move to the next name, the oldest out. The newest keeps its own until another one has taken it."""
    for older, newer in zip(reversed(files[2:]), reversed(files[1:-1]), strict=True):
        if newer.exists():
            newer.replace(older)
    if len(files) > 1 and files[0].exists():
        files[1].unlink(missing_ok=True)
        try:
            files[1].hardlink_to(files[0])
        except OSError:  # not every file system has such links
            shutil.copy2(files[0], files[1])
