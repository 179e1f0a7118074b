"""Backups of the SQLite database in use, and the replacement of a damaged one.

SQLite copies itself page by page, and starts over after a change by others: a backup is one state of the database. It is
written under another name, synced, and renamed, so a power cut leaves the former one intact.
"""

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from engram_host.companion.errors import CompanionError, StoreDamaged, StoreUnavailable
from engram_host.companion.metrics import note_backup
from engram_host.companion.store.database import bundled_migrations
from engram_host.companion.store.rows import is_intact, line_bytes
from engram_host.companion.store.sqlite import DAMAGED, SqliteDatabase
from engram_host.companion.store.tokens import AuditTable
from engram_host.companion.types import AuditEntry

_log = logging.getLogger("engram.backup")

PAGES_AT_ONCE = 512
"""Pages copied per lock: 2 MB, some ms."""

BESIDE = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps beside a database."""

LineKey = tuple[str, str, int, int]

DAILY_FOLDER = "backups"

MOST_KEPT = 1000

_IF_LINES = (
    "run `engram serve` until the boards have sent them again; those that no board has any more `engram repair` sets aside, or "
    "`engram restore` that backup. Or save to another file."
)

ReportProgress = Callable[[int, int], None]


def _report_nothing(done: int, total: int) -> None:
    pass


class BadBackup(CompanionError):
    """The file is no backup of a companion that this version can restore."""


def daily_backup(home: Path) -> Path:
    return home / DAILY_FOLDER / "companion.db"


def kept_files(out: Path, keep: int) -> list[Path]:
    """Return backups of a name, newest first: FILE, FILE.1 and so on."""
    return [out, *(out.with_name(f"{out.name}.{number}") for number in range(1, keep))]


def save_backup(path: Path, out: Path, *, keep: int = 1, report: ReportProgress = _report_nothing) -> int:
    """Copy a database atomically and return its damaged lines; raises CompanionError."""
    if not path.exists():
        raise StoreUnavailable(f"there is no database {path}: no companion has run there yet.")
    for file in kept_files(out, keep):
        if any(_is_same(file, path.with_name(path.name + ending)) for ending in ("", *BESIDE)):
            raise CompanionError(
                f"{file} is the database itself, or a file beside it: name another file for the backup."
            )
    with _replacing(out, ".part", lambda: _make_room(kept_files(out, keep))) as draft:
        try:
            with opened_file(path, "ro") as source, opened_file(draft, "rw") as target:
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
            if whole:
                raise CompanionError(
                    f"{path} has damaged lines ({len(damaged)}), and the earlier backup {file} "
                    f"has {whole} of these whole: it stays. To mend them, {_IF_LINES}"
                )
    return len(damaged)


def _damaged_lines(database: sqlite3.Connection) -> list[LineKey]:
    rows = database.execute("SELECT device, log, epoch, seq, crc, line FROM lines WHERE line IS NOT NULL")
    return [tuple(key) for *key, crc, line in rows if not (crc and is_intact(key[3], crc, line_bytes(line)))]


def _whole_in(file: Path, lines: Iterable[LineKey]) -> int:
    sql = "SELECT crc, line FROM lines WHERE device = ? AND log = ? AND epoch = ? AND seq = ? AND line IS NOT NULL"
    count = 0
    with opened_file(file, "ro") as earlier:
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
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def check_backup(path: Path) -> None:
    """Raise BadBackup unless a file is an intact database of this version or an older one."""
    steps = {step.number: step.checksum for step in bundled_migrations()}
    try:
        with opened_file(path, "ro") as database:
            ((verdict,),) = database.execute("PRAGMA quick_check(1)").fetchall()
            applied = database.execute("SELECT number, checksum FROM migrations ORDER BY number").fetchall()
    except sqlite3.Error as error:
        raise BadBackup(f"{path} is no backup of a companion: {error}.") from None
    if verdict != "ok":
        raise BadBackup(f"{path} is damaged: {verdict}.")
    if any(steps.get(number) != checksum for number, checksum in applied) or not applied:
        raise BadBackup(f"{path} was made by another version of Engram: restore it with that one, or a newer one.")


def restore_backup(saved: Path, path: Path, note: AuditEntry | None = None) -> None:
    """Replace a closed database by a backup atomically; raises BadBackup or StoreUnavailable."""
    check_backup(saved)
    with _replacing(path, ".new", lambda: _remove_beside(path)) as draft:
        _fill(draft, saved, note)
        # The old log would be applied to the new file.
        _empty_log(path)


def replace_damaged(path: Path, *, kept: Path, backups: Iterable[Path], note: AuditEntry) -> Path | None:
    """Replace a damaged, closed database by the first sound backup, or a new one; return the backup."""
    sound = next((backup for backup in backups if _is_sound(backup)), None)
    with _replacing(path, ".new", lambda: _remove_beside(path)) as draft:
        _fill(draft, sound, note)
        for ending in ("", *BESIDE):
            if (file := path.with_name(path.name + ending)).exists():
                _keep_also_as(file, kept.with_name(kept.name + ending))
    return sound


def _is_sound(backup: Path) -> bool:
    try:
        check_backup(backup)
    except BadBackup:
        return False
    return True


def _fill(draft: Path, saved: Path | None, note: AuditEntry | None) -> None:
    if saved:
        shutil.copyfile(saved, draft)
    database = SqliteDatabase(draft)
    database.connect()
    try:
        database.migrate()
        if note:
            AuditTable(database).add_audit(note)
    finally:
        database.close()


@contextlib.contextmanager
def _replacing(path: Path, ending: str, prepare: Callable[[], None]) -> Iterator[Path]:
    """Yield a private draft that replaces a file on success, after prepare()."""
    draft = path.with_name(path.name + ending)
    try:
        _remove_database(draft)
        draft.touch(mode=0o600)
        yield draft
        _sync(draft)
        prepare()
        draft.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        _remove_database(draft)


def _remove_database(path: Path) -> None:
    path.unlink(missing_ok=True)
    _remove_beside(path)


def _remove_beside(path: Path) -> None:
    for ending in BESIDE:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _empty_log(path: Path) -> None:
    """Move the log beside a database into its file; a damaged log is dropped."""
    with contextlib.suppress(sqlite3.Error), opened_file(path, "rw") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode = DELETE")


@contextlib.contextmanager
def opened_file(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)) as database:
            yield database
    except UnicodeDecodeError as error:
        # SQLite's message on a damaged schema quotes it, and Python cannot read that.
        problem = sqlite3.DatabaseError("its schema is garbled")
        problem.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise problem from error


def _make_room(files: Sequence[Path]) -> None:
    """Rename each backup to the next name, without a moment in which there is no newest one."""
    for older, newer in zip(reversed(files[2:]), reversed(files[1:-1]), strict=True):
        if newer.exists():
            newer.replace(older)
    if len(files) > 1 and files[0].exists():
        _keep_also_as(files[0], files[1])


def _keep_also_as(file: Path, other: Path) -> None:
    other.unlink(missing_ok=True)
    try:
        other.hardlink_to(file)
    except OSError:  # not every file system has such links
        shutil.copy2(file, other)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


# --- daily


FIRST_SECONDS = 300.0
"""Delay after the start, which is busy enough."""

LOOK_SECONDS = 3600.0
"""Time between two checks of the newest backup's age; a failed backup is retried."""

_DAY_SECONDS = 86400


class DailyBackup:
    """Saves the SQLite database once a day into the folder `backups` of the companion's folder, and keeps some of these."""

    def __init__(self, home: Path, database: Path, keep: int, clock: Callable[[], float] = time.time):
        self.problem = ""
        self._home = home
        self._database = database
        self._keep = keep
        self._clock = clock

    def save_if_due(self) -> None:
        """Save the database if the newest backup is a day old; `problem` is a failure's reason."""
        out = daily_backup(self._home)
        if out.exists() and 0 <= self._clock() - out.stat().st_mtime < _DAY_SECONDS:
            return
        try:
            _make_folder(out.parent)
            save_backup(self._database, out, keep=self._keep)
        except CompanionError as problem:
            self.problem = f"the daily backup failed: {problem}"
            _log.warning("%s", self.problem, extra={"repeat": "backup"})
            return
        self.problem = ""
        note_backup(self._home)
        _log.info("saved the database to %s", out)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be made: {error.strerror}.") from None
