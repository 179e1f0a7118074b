"""Makes a new SQLite database of what a damaged one still has; the damaged one is kept beside it.

Lines are taken whose own check is right, wherever in the file they stand. All other tables are taken by SQL, or from their
pages where that fails. Vectors are made again, and Markdown folders are read again. Each board compares its logs with the copy
when it connects, and sends what is missing; what its archive has it is asked for first.
"""

import contextlib
import shutil
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.recovery.backup import BESIDE, check_sqlite, opened, remove_beside, remove_database
from engram_host.companion.recovery.sqlite_pages import FoundRow, SqlitePages
from engram_host.companion.store import retention
from engram_host.companion.store.damage import CHECKED, Found, is_sound
from engram_host.companion.store.database import Database
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.row_types import DAMAGED_ASIDE, LogRow, is_intact, line_bytes
from engram_host.companion.store.sqlite import SqliteDatabase
from engram_host.companion.store.tokens import AuditTable
from engram_host.companion.types import FOLDER, LOGS, AuditEntry, LogName
from engram_host.wording import counted

_MADE_AGAIN = ("lines", "vectors", "files", "migrations", "device_use", "gateway_use")
"""Tables that are not taken as they are; lines have rules of their own. The counts of a day, whose rows look
alike in a damaged file.
"""

_NOTES_OF_VECTORS = "embedding."
_LINE_COLUMNS = 8
"""Those of a line in the first schema; later ones have a default."""

_NOTE_CRC = 3
"""Where the check of a board's note stands among its values; its text is the last one."""

_Key = tuple[str, LogName, int]


@dataclass
class BoardRepair:
    """What became of a board's lines."""

    saved: int = 0
    sent_again: int = 0
    """Damaged or missing ones that the board still had when it last connected."""
    lost: int = 0
    """Damaged or missing ones that only a backup may have."""
    set_aside: int = 0
    """Those with anything left: it is set aside as it is."""


@dataclass
class Repair:
    """What was saved, by board, and what a person has to know."""

    kept: Path
    boards: dict[str, BoardRepair] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    """Tables with rows that could not be read."""

    @property
    def sentences(self) -> list[str]:
        """The report for a person."""
        found = [_board_sentence(name, board) for name, board in sorted(self.boards.items())]
        if "device_tokens" in self.tables:
            found.append(
                "Not all tokens could be read: `engram device list` shows those that are left; add the others again."
            )
        if others := [name for name in self.tables if name != "device_tokens"]:
            found.append(f"Not all of these tables could be read: {', '.join(others)}.")
        found.append(
            "Damaged pages may have held more than can be counted: each board compares its logs when it connects."
        )
        return found


def _board_sentence(name: str, board: BoardRepair) -> str:
    said = f"{name}: {counted(board.saved, 'line', 'lines')} saved"
    if board.sent_again:
        said += f"; it has to send {board.sent_again} again, as it does when it connects"
    if board.lost:
        said += f"; {board.lost} lost that the board has no more: only a backup has them"
    if board.set_aside:
        said += f", and what is left of {board.set_aside} is set aside"
    return said + "."


def repair_sqlite(path: Path, kept: Path, note: AuditEntry | None = None) -> Repair:
    """Put what can be read of a damaged database in its place, in one step; the damaged one stays at `kept`.

    `note` is added to its audit log. Nobody may have it open. StoreUnavailable.
    """
    draft = path.with_name(path.name + ".new")
    try:
        if not path.exists() or not path.stat().st_size:
            raise StoreUnavailable(
                f"there is no database {path}, or it is empty: `engram restore` puts a backup there."
            )
        remove_database(draft)
        pages = SqlitePages(path)
        repair = _salvage(path, pages, draft, kept, note)
        check_sqlite(draft)
        for ending in ("", *BESIDE):
            if (source := path.with_name(path.name + ending)).exists():
                shutil.copy2(source, kept.with_name(kept.name + ending))
        # Whoever ends this here leaves what there was, all of it in one file.
        _write_log(path, pages)
        remove_beside(path)
        draft.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be repaired: {error.strerror}. Look at its disk and its room.") from None
    finally:
        remove_database(draft)
    return repair


def _write_log(path: Path, pages: SqlitePages) -> None:
    """Bring what stands in the log beside a database into its file."""
    with path.open("r+b") as file:
        for number, page in pages.logged.items():
            file.seek((number - 1) * pages.page_size)
            file.write(page)


def _salvage(path: Path, pages: SqlitePages, draft: Path, kept: Path, note: AuditEntry | None) -> Repair:
    found = _Found(pages)
    database = SqliteDatabase(draft)
    database.connect()
    try:
        database.migrate()
        repair = Repair(kept)
        for name in _tables(database):
            rows, is_whole = found.table_rows(path, database, name)
            if not is_whole:
                repair.tables.append(name)
            _insert(database, name, rows)
        database.write(lambda rows: _put_lines(rows, found, repair))
        if note:
            AuditTable(database).add_audit(note)
    finally:
        database.close()
    return repair


