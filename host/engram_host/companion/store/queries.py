"""Row operations of one transaction that several tables share."""

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from engram_host.companion.store.row_types import (
    DAMAGED_ASIDE,
    DeviceRow,
    LogRow,
    NewLine,
    as_log_row,
    crc_of,
    is_intact,
    line_bytes,
)
from engram_host.companion.store.sql import LINE_COLUMNS, OF_COPY, SqlStatements, chunks, in_list
from engram_host.companion.types import FOLDER, LogName
from engram_host.sentences import pack, unpack

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
_OP = b'"op":"archive"'


class Rows(SqlStatements):
    def __init__(self) -> None:
        self._waiting: list[tuple[Any, ...]] = []
        self.let_go = False
        self.damaged: set[tuple[str, LogName, int, int]] = set()

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

    # --- the archive

    def mark_promised(self, copy: LogRow, seqs: Iterable[int]) -> None:
        self.flush()
        self.run_many(
            f"UPDATE lines SET archive = -1 WHERE {OF_COPY} AND seq = ? AND line IS NOT NULL AND archive IN (0, -2)",
            [(*copy.key, seq) for seq in seqs],
        )

    def set_archive(self, copy: LogRow, seq: int, number: int, version: int) -> None:
        self.flush()
        sql = f"UPDATE lines SET archive = ?, version = ? WHERE {OF_COPY} AND seq = ? AND line IS NOT NULL"
        self.run(sql, (number, version, *copy.key, seq))

    def set_beyond(self, copy: LogRow, lines: Sequence[tuple[int, int]]) -> None:
        if not lines:
            return  # without a flush: lines of many boards are written together
        self.flush()
        self.run_many(
            f"UPDATE lines SET beyond = (1 = 1), version = ? WHERE {OF_COPY} AND seq = ?",
            [(version, *copy.key, seq) for seq, version in lines],
        )

    def mark_all(self, copy: LogRow, marks: Sequence[int], mark: int, only_on_board: bool = False) -> None:
        self.flush()
        having = " AND NOT beyond" if only_on_board else ""
        some, values = in_list(marks)
        where = f"{OF_COPY} AND archive {some} AND line IS NOT NULL{having}"
        self.run(f"UPDATE lines SET archive = ? WHERE {where}", (mark, *copy.key, *values))

    def has_marked(self, copy: LogRow, mark: int) -> bool:
        self.flush()
        sql = f"SELECT 1 FROM lines WHERE {OF_COPY} AND archive = ? AND archive <> 0 AND line IS NOT NULL LIMIT 1"
        return bool(self.run(sql, (*copy.key, mark)))

    def present_seqs(self, copy: LogRow) -> set[int]:
        self.flush()
        return {seq for (seq,) in self.run(f"SELECT seq FROM lines WHERE {OF_COPY} AND line IS NOT NULL", copy.key)}

    def shares_lines(self, copy: LogRow, other: LogRow) -> bool:
        """True if both copies have a record in the same line, so that one continues the other."""
        self.flush()
        sql = (
            f"SELECT 1 FROM lines WHERE {OF_COPY} AND {self.contains} AND EXISTS (SELECT 1 FROM lines AS others WHERE "
            "others.device = lines.device AND others.log = lines.log AND others.epoch = ? AND others.seq = lines.seq AND "
            "others.line = lines.line) LIMIT 1"
        )
        return bool(self.run(sql, (*copy.key, b'"content":', other.epoch)))

    def marked(self, copy: LogRow, number: int | None = None) -> list[tuple[int, int, bool, bytes]]:
        """Return (seq, archive, beyond, line) of a record's lines (-1: promised), or of all marked ones."""
        self.flush()
        which, values = ("archive = ?", (number,)) if number is not None else ("archive <> 0", ())
        sql = f"SELECT seq, archive, beyond, line FROM lines WHERE {OF_COPY} AND {which} AND archive <> 0"
        found = self.run(f"{sql} AND line IS NOT NULL ORDER BY seq", (*copy.key, *values))
        return [(seq, archive, bool(beyond), line_bytes(line)) for seq, archive, beyond, line in found]

    def archived(self, copy: LogRow, after: int, limit: int) -> list[tuple[int, bytes]]:
        self.flush()
        sql = (
            f"SELECT seq, crc, line FROM lines WHERE {OF_COPY} AND {self._of_archive} AND seq > ? ORDER BY seq LIMIT ?"
        )
        found: list[tuple[int, bytes]] = []
        wanted = limit
        while wanted:
            part = self.run(sql, (*copy.key, _OP, after, wanted))
            found += self.intact(copy, ((seq, crc, line_bytes(line)) for seq, crc, line in part))
            is_end = len(part) < wanted
            after, wanted = (0, 0) if is_end else (part[-1][0], limit - len(found))
        return found

    def archived_numbers(self, copies: Iterable[LogRow]) -> dict[str, set[int]]:
        self.flush()
        epochs = {copy.device: copy.epoch for copy in copies}
        found: dict[str, set[int]] = {}
        for part in chunks(sorted(epochs)):
            some, values = in_list(part)
            # The last condition is that of the index.
            where = f"device {some} AND log = 'records' AND archive > 0 AND archive <> 0"
            sql = f"SELECT DISTINCT device, epoch, archive FROM lines WHERE {where}"
            for device, epoch, number in self.run(sql, values):
                if epochs[device] == epoch:
                    found.setdefault(device, set()).add(number)
        return found

    def count_archived(self, copy: LogRow) -> int:
        self.flush()
        sql = f"SELECT count(DISTINCT archive) FROM lines WHERE {OF_COPY} AND {self._of_archive}"
        return self.run(sql, (*copy.key, _OP))[0][0]

    @property
    def _of_archive(self) -> str:
        return f"archive > 0 AND archive <> 0 AND line IS NOT NULL AND NOT {self.contains}"

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
