"""Rows of boards, of their logs' copies and of lines, and the statements of one transaction on them.

Statements are written once, in the common subset of SQLite and PostgreSQL, with parameters as `?`.
"""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from engram import log_line
from engram_host.companion.types import FOLDER, LogName, Sender
from engram_host.sentences import SentenceTable, pack, unpack
from engram_host.time_zones import BoardZone

EVENTS = SentenceTable("event")
"""Events of a board's copy, for its person: see Rows.add_event()."""

OF_COPY = "device = ? AND log = ? AND epoch = ?"
LINE_COLUMNS = "device, log, epoch, seq, version, received, crc, line"

PRESENT = (
    "JOIN logs ON logs.device = {0}.device AND logs.log = {0}.log AND logs.epoch = {0}.epoch AND logs.is_present "
    "WHERE {0}.device = ? AND {0}.version > ?"
)

AT_ONCE = 500
"""Values in one list of a statement, and rows read by one."""

EVENTS_KEPT = 1000

_DEVICE = "name, board, link, n, heard, zone, version, generation, rule"
_LOG = "device, log, epoch, is_present, have, oldest, next, rewrites, agreed, replaced"
_GENERATION_BITS = 48

_PUT_LINE = (
    f"INSERT INTO lines ({LINE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (device, log, epoch, seq) DO UPDATE SET version = excluded.version, received = excluded.received, "
    "crc = excluded.crc, line = excluded.line, beyond = excluded.beyond, archive = "
    # A resent damaged line keeps its archive mark.
    "CASE WHEN lines.crc = '' AND lines.line IS NOT NULL AND excluded.line IS NOT NULL THEN lines.archive ELSE 0 END"
)

Value = TypeVar("Value")
Kind = TypeVar("Kind")


def in_list(values: Iterable[Value]) -> tuple[str, list[Value]]:
    found = list(values)
    count = 1 << (len(found) - 1).bit_length() if found else 0
    return f"IN ({', '.join('?' * count)})", [*found, *found[-1:] * (count - len(found))]


def chunks(values: Iterable[Value], size: int = AT_ONCE) -> Iterator[list[Value]]:
    found = list(values)
    return (found[start : start + size] for start in range(0, len(found), size))


def columns_of(kind: type) -> str:
    return ", ".join(field.name for field in fields(kind))


def read_row(kind: type[Kind], row: Sequence[Any]) -> Kind:
    pairs = zip(fields(kind), row, strict=True)  # pyright: ignore[reportArgumentType]
    return kind(*(bool(value) if field.type is bool else value for field, value in pairs))


def row_values(row: Any) -> dict[str, Any]:
    return {name: int(value) if isinstance(value, bool) else value for name, value in vars(row).items()}


# --- rows


DAMAGED_ASIDE = "it is damaged, and the board has no more what it said"


@dataclass
class DeviceRow:
    """A board's row; `link` and `n` are of its newest message, and `board` is empty in a new row."""

    name: str
    board: str = ""
    link: int = 0
    n: int = 0
    heard: int = 0
    standard: int = 0
    version: int = 0
    generation: int = 0
    rule: str = ""

    @property
    def zone(self) -> BoardZone:
        return BoardZone(self.standard, self.rule)

    def is_ahead_of(self, sender: Sender) -> bool:
        return (sender.link, sender.n) < (self.link, self.n)

    def next_version(self) -> int:
        self.version += 1
        return self.version


@dataclass
class LogRow:
    """A log's copy, complete up to `have`; both sides agreed at `agreed` rewrites, -1 if unknown."""

    device: str
    log: LogName
    epoch: int
    is_present: bool = True
    have: int = 0
    oldest: int = 1
    next: int = 1
    rewrites: int = 0
    agreed: int = -1
    replaced: int = 0

    @property
    def key(self) -> tuple[str, LogName, int]:
        return self.device, self.log, self.epoch


def as_log_row(row: tuple[Any, ...]) -> LogRow:
    device, log, epoch, is_present, *numbers = row
    return LogRow(device, log, epoch, bool(is_present), *numbers)


@dataclass(frozen=True)
class NewLine:
    seq: int
    version: int
    line: bytes | None