# --- what the pages have


class _Found:
    """The rows of a damaged file: the lines among them, and those that only the index still has."""

    def __init__(self, pages: SqlitePages):
        self.lines: dict[_Key, dict[int, Sequence[Any]]] = defaultdict(dict)
        self.damaged: set[Found] = set()
        self.left: dict[Found, bytes] = {}
        """What is left of damaged lines."""
        self._others: list[FoundRow] = []
        indexed: set[Found] = set()
        there: set[Found] = set()
        for row in pages.rows():
            if _is_line(row):
                there.add(self._take_line(row.values))
            elif _is_index_of_lines(row):
                device, _, log, epoch, seq = row.values
                indexed.add((device, log, epoch, seq))
            elif row.values and len(row.values) < _MOST_COLUMNS and not _is_vector(row):
                self._others.append(row)
        self.damaged |= indexed - there

    def _take_line(self, values: Sequence[Any]) -> Found:
        device, log, epoch, seq, _, _, crc, line = values[:_LINE_COLUMNS]
        own = line_bytes(line)[-11:-3].decode("ascii", "replace") if line is not None else ""
        if line is None or is_intact(seq, own, line_bytes(line)):
            # What became of its row's check does not matter: the line has its own.
            self.lines[device, log, epoch][seq] = [*values[:6], own if crc or line is not None else "", *values[7:]]
        else:
            self.damaged.add((device, log, epoch, seq))
            self.left[device, log, epoch, seq] = line_bytes(line)
        return device, log, epoch, seq

    def table_rows(self, path: Path, database: Database, name: str) -> tuple[list[Sequence[Any]], bool]:
        """The rows of a table, and whether these are all."""
        columns = _columns(database, name)
        fits = _fits(name, columns)
        with contextlib.suppress(sqlite3.Error), opened(path, "ro") as damaged:
            there = [each[1] for each in damaged.execute(f"PRAGMA table_info({name})").fetchall()]
            names = [column.name for column in columns if column.name in there]
            if names == [column.name for column in columns]:
                rows = damaged.execute(f"SELECT {', '.join(names)} FROM {name}").fetchall()
                good = [row for row in rows if fits(row)]
                return good, len(good) == len(rows)
        has_rowid = _has_rowid(database, name)
        rows = [_with_rowid(row, columns) for row in self._others if row.has_rowid == has_rowid]
        return [row for row in rows if fits(row)], False


_MOST_COLUMNS = 32
"""No table has more: bounds what is kept of pages that are none."""


def _is_line(row: FoundRow) -> bool:
    values = row.values
    if row.has_rowid or not _LINE_COLUMNS <= len(values) <= _MOST_COLUMNS:
        return False
    device, log, *numbers = values[:6]
    is_key = isinstance(device, str) and log in LOGS and all(isinstance(each, int) for each in numbers)
    return is_key and isinstance(values[6], str) and isinstance(values[7], bytes | str | None)


def _is_index_of_lines(row: FoundRow) -> bool:
    if row.has_rowid or len(row.values) != 5:
        return False
    device, version, log, epoch, seq = row.values
    return isinstance(device, str) and log in LOGS and all(isinstance(each, int) for each in (version, epoch, seq))


def _is_vector(row: FoundRow) -> bool:
    return (
        row.has_rowid and len(row.values) == 8 and isinstance(row.values[7], bytes) and isinstance(row.values[4], str)
    )


# --- tables


@dataclass(frozen=True)
class _Column:
    name: str
    type: str
    needs_value: bool
    is_rowid: bool
    has_default: bool


def _tables(database: Database) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return [name for (name,) in database.read(lambda rows: rows.run(sql)) if name not in _MADE_AGAIN]


def _columns(database: Database, table: str) -> list[_Column]:
    found = database.read(lambda rows: rows.run(f"PRAGMA table_info({table})"))
    return [
        _Column(name, kind, bool(must) and default is None, bool(key) and name == "number", default is not None)
        for _, name, kind, must, default, key in found
    ]


def _has_rowid(database: Database, table: str) -> bool:
    sql = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    ((made,),) = database.read(lambda rows: rows.run(sql, (table,)))
    return "WITHOUT ROWID" not in made.upper()


def _checked(table: str, columns: Sequence[_Column], row: Sequence[Any]) -> Sequence[Any]:
    """The values of a row that its check is made of, and the check, None if it has none."""
    values = {column.name: value for column, value in zip(columns, row, strict=False)}
    return [*(values.get(name) for name in CHECKED[table].columns.split(", ")), values.get("crc")]


_TYPES = {"INTEGER": int, "TEXT": str, "BLOB": bytes, "REAL": (int, float)}


