"""Boards and the lines of their copies, and lists of boards with search, sorting and paging."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.store.boards import retention
from engram_host.companion.store.conversations.table import OPEN
from engram_host.companion.store.damage import DamagedLines, count_damaged
from engram_host.companion.store.database import DatabaseTable, reads
from engram_host.companion.store.rows import AT_ONCE, OF_COPY, PRESENT, DeviceRow, LogRow, Rows, chunks, line_bytes
from engram_host.companion.types import FOLDER, LOGS, Change, Device, LogName, LogState, SeqRange, SetAsideLine
from engram_host.time_zones import BoardZone

MOST_NUMBER = (1 << 63) - 1

BoardSort = Literal[
    "name",
    "-name",
    "heard",
    "-heard",
    "lines",
    "-lines",
    "waiting",
    "-waiting",
    "flash",
    "-flash",
    "firmware",
    "-firmware",
]


@dataclass(frozen=True)
class BoardQuery:
    """Filters, order and page of a list of boards; a time of 0 is no filter."""

    find: str = ""
    sort: BoardSort = "name"
    heard_since: int = 0
    silent_since: int = 0
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True)
class BoardRow:
    """A board in a list; `records` and `journal` are copied seqs, `missing` lines are not copied yet."""

    name: str
    heard: int
    zone: BoardZone
    records: int
    journal: int
    missing: int
    waiting: int
    waiting_since: int


_COPIES = (
    "SELECT device, sum(CASE WHEN log = 'records' THEN have ELSE 0 END) AS records, "
    "sum(CASE WHEN log = 'journal' THEN have ELSE 0 END) AS journal, "
    "sum(CASE WHEN next - 1 > have THEN next - 1 - have ELSE 0 END) AS missing FROM logs WHERE is_present{} GROUP BY device"
)
_WAITING = f"SELECT device, count(*) AS waiting, min(at) AS since FROM conversations WHERE {OPEN}{{}} GROUP BY device"
_COLUMNS = (
    "name, rule, heard, zone, coalesce(records, 0), coalesce(journal, 0), coalesce(missing, 0), coalesce(waiting, 0), "
    "coalesce(since, 0)"
)
_FROM = (
    f"FROM devices LEFT JOIN ({_COPIES}) AS copies ON copies.device = devices.name "
    f"LEFT JOIN ({_WAITING}) AS waits ON waits.device = devices.name "
    "LEFT JOIN board_status ON board_status.device = devices.name"
)
_FROM_ALL = _FROM.format("", "")
_FROM_ONE = _FROM.format(" AND device = ?", " AND device = ?")
_ORDERS = {
    "name": "name",
    "heard": "heard",
    "lines": "coalesce(records, 0) + coalesce(journal, 0)",
    "waiting": "coalesce(waiting, 0)",
    "flash": "CASE WHEN flash_size > 0 THEN flash * 1.0 / flash_size ELSE -1 END",
    "firmware": "coalesce(firmware, '')",
}


class BoardTable(DatabaseTable):
    """Boards and their lines; a Markdown folder is stored like a board, its passages as records."""

    @reads
    def sources(self, rows: Rows) -> list[Device]:
        return _devices(rows)

    def devices(self) -> list[Device]:
        return [device for device in self.sources() if not device.name.startswith(FOLDER)]

    @reads
    def heard_times(self, rows: Rows) -> dict[str, int]:
        found = rows.run("SELECT name, heard FROM devices ORDER BY name")
        return {name: heard for name, heard in found if not name.startswith(FOLDER)}

    @reads
    def devices_after(self, rows: Rows, name: str, limit: int) -> list[Device]:
        return _with_copies(rows, rows.devices_after(name, limit))

    @reads
    def device(self, rows: Rows, name: str) -> Device:
        found = _devices(rows, name) if name else []
        if not found:
            raise UnknownDevice(name)
        return found[0]

    @reads
    def search_sources(self, rows: Rows, names: Sequence[str], prefixes: Sequence[str] = ()) -> list[Device]:
        """Return some boards, then their notes of these kinds; raises UnknownDevice."""
        wanted = [*names, *(prefix + name for prefix in prefixes for name in names)]
        found = {device.name: device for device in _with_copies(rows, rows.devices_named(wanted))}
        for name in names:
            if name not in found:
                raise UnknownDevice(name)
        notes = [found[name] for name in sorted(wanted[len(names) :]) if name in found]
        # Notes of a former epoch are not searched.
        epochs = {prefix + name: _epoch(found[name]) for prefix in prefixes for name in names}
        current = [note for note in notes if "records" in note.logs and _epoch(note) == epochs[note.name]]
        return [found[name] for name in names] + current

    @reads
    def changes(self, rows: Rows, device: str, after: int, limit: int = 2000) -> list[Change]:
        # Lines that were promised, then dropped and never archived stay hidden.
        line = "CASE WHEN lines.beyond AND lines.archive < 0 THEN NULL ELSE lines.line END"
        columns = f"lines.version, lines.log, lines.epoch, lines.seq, lines.crc, {line}"
        sql = f"SELECT {columns} FROM lines {PRESENT.format('lines')} ORDER BY lines.version LIMIT ?"
        return [_change(rows, device, *row) for row in rows.run(sql, (device, after, limit))]

    def lines(self, span: SeqRange, archived: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield undamaged lines of a span, with `archived` also those that the board no longer has."""
        after = span.after
        while after < span.to:
            part, after = self._lines(span, after, archived)
            yield from part

    @reads
    def _lines(self, rows: Rows, span: SeqRange, after: int, archived: bool) -> tuple[list[tuple[int, bytes]], int]:
        copy = LogRow(span.device, span.log, span.epoch)
        # In parts: this bounds memory, and no transaction stays open in between.
        found = rows.checks_between(copy, after, span.to, AT_ONCE, archived=archived)
        return rows.intact(copy, found), found[-1][0] if len(found) == AT_ONCE else span.to

    @reads
    def lines_at(
        self, rows: Rows, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> dict[int, bytes]:
        copy = LogRow(device, log, epoch)
        found: dict[int, bytes] = {}
        for part in chunks(seqs):
            found.update(rows.lines_at(copy, part, archived))
        return found

    @reads
    def archived(self, rows: Rows, device: str, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        copy = rows.present_copies([device]).get((device, "records"))
        return retention.archived_lines(rows, copy, after, limit) if copy else []

    @reads
    def archived_seqs(self, rows: Rows, device: str) -> list[int]:
        copy = rows.present_copies([device]).get((device, "records"))
        # The second condition is that of the index.
        sql = f"SELECT seq FROM lines WHERE {OF_COPY} AND archive > 0 AND archive <> 0 AND line IS NOT NULL"
        return [seq for (seq,) in rows.run(sql, copy.key)] if copy else []

    @reads
    def damaged(self, rows: Rows) -> list[DamagedLines]:
        """Return known damaged lines by board and log; only reads find new ones."""
        return count_damaged(rows)

    @reads
    def events(self, rows: Rows, device: str, limit: int = 100) -> list[tuple[int, str]]:
        return rows.events(device, limit)

    @reads
    def set_aside_lines(
        self, rows: Rows, device: str, limit: int = 100, before: int = MOST_NUMBER
    ) -> list[SetAsideLine]:
        sql = "SELECT log, epoch, seq, at, why, line, number FROM aside WHERE device = ? AND number < ?"
        found = rows.run(f"{sql} ORDER BY number DESC LIMIT ?", (device, before, limit))
        return [
            SetAsideLine(log, epoch, seq, at, why, line_bytes(line), number)
            for log, epoch, seq, at, why, line, number in found
        ]

    # --- lists for people

    @reads
    def list_boards(self, rows: Rows, query: BoardQuery) -> tuple[int, list[BoardRow]]:
        """Return (matching boards, one page of them), without Markdown folders."""
        where, values = f"WHERE substr(name, 1, {len(FOLDER)}) <> ?", [FOLDER]
        if query.find:
            where, values = where + " AND name LIKE ? ESCAPE '!'", [*values, f"%{_escaped(query.find)}%"]
        if query.heard_since or query.silent_since:
            is_heard = bool(query.heard_since)
            where += " AND heard >= ?" if is_heard else " AND heard < ?"
            values = [*values, query.heard_since or query.silent_since]
        ((total,),) = rows.run(f"SELECT count(*) FROM devices {where}", values)
        order = _ORDERS[query.sort.removeprefix("-")] + (" DESC" if query.sort[0] == "-" else "")
        sql = f"SELECT {_COLUMNS} {_FROM_ALL} {where} ORDER BY {order}, name LIMIT ? OFFSET ?"
        found = rows.run(sql, (*values, query.limit, query.offset))
        return total, [_row(*each) for each in found]

    @reads
    def board_row(self, rows: Rows, name: str) -> BoardRow | None:
        found = rows.run(f"SELECT {_COLUMNS} {_FROM_ONE} WHERE name = ?", (name,) * 3)
        return next((_row(*each) for each in found), None)


def _change(
    rows: Rows, device: str, version: int, log: LogName, epoch: int, seq: int, crc: str, line: bytes | None
) -> Change:
    data = None if line is None else line_bytes(line)
    is_whole = data is not None and rows.is_intact((device, log, epoch), seq, crc, data)
    return Change(version, log, seq, data if is_whole else None)


def _devices(rows: Rows, name: str = "") -> list[Device]:
    return _with_copies(rows, rows.devices(name))


def _with_copies(rows: Rows, devices: Sequence[DeviceRow]) -> list[Device]:
    copies = rows.present_copies(row.name for row in devices)
    return [_device(row, [copies[row.name, log] for log in LOGS if (row.name, log) in copies]) for row in devices]


def _device(row: DeviceRow, copies: Sequence[LogRow]) -> Device:
    logs: dict[LogName, LogState] = {
        copy.log: LogState(copy.epoch, copy.oldest, copy.next, copy.rewrites) for copy in copies
    }
    have: dict[LogName, int] = {copy.log: copy.have for copy in copies}
    return Device(row.name, row.board, row.heard, row.zone, row.version, logs, have, row.generation)


def _epoch(device: Device) -> int | None:
    return device.logs["records"].epoch if "records" in device.logs else None


def _row(name: str, rule: str, heard: int, standard: int, *numbers: int) -> BoardRow:
    return BoardRow(name, heard, BoardZone(standard, rule), *map(int, numbers))


def _escaped(part: str) -> str:
    return "".join(f"!{sign}" if sign in "!%_" else sign for sign in part.lower())