def line_bytes(value: object) -> bytes:
    if isinstance(value, (bytes, memoryview)):
        return bytes(value)
    return str(value).encode("utf-8", "replace")


def crc_of(line: bytes) -> str:
    return line[-11:-3].decode("ascii", "replace")


def is_intact(seq: int, crc: str, line: bytes) -> bool:
    has_seq = line.startswith(b'{"seq":%d,' % seq) or fields_of(line).get("seq") == seq
    return has_seq and crc_of(line) == crc and log_line.check(line)


def fields_of(line: bytes) -> dict[str, Any]:
    try:
        return log_line.decode(line)
    except ValueError:
        return {}


# --- one transaction


class Rows(ABC):
    for_update = ""
    """Suffix of a SELECT that locks its rows; SQLite locks the whole database."""

    contains = "instr(line, ?) > 0"

    if_lost = "`engram restore` a backup, or `engram repair` sets aside what is lost."

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, ...]] = []
        self.let_go = False
        self.damaged: set[tuple[str, LogName, int, int]] = set()

    @abstractmethod
    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Execute a statement and return its rows."""

    @abstractmethod
    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each row of values."""

    @abstractmethod
    def script(self, sql: str) -> None:
        """Execute several statements, without values."""

    def translated(self, schema: str) -> str:
        """Translate statements that make tables; these are written for SQLite."""
        return schema

    @abstractmethod
    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement and return the number of rows it changed."""

    def insert(self, table: str, values: Mapping[str, Any], on_conflict: str = "") -> int:
        """Insert a row; return 0 if a conflict kept it out."""
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks}) {on_conflict}"
        return self.count(sql, (*values.values(),))

    def upsert(self, table: str, key: str, values: Mapping[str, Any]) -> None:
        """Insert a row, or update the one with its key."""
        kept = ", ".join(f"{name} = excluded.{name}" for name in values if name not in key.split(", "))
        self.insert(table, values, f"ON CONFLICT ({key}) DO UPDATE SET {kept}")

    def delete_some(self, table: str, key: str, where: str, values: Sequence[Any], most: int, order: str) -> int:
        # Without ORDER BY and a literal LIMIT, the generic plan reads the whole table.
        wanted = f"SELECT {key} FROM {table} WHERE {where} ORDER BY {order} LIMIT {most}"
        return self.count(f"DELETE FROM {table} WHERE ({key}) IN ({wanted})", values)

    def keep_newest(self, table: str, where: str, values: Sequence[Any], most: int) -> int:
        newest = f"SELECT number FROM {table} WHERE {where} ORDER BY number DESC LIMIT 1 OFFSET {most}"
        return self.count(f"DELETE FROM {table} WHERE {where} AND number <= ({newest})", (*values, *values))

    def lock_schema(self) -> None:
        return

    def notify(self, notice: str) -> None:
        return

    @abstractmethod
    def size(self) -> int:
        """Return the approximate bytes on disk."""

    def flush(self) -> None:
        if self._waiting:
            lines, self._waiting = self._waiting, []
            self.run_many(_PUT_LINE, lines)

    # --- boards and their copies

    def lock(self, names: Iterable[str]) -> dict[str, DeviceRow]:
        """Lock the rows of boards in the order of names, so that two transactions never deadlock."""
        some, values = in_list(sorted(set(names)))
        if not values:
            return {}
        sql = f"SELECT {_DEVICE} FROM devices WHERE name {some} ORDER BY name{self.for_update}"
        return {row[0]: DeviceRow(*row) for row in self.run(sql, values)}

    def lock_or_make(self, name: str) -> DeviceRow:
        known = self.lock([name])
        if known:
            return known[name]
        self.run(
            f"INSERT INTO devices ({_DEVICE}) VALUES (?, '', 0, 0, 0, 0, 0, ?, '') ON CONFLICT (name) DO NOTHING",
            (name, secrets.randbits(_GENERATION_BITS)),
        )
        return self.lock([name])[name]

    def save_devices(self, devices: Iterable[DeviceRow]) -> None:
        self.run_many(
            "UPDATE devices SET board = ?, link = ?, n = ?, heard = ?, zone = ?, version = ?, rule = ? WHERE name = ?",
            [(row.board, row.link, row.n, row.heard, row.standard, row.version, row.rule, row.name) for row in devices],
        )

    def devices(self, name: str = "") -> list[DeviceRow]:
        where, values = ("WHERE name = ?", (name,)) if name else ("", ())
        return [DeviceRow(*row) for row in self.run(f"SELECT {_DEVICE} FROM devices {where} ORDER BY name", values)]

    def devices_named(self, names: Iterable[str]) -> list[DeviceRow]:
        found: list[DeviceRow] = []
        for part in chunks(list(names)):
            some, values = in_list(part)
            found += [DeviceRow(*row) for row in self.run(f"SELECT {_DEVICE} FROM devices WHERE name {some}", values)]
        return found

    def devices_after(self, name: str, limit: int) -> list[DeviceRow]:
        where = f"name > ? AND substr(name, 1, {len(FOLDER)}) <> ?"
        sql = f"SELECT {_DEVICE} FROM devices WHERE {where} ORDER BY name LIMIT ?"
        return [DeviceRow(*row) for row in self.run(sql, (name, FOLDER, limit))]

    def copies(self, device: str, log: LogName | None = None) -> list[LogRow]:
        found = map(as_log_row, self.run(f"SELECT {_LOG} FROM logs WHERE device = ?", (device,)))
        return [copy for copy in found if log in (None, copy.log)]

    def present_copies(self, names: Iterable[str]) -> dict[tuple[str, LogName], LogRow]:
        found: dict[tuple[str, LogName], LogRow] = {}
        for part in chunks(sorted(set(names))):
            some, values = in_list(part)
            sql = f"SELECT {_LOG} FROM logs WHERE is_present AND device {some}"
            found |= {(row.device, row.log): row for row in map(as_log_row, self.run(sql, values))}
        return found

    def all_copies(self) -> list[LogRow]:
        return [as_log_row(row) for row in self.run(f"SELECT {_LOG} FROM logs ORDER BY device, log, epoch")]

    def save_logs(self, copies: Iterable[LogRow]) -> None:
        self.run_many(
            f"INSERT INTO logs ({_LOG}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (device, log, epoch) DO UPDATE SET "
            "is_present = excluded.is_present, have = excluded.have, oldest = excluded.oldest, next = excluded.next, "
            "rewrites = excluded.rewrites, agreed = excluded.agreed, replaced = excluded.replaced",
            [
                (*row.key, row.is_present, row.have, row.oldest, row.next, row.rewrites, row.agreed, row.replaced)
                for row in sorted(copies, key=lambda row: row.is_present)
            ],
        )

    # --- lines

    def put_lines(self, copy: LogRow, lines: Iterable[NewLine], now: int) -> None:
        for new in lines:
            crc = crc_of(new.line) if new.line else ""
            self._waiting.append((*copy.key, new.seq, new.version, now, crc, new.line))

    def lines_between(
        self, copy: LogRow, after: int, to: int, limit: int = 1 << 30, part: bytes = b"", archived: bool = False
    ) -> list[tuple[int, bytes]]:
        """Return lines in order, filtered by `part`; damaged ones included, and `archived` beyond the board."""
        return [(seq, line) for seq, _, line in self.checks_between(copy, after, to, limit, part, archived)]

    def checks_between(
        self, copy: LogRow, after: int, to: int, limit: int = 1 << 30, part: bytes = b"", archived: bool = False
    ) -> list[tuple[int, str, bytes]]:
        self.flush()
        having, values = (f" AND {self.contains}", (part,)) if part else ("", ())
        having += "" if archived else " AND NOT beyond"
        where = f"{OF_COPY} AND seq > ? AND seq <= ? AND line IS NOT NULL{having}"
        sql = f"SELECT seq, crc, line FROM lines WHERE {where} ORDER BY seq LIMIT ?"
        found = self.run(sql, (*copy.key, after, to, *values, limit))
        return [(seq, crc, line_bytes(line)) for seq, crc, line in found]

    def intact(self, copy: LogRow, found: Iterable[tuple[int, str, bytes]]) -> list[tuple[int, bytes]]:
        return [(seq, line) for seq, crc, line in found if self.is_intact(copy.key, seq, crc, line)]

    def is_intact(self, key: tuple[str, LogName, int], seq: int, crc: str, line: bytes) -> bool:
        """True if a line matches its check; note it in `damaged` otherwise."""
        if crc and is_intact(seq, crc, line):
            return True
        if crc:
            self.damaged.add((*key, seq))
        return False

    def lines_at(self, copy: LogRow, seqs: Sequence[int], archived: bool = True) -> list[tuple[int, bytes]]:
        if not seqs:
            return []
        self.flush()
        having = "" if archived else " AND NOT beyond"
        some, values = in_list(seqs)
        where = f"{OF_COPY} AND seq {some} AND line IS NOT NULL{having}"
        found = self.run(f"SELECT seq, crc, line FROM lines WHERE {where} ORDER BY seq", (*copy.key, *values))
        return self.intact(copy, ((seq, crc, line_bytes(line)) for seq, crc, line in found))

    def crcs_between(self, copy: LogRow, after: int, to: int) -> list[str]:
        self.flush()
        where = f"{OF_COPY} AND seq > ? AND seq <= ? AND line IS NOT NULL AND NOT beyond"
        return [row[0] for row in self.run(f"SELECT crc FROM lines WHERE {where} ORDER BY seq", (*copy.key, after, to))]

    def remove_lines(self, device: DeviceRow, copy: LogRow, seqs: Sequence[int], now: int) -> None:
        self.put_lines(copy, [NewLine(seq, device.next_version(), None) for seq in seqs], now)
        self.drop_vectors_of(copy, seqs)

    def drop_vectors_of(self, copy: LogRow, seqs: Iterable[int]) -> None:
        self.run_many(f"DELETE FROM vectors WHERE {OF_COPY} AND seq = ?", [(*copy.key, seq) for seq in seqs])

    def forget_equals(self, copy: LogRow, lines: Sequence[tuple[int, bytes]]) -> None:
        """Delete equals of forgotten lines from former epochs and the set-aside lines."""
        rows = [(copy.device, copy.log, copy.epoch, seq, line) for seq, line in lines]
        same = "device = ? AND log = ? AND epoch <> ? AND seq = ? AND line = ?"
        self.run_many(
            "DELETE FROM vectors WHERE EXISTS (SELECT 1 FROM lines WHERE lines.device = vectors.device AND "
            "lines.log = vectors.log AND lines.epoch = vectors.epoch AND lines.seq = vectors.seq AND "
            "lines.device = ? AND lines.log = ? AND lines.epoch <> ? AND lines.seq = ? AND lines.line = ?) "
            "AND vectors.device = ? AND vectors.log = ? AND vectors.seq = ?",
            [(*row, row[0], row[1], row[3]) for row in rows],
        )
        self.run_many(f"UPDATE lines SET line = NULL, crc = '' WHERE {same}", rows)
        self.run_many(
            # A damaged line may contain the forgotten text.
            "DELETE FROM aside WHERE device = ? AND log = ? AND seq = ? AND (line = ? OR why = ?)",
            [(row[0], row[1], row[3], row[4], DAMAGED_ASIDE) for row in rows],
        )

    # --- set-aside lines, and events

    def set_aside(self, copy: LogRow, lines: Iterable[tuple[int, bytes]], why: str, now: int) -> None:
        self.run_many(
            "INSERT INTO aside (device, log, epoch, seq, at, why, line) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*copy.key, seq, now, why, line) for seq, line in lines],
        )

    def drop_aside(self, copy: LogRow, why: str) -> int:
        return self.count(f"DELETE FROM aside WHERE {OF_COPY} AND why = ?", (*copy.key, why))

    def add_event(self, device: str, at: int, text: str) -> None:
        if [text] == [known for _, known in self.events(device, 1)]:
            return
        self.insert("events", {"device": device, "at": at, "text": pack(text)})
        self.keep_newest("events", "device = ?", (device,), EVENTS_KEPT)

    def events(self, device: str, limit: int) -> list[tuple[int, str]]:
        sql = "SELECT at, text FROM events WHERE device = ? ORDER BY number DESC LIMIT ?"
        return [(at, unpack(text)) for at, text in self.run(sql, (device, limit))]