def _shape(columns: Sequence[_Column]):
    """Whether a row has as many values as a table, each of its column's type."""
    least = len(columns) - sum(column.has_default for column in columns)

    def fits(row: Sequence[Any]) -> bool:
        if not least <= len(row) <= len(columns):
            return False
        return all(
            isinstance(value, _TYPES.get(column.type, object)) or (value is None and not column.needs_value)
            for column, value in zip(columns, row, strict=False)
        )

    return fits


def _fits(table: str, columns: Sequence[_Column]) -> Callable[[Sequence[Any]], bool]:
    """Whether a row has the shape of a table's, and its check, if it has one, is right."""
    fits = _shape(columns)
    if table == "note_files":
        return lambda row: fits(row) and crc32(row[-1]) == row[_NOTE_CRC]
    return lambda row: fits(row) and (table not in CHECKED or is_sound(_checked(table, columns, row)))


def _with_rowid(row: FoundRow, columns: Sequence[_Column]) -> Sequence[Any]:
    """A row with its number, which SQLite keeps apart from its values."""
    return (
        [row.rowid, *row.values[1:]] if row.has_rowid and columns[0].is_rowid and row.values[0] is None else row.values
    )


def _insert(database: Database, table: str, found: Iterable[Sequence[Any]]) -> None:
    columns = _columns(database, table)
    by_length: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for row in found:
        if _is_kept(table, row):
            by_length[len(row)].append(row)
    for length, rows in by_length.items():
        names = ", ".join(column.name for column in columns[:length])
        sql = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * length)})"
        database.write(lambda target, sql=sql, rows=rows: target.run_many(sql, rows))


def _is_kept(table: str, row: Sequence[Any]) -> bool:
    """Folders are read again, and notes on vectors say nothing without these."""
    if table == "notes":
        return not row[0].startswith(_NOTES_OF_VECTORS)
    return not any(isinstance(value, str) and value.startswith(FOLDER) for value in row[:2])


# --- lines and the copies that they belong to


def _put_lines(rows: Rows, found: _Found, repair: Repair) -> None:
    copies = _copies(rows, found)
    columns = "device, log, epoch, seq, version, received, crc, line, archive, beyond"
    newest: dict[str, int] = defaultdict(int)
    for key, lines in found.lines.items():
        if key[0].startswith(FOLDER):
            continue
        marked = [_with_marks(values) for values in lines.values()]
        rows.run_many(f"INSERT OR IGNORE INTO lines ({columns}) VALUES ({', '.join('?' * 10)})", marked)
        newest[key[0]] = max([newest[key[0]], *(values[4] for values in marked)])
        repair.boards.setdefault(key[0], BoardRepair()).saved += sum(values[7] is not None for values in marked)
    _count_damaged(rows, found, copies, repair)
    for name, version in newest.items():
        device = rows.lock_or_make(name)
        device.version = max(device.version, version)
        rows.save_devices([device])
        repair.boards.setdefault(name, BoardRepair())
    for copy in copies.values():
        if copy.is_present and copy.log == "records":
            # The lines that say what is archived may be lost: nothing is taken for forgotten until the board has said it.
            retention.mark_doubted(rows, copy)


def _count_damaged(rows: Rows, found: _Found, copies: dict[_Key, LogRow], repair: Repair) -> None:
    """Count the damaged lines, and set aside what is left of those that no board can send again."""
    for device, log, epoch, seq in sorted(found.damaged):
        if device.startswith(FOLDER):
            continue
        copy = copies.get((device, log, epoch))
        board = repair.boards.setdefault(device, BoardRepair())
        if copy and copy.is_present and copy.oldest <= seq <= copy.have:
            board.sent_again += 1
        elif copy is None or seq <= copy.have:
            board.lost += 1
            if left := found.left.get((device, log, epoch, seq)):
                rows.set_aside(copy or LogRow(device, log, epoch), [(seq, left)], DAMAGED_ASIDE, int(time.time()))
                board.set_aside += 1


def _with_marks(values: Sequence[Any]) -> Sequence[Any]:
    """A line's row with its marks of the archive, which rows of the first schema do not have."""
    return [*values, *(0, 0)][:10] if len(values) < 10 else values[:10]


def _copies(rows: Rows, found: _Found) -> dict[_Key, LogRow]:
    """The copies of all logs, also those with only lines left; each has to be compared with its board."""
    names = [row.name for row in rows.devices()] + [key[0] for key in found.lines]
    copies = {copy.key: copy for name in set(names) for copy in rows.copies_of_board(name)}
    present = {key[:2] for key, copy in copies.items() if copy.is_present}
    newest_first = sorted(found.lines, key=lambda key: -max(values[5] for values in found.lines[key].values()))
    for key in newest_first:
        if key not in copies and not key[0].startswith(FOLDER):
            last = max(found.lines[key])
            copies[key] = LogRow(*key, is_present=key[:2] not in present, have=last, next=last + 1)
            present.add(key[:2])
    for copy in copies.values():
        copy.agreed = -1
    rows.save_logs(copies.values())
    return copies
