"""The rows of the two databases, as one transaction sees them: statements of several tables' rules, and those of a dialect.

SQL stands once, in what SQLite and PostgreSQL have in common, here or with the one table that needs it. A dialect adds how it
is executed, locked and how a vector is kept. Parameters are written `?`.
"""

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
from engram_host.companion.store.sql.dialect import SqlStatements
from engram_host.companion.store.sql.statements import LINE_COLUMNS, OF_COPY, ON_KNOWN_LINE, padded, placeholders
from engram_host.companion.types import FOLDER, LogName

EVENTS_KEPT = 1000
"""Events of one board: bounds what a board that resets again and again can fill."""

_DEVICE = "name, board, link, n, heard, zone, version, generation, rule"
_LOG = "device, log, epoch, is_present, have, oldest, next, rewrites, agreed, replaced"
_GENERATION_BITS = 48
_NAMES_AT_ONCE = 500
"""Names in one statement: SQLite takes 32,766 values, and PostgreSQL 65,535."""

_OP = b'"op":"archive"'


class Rows(SqlStatements):
    """What one transaction does to the rows. Lines are written together, at the latest by finish()."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, ...]] = []
        self.let_go = False
        """Whether bytes of lines left the tables."""
        self.damaged: set[tuple[str, LogName, int, int]] = set()
        """(board, log, epoch, seq) of the lines that were read, are damaged, and were not known to be."""

    def flush(self) -> None:
        """Write what waits to be written."""
        if self._waiting:
            rows, self._waiting = self._waiting, []
            self.upsert_lines(rows)

    def upsert_lines(self, lines: Sequence[tuple[Any, ...]]) -> None:
        """Write rows of LINE_COLUMNS, in their order, each in the place of the one with its key."""
        self.run_many(f"INSERT INTO lines ({LINE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) {ON_KNOWN_LINE}", lines)

    # --- boards and their copies

    def lock(self, names: Iterable[str]) -> dict[str, DeviceRow]:
        """The rows of boards, for nobody else to change until the transaction ends. In the order of names: so two
        transactions never wait for each other.
        """
        wanted = padded(sorted(set(names)))
        if not wanted:
            return {}
        sql = f"SELECT {_DEVICE} FROM devices WHERE name IN ({placeholders(wanted)}) ORDER BY name{self.for_update}"
        return {row[0]: DeviceRow(*row) for row in self.run(sql, wanted)}

    def lock_or_make(self, name: str) -> DeviceRow:
        """The row of a board, made if there is none, and locked."""
        known = self.lock([name])
        if known:
            return known[name]
        self.run(
            f"INSERT INTO devices ({_DEVICE}) VALUES (?, '', 0, 0, 0, 0, 0, ?, '') ON CONFLICT (name) DO NOTHING",
            (name, secrets.randbits(_GENERATION_BITS)),
        )
        return self.lock([name])[name]

    def save_devices(self, devices: Iterable[DeviceRow]) -> None:
        """Write rows back."""
        self.run_many(
            "UPDATE devices SET board = ?, link = ?, n = ?, heard = ?, zone = ?, version = ?, rule = ? WHERE name = ?",
            [(row.board, row.link, row.n, row.heard, row.standard, row.version, row.rule, row.name) for row in devices],
        )

    def devices(self, name: str = "") -> list[DeviceRow]:
        """The rows of all boards by name, or of one."""
        where, values = ("WHERE name = ?", (name,)) if name else ("", ())
        return [DeviceRow(*row) for row in self.run(f"SELECT {_DEVICE} FROM devices {where} ORDER BY name", values)]

    def devices_after(self, name: str, limit: int) -> list[DeviceRow]:
        """The rows of boards with names after one, by name; none of Markdown folders."""
        where = f"name > ? AND substr(name, 1, {len(FOLDER)}) <> ?"
        sql = f"SELECT {_DEVICE} FROM devices WHERE {where} ORDER BY name LIMIT ?"
        return [DeviceRow(*row) for row in self.run(sql, (name, FOLDER, limit))]

    def copies(self, device: str, log: LogName) -> list[LogRow]:
        """The copies of a log in all epochs."""
        return [
            as_log_row(row) for row in self.run(f"SELECT {_LOG} FROM logs WHERE device = ? AND log = ?", (device, log))
        ]

    def copies_of_board(self, device: str) -> list[LogRow]:
        """The copies of all logs of a board in all epochs."""
        return [as_log_row(row) for row in self.run(f"SELECT {_LOG} FROM logs WHERE device = ?", (device,))]

    def present_copies(self, names: Iterable[str]) -> dict[tuple[str, LogName], LogRow]:
        """The present copies of boards."""
        wanted = sorted(set(names))
        found: dict[tuple[str, LogName], LogRow] = {}
        for start in range(0, len(wanted), _NAMES_AT_ONCE):
            part = padded(wanted[start : start + _NAMES_AT_ONCE])
            sql = f"SELECT {_LOG} FROM logs WHERE is_present AND device IN ({placeholders(part)})"
            found |= {(row.device, row.log): row for row in map(as_log_row, self.run(sql, part))}
        return found

    def all_copies(self) -> list[LogRow]:
        """The copies of all logs of all boards, those of former epochs included."""
        return [as_log_row(row) for row in self.run(f"SELECT {_LOG} FROM logs ORDER BY device, log, epoch")]

    def save_logs(self, copies: Iterable[LogRow]) -> None:
        """Write the rows of copies, new ones too; one that is present after those that are not."""
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
        """Write lines, in the place of those that are there."""
        for new in lines:
            crc = crc_of(new.line) if new.line else ""
            self._waiting.append((*copy.key, new.seq, new.version, now, crc, new.line))

    def lines_between(
        self, copy: LogRow, after: int, to: int, limit: int = 1 << 30, part: bytes = b"", archived: bool = False
    ) -> list[tuple[int, bytes]]:
        """The lines of a copy with seqs after `after` up to `to`, in order; only those with some bytes, if these are given.

        With `archived` also what the board has no more: else the lines are those of the board. Damaged ones are among them.
        """
        return [(seq, line) for seq, _, line in self.checks_between(copy, after, to, limit, part, archived)]

    def checks_between(
        self, copy: LogRow, after: int, to: int, limit: int = 1 << 30, part: bytes = b"", archived: bool = False
    ) -> list[tuple[int, str, bytes]]:
        """(seq, check, line) of the lines that lines_between() gives, for intact()."""
        self.flush()
        having, values = (f" AND {self.contains}", (part,)) if part else ("", ())
        having += "" if archived else " AND NOT beyond"
        where = f"{OF_COPY} AND seq > ? AND seq <= ? AND line IS NOT NULL{having}"
        sql = f"SELECT seq, crc, line FROM lines WHERE {where} ORDER BY seq LIMIT ?"
        found = self.run(sql, (*copy.key, after, to, *values, limit))
        return [(seq, crc, line_bytes(line)) for seq, crc, line in found]

    def intact(self, copy: LogRow, found: Iterable[tuple[int, str, bytes]]) -> list[tuple[int, bytes]]:
        """(seq, line) of those of some (seq, check, line) that are not damaged; the others are noted in `damaged`."""
        return [(seq, line) for seq, crc, line in found if self.is_intact(copy.key, seq, crc, line)]

    def is_intact(self, key: tuple[str, LogName, int], seq: int, crc: str, line: bytes) -> bool:
        """Whether a line of a copy is as its board wrote it; one that is not is noted in `damaged`."""
        if crc and is_intact(seq, crc, line):
            return True
        if crc:
            self.damaged.add((*key, seq))
        return False

    def lines_at(self, copy: LogRow, seqs: Sequence[int], archived: bool = True) -> list[tuple[int, bytes]]:
        """The lines of a copy with these seqs, in order, without damaged ones; `archived` as in lines_between()."""
        if not seqs:
            return []
        self.flush()
        having = "" if archived else " AND NOT beyond"
        condition, values = self.condition_in("seq", seqs)
        where = f"{OF_COPY} AND {condition} AND line IS NOT NULL{having}"
        found = self.run(f"SELECT seq, crc, line FROM lines WHERE {where} ORDER BY seq", (*copy.key, *values))
        return self.intact(copy, ((seq, crc, line_bytes(line)) for seq, crc, line in found))

    def crcs_between(self, copy: LogRow, after: int, to: int) -> list[str]:
        """The checks of the lines that lines_between() would give, "" for a damaged one."""
        self.flush()
        where = f"{OF_COPY} AND seq > ? AND seq <= ? AND line IS NOT NULL AND NOT beyond"
        return [row[0] for row in self.run(f"SELECT crc FROM lines WHERE {where} ORDER BY seq", (*copy.key, after, to))]

    def remove_lines(self, device: DeviceRow, copy: LogRow, seqs: Sequence[int], now: int) -> None:
        """Remove lines from a copy, with their vectors; each is a change of the board."""
        self.put_lines(copy, [NewLine(seq, device.next_version(), None) for seq in seqs], now)
        self.drop_vectors_of(copy, seqs)

    def drop_vectors_of(self, copy: LogRow, seqs: Iterable[int]) -> None:
        """Remove the vectors of lines that are other ones now, or none."""
        self.run_many(f"DELETE FROM vectors WHERE {OF_COPY} AND seq = ?", [(*copy.key, seq) for seq in seqs])

    def forget_equals(self, copy: LogRow, lines: Sequence[tuple[int, bytes]]) -> None:
        """Remove what is equal to lines that were forgotten from the copies of former epochs and from what was set aside."""
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
            # Nobody can say whether what is left of a damaged line is the text that was forgotten.
            "DELETE FROM aside WHERE device = ? AND log = ? AND seq = ? AND (line = ? OR why = ?)",
            [(row[0], row[1], row[3], row[4], DAMAGED_ASIDE) for row in rows],
        )

    # --- the archive

    def mark_promised(self, copy: LogRow, seqs: Iterable[int]) -> None:
        """Mark lines that stay even if the board drops them, once it says that they are archived."""
        self.flush()
        self.run_many(
            f"UPDATE lines SET archive = -1 WHERE {OF_COPY} AND seq = ? AND line IS NOT NULL AND archive IN (0, -2)",
            [(*copy.key, seq) for seq in seqs],
        )

    def set_archive(self, copy: LogRow, seq: int, number: int, version: int) -> None:
        """Let a line be one of an archived record, 0 for none any more."""
        self.flush()
        sql = f"UPDATE lines SET archive = ?, version = ? WHERE {OF_COPY} AND seq = ? AND line IS NOT NULL"
        self.run(sql, (number, version, *copy.key, seq))

    def set_beyond(self, copy: LogRow, lines: Sequence[tuple[int, int]]) -> None:
        """Note of (seq, version) that the board has these lines no more."""
        if not lines:
            return  # and write nothing yet: lines of many boards are written together
        self.flush()
        self.run_many(
            f"UPDATE lines SET beyond = (1 = 1), version = ? WHERE {OF_COPY} AND seq = ?",
            [(version, *copy.key, seq) for seq, version in lines],
        )

    def mark_all(self, copy: LogRow, marks: Sequence[int], mark: int, only_on_board: bool = False) -> None:
        """Let all lines of a copy that have one of some marks have another one."""
        self.flush()
        having = " AND NOT beyond" if only_on_board else ""
        where = f"{OF_COPY} AND archive IN ({placeholders(marks)}) AND line IS NOT NULL{having}"
        self.run(f"UPDATE lines SET archive = ? WHERE {where}", (mark, *copy.key, *marks))

    def has_marked(self, copy: LogRow, mark: int) -> bool:
        """Whether any line of a copy has a mark."""
        self.flush()
        sql = f"SELECT 1 FROM lines WHERE {OF_COPY} AND archive = ? AND archive <> 0 AND line IS NOT NULL LIMIT 1"
        return bool(self.run(sql, (*copy.key, mark)))

    def present_seqs(self, copy: LogRow) -> set[int]:
        """The seqs that a copy has lines of."""
        self.flush()
        return {seq for (seq,) in self.run(f"SELECT seq FROM lines WHERE {OF_COPY} AND line IS NOT NULL", copy.key)}

    def shares_lines(self, copy: LogRow, other: LogRow) -> bool:
        """Whether a record stands in two copies in the same line: then one goes on from the other."""
        self.flush()
        sql = (
            f"SELECT 1 FROM lines WHERE {OF_COPY} AND {self.contains} AND EXISTS (SELECT 1 FROM lines AS others WHERE "
            "others.device = lines.device AND others.log = lines.log AND others.epoch = ? AND others.seq = lines.seq AND "
            "others.line = lines.line) LIMIT 1"
        )
        return bool(self.run(sql, (*copy.key, b'"content":', other.epoch)))

    def marked(self, copy: LogRow, number: int | None = None) -> list[tuple[int, int, bool, bytes]]:
        """(seq, archive, beyond, line) of the lines of an archived record (-1: those promised), or of all that are marked."""
        self.flush()
        which, values = ("archive = ?", (number,)) if number is not None else ("archive <> 0", ())
        sql = f"SELECT seq, archive, beyond, line FROM lines WHERE {OF_COPY} AND {which} AND archive <> 0"
        found = self.run(f"{sql} AND line IS NOT NULL ORDER BY seq", (*copy.key, *values))
        return [(seq, archive, bool(beyond), line_bytes(line)) for seq, archive, beyond, line in found]

    def archived(self, copy: LogRow, after: int, limit: int) -> list[tuple[int, bytes]]:
        """The lines of archived records with a seq after `after`, in order; damaged ones are passed over."""
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
        """The numbers of the records that are archived in copies of records, by the board; boards without are left out."""
        self.flush()
        epochs = {copy.device: copy.epoch for copy in copies}
        found: dict[str, set[int]] = {}
        wanted = sorted(epochs)
        for start in range(0, len(wanted), _NAMES_AT_ONCE):
            part = padded(wanted[start : start + _NAMES_AT_ONCE])
            # The second condition is that of the index.
            where = f"device IN ({placeholders(part)}) AND log = 'records' AND archive > 0 AND archive <> 0"
            for device, epoch, number in self.run(
                f"SELECT DISTINCT device, epoch, archive FROM lines WHERE {where}", part
            ):
                if epochs[device] == epoch:
                    found.setdefault(device, set()).add(number)
        return found

    def count_archived(self, copy: LogRow) -> int:
        """How many records are archived."""
        self.flush()
        sql = f"SELECT count(DISTINCT archive) FROM lines WHERE {OF_COPY} AND {self._of_archive}"
        return self.run(sql, (*copy.key, _OP))[0][0]

    @property
    def _of_archive(self) -> str:
        """The condition that a line is an archived record's latest version."""
        return f"archive > 0 AND archive <> 0 AND line IS NOT NULL AND NOT {self.contains}"

    # --- what was set aside, and what happened

    def set_aside(self, copy: LogRow, lines: Iterable[tuple[int, bytes]], why: str, now: int) -> None:
        """Keep lines apart that are no longer part of a copy."""
        self.run_many(
            "INSERT INTO aside (device, log, epoch, seq, at, why, line) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*copy.key, seq, now, why, line) for seq, line in lines],
        )

    def drop_aside(self, copy: LogRow, why: str) -> int:
        """Remove what was set aside of a copy for one reason; how much there was."""
        return self.count(f"DELETE FROM aside WHERE {OF_COPY} AND why = ?", (*copy.key, why))

    def add_event(self, device: str, at: int, text: str) -> None:
        """Note what happened, unless it is what happened last."""
        if [text] == [known for _, known in self.events(device, 1)]:
            return
        self.run("INSERT INTO events (device, at, text) VALUES (?, ?, ?)", (device, at, text))
        self.run(
            "DELETE FROM events WHERE device = ? AND number <= "
            "(SELECT number FROM events WHERE device = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
            (device, device, EVENTS_KEPT),
        )

    def events(self, device: str, limit: int) -> list[tuple[int, str]]:
        """(Unix seconds, sentence), newest first."""
        sql = "SELECT at, text FROM events WHERE device = ? ORDER BY number DESC LIMIT ?"
        return [(at, text) for at, text in self.run(sql, (device, limit))]
