"""A copy of the companion's database in one file, made while it is in use, and put back while it is not.

SQLite copies itself, page by page, and starts over where others changed something meanwhile: the file is one state of
the database. For PostgreSQL see backup_postgres.py.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from engram_host.companion.errors import CompanionError, StoreDamaged, StoreUnavailable
from engram_host.companion.store.database import bundled_migrations
from engram_host.companion.store.row_types import is_intact, line_bytes
from engram_host.companion.store.sqlite import DAMAGED, SqliteDatabase
from engram_host.companion.store.tokens import AuditTable
from engram_host.companion.types import AuditEntry

PAGES_AT_ONCE = 512
"""Pages that are copied before others may write again: 2 MB, some ms."""

BESIDE = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database."""

LineKey = tuple[str, str, int, int]
"""A line: (board, log, epoch, seq)."""

_IF_LINES = (
    "run `engram serve` until the boards have sent them again; those that no board has any more `engram repair` sets aside, or "
    "`engram restore` that backup. Or save to another file."
)

ReportProgress = Callable[[int, int], None]
"""Called with the number of pages that are done, and of all."""


class BadBackup(CompanionError):
    """A file is no backup of a companion that this version can take."""


class NotReplaced(CompanionError):
    """A backup is not good enough to take the place of an earlier one."""


class NotOverwritten(CompanionError):
    """A backup would take the place of a file that is to stay."""


def kept_files(out: Path, keep: int) -> list[Path]:
    """The files of some backups, the newest first: FILE, FILE.1 and so on."""
    return [out, *(out.with_name(f"{out.name}.{number}") for number in range(1, keep))]


def save_sqlite(path: Path, out: Path, report: ReportProgress, keep: int = 1) -> int:
    """Copy a database to a file, whole or not at all; how many of its lines are damaged.

    The copy is checked before it takes the place of anything; `keep` as in kept_files(). NotOverwritten if that is the
    database itself, StoreDamaged if the database is damaged, NotReplaced if only lines of it are and an earlier backup has any
    of these whole. StoreUnavailable.
    """
    if not path.exists():
        raise StoreUnavailable(f"there is no database {path}: no companion has run there yet.")
    for file in kept_files(out, keep):
        if any(_is_same(file, path.with_name(path.name + ending)) for ending in ("", *BESIDE)):
            raise NotOverwritten(
                f"{file} is the database itself, or a file beside it: name another file for the backup."
            )
    with draft_beside(out, keep) as draft:
        try:
            with opened(path, "ro") as source, opened(draft, "rw") as target:
                source.backup(target, pages=PAGES_AT_ONCE, progress=lambda _, left, total: report(total - left, total))
                target.execute("PRAGMA journal_mode = DELETE")
                verdict = target.execute("PRAGMA integrity_check(1)").fetchall()[0][0]
                damaged = _damaged_lines(target) if verdict == "ok" else []
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:
                raise StoreDamaged(f"{path} is damaged ({error}), so no backup was made and none replaced") from None
            raise StoreUnavailable(f"{path} could not be copied to {out}: {error}.") from None
        if verdict != "ok":
            raise StoreDamaged(f"{path} is damaged ({verdict}), so no backup was made and none replaced")
        for file in kept_files(out, keep):
            whole = _whole_in(file, damaged) if damaged and file.exists() else 0
            require_nothing_lost(str(path), len(damaged), whole, file, _IF_LINES)
    return len(damaged)


def require_nothing_lost(what: str, damaged: int, whole: int, file: Path, advice: str) -> None:
    """NotReplaced if an earlier backup has lines whole that are damaged in the database."""
    if whole:
        raise NotReplaced(
            f"{what} has damaged lines ({damaged}), and the earlier backup {file} has {whole} of these whole: it stays. To "
            f"mend them, {advice}"
        )


def _damaged_lines(database: sqlite3.Connection) -> list[LineKey]:
    """The lines that are not as their boards wrote them."""
    rows = database.execute("SELECT device, log, epoch, seq, crc, line FROM lines WHERE line IS NOT NULL")
    return [tuple(key) for *key, crc, line in rows if not (crc and is_intact(key[3], crc, line_bytes(line)))]


def _whole_in(file: Path, lines: Iterable[LineKey]) -> int:
    """How many of some lines an earlier backup has whole; 0 if it is damaged, or no database of a companion."""
    sql = "SELECT crc, line FROM lines WHERE device = ? AND log = ? AND epoch = ? AND seq = ? AND line IS NOT NULL"
    count = 0
    with opened(file, "ro") as earlier:
        for key in lines:
            try:
                found = earlier.execute(sql, key).fetchall()
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (*DAMAGED, sqlite3.SQLITE_ERROR):
                    raise StoreUnavailable(f"{file} cannot be compared with the new backup: {error}.") from None
                continue
            count += any(crc and is_intact(key[3], crc, line_bytes(line)) for crc, line in found)
    return count


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


def restore_sqlite(saved: Path, path: Path, note: AuditEntry | None = None) -> None:
    """Put a saved database in the place of another, in one step, with `note` in its audit log; nobody may have it open.

    BadBackup, StoreUnavailable.
    """
    check_sqlite(saved)
    draft = path.with_name(path.name + ".new")
    try:
        remove_database(draft)
        draft.touch(mode=0o600)
        shutil.copyfile(saved, draft)
        if note:
            _add_note(draft, note)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        # What was written and is not in the file yet would be taken for the new one's.
        _empty_log(path)
        remove_beside(path)
        draft.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        remove_database(draft)


def _add_note(path: Path, note: AuditEntry) -> None:
    database = SqliteDatabase(path)
    database.connect()
    try:
        AuditTable(database).add_audit(note)
    finally:
        database.close()


def remove_database(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it; nobody may have it open."""
    path.unlink(missing_ok=True)
    remove_beside(path)


def remove_beside(path: Path) -> None:
    """Remove the files that SQLite keeps beside a database; nobody may have it open."""
    for ending in BESIDE:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _empty_log(path: Path) -> None:
    """Bring what stands in the log beside a database into its file; one that is damaged, or is none, goes anyway."""
    with contextlib.suppress(sqlite3.Error), opened(path, "rw") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode = DELETE")


@contextlib.contextmanager
def opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection to a database: `ro` to read, `rw` to write."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)) as database:
            yield database
    except UnicodeDecodeError as error:
        # SQLite's message on a damaged schema quotes it, and Python cannot read that.
        problem = sqlite3.DatabaseError("its schema is garbled")
        problem.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise problem from error


@contextlib.contextmanager
def draft_beside(out: Path, keep: int) -> Iterator[Path]:
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
