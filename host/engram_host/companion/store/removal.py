"""Expiry of former epochs, set-aside lines, turns and notes by age or size; and erasure of a board."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.store.boards.copy_events import EVENTS
from engram_host.companion.store.boards.status_table import STATUS_DAYS_KEPT
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.line_quota import DAY_SECONDS
from engram_host.companion.store.markdown_files import drop_folder_rows
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.senses.expiry import OLD_MINUTES, drop_lost_sense, drop_much_read
from engram_host.companion.store.sql.statements import OF_COPY
from engram_host.companion.types import LEFT_NOTES, NOTES, LogName, RetentionLimits

USE_DAYS_KEPT = 400

_AT_ONCE = 2000

_BOARDS_AT_ONCE = 200

_LEAVING = {"store.former_days": -1, "store.former_megabytes": -2}
"""Mark in `replaced` of copies whose removal has begun, so that it resumes after an interruption."""

_Copy = tuple[str, LogName, int]


class ExpiryTable(DatabaseTable):
    """Removes data beyond the retention limits."""

    def expire(self, limits: RetentionLimits, now: int) -> int:
        """Remove data beyond `limits` in small transactions; return the lines removed, or StoreUnavailable."""
        self._note_replaced(now)
        today = now // DAY_SECONDS
        self._drop_older("device_use", "day, device", "day < ?", today - USE_DAYS_KEPT, "day")
        self._drop_older("board_days", "device, day", "day < ?", today - STATUS_DAYS_KEPT, "day")
        removed = 0
        for copy, why in self._former_to_drop(limits, now):
            while part := self._drop_former(copy, why, now):
                removed += part
        removed += self._drop_aside(limits, now)
        if limits.former_days:
            before = now - limits.former_days * DAY_SECONDS
            where = "replaced > 0 AND replaced < ?"
            self._drop_older("note_files", "device, epoch, file", where, before, "replaced")
        self._drop_readings(limits, now)
        if limits.turn_days:
            before = now - limits.turn_days * DAY_SECONDS
            for name in self._boards_with_old_turns(before):
                while part := self._drop_turns(name, before, now):
                    removed += part
        return removed

    @writes
    def _note_replaced(self, rows: Rows, now: int) -> None:
        rows.run("UPDATE logs SET replaced = ? WHERE NOT is_present AND replaced = 0", (now,))

    def _drop_older(self, table: str, key: str, where: str, than: int, order: str) -> int:
        removed = 0
        while part := self._drop_some(table, key, where, (than,), order):
            removed += part
        return removed

    @writes
    def _drop_some(self, rows: Rows, table: str, key: str, where: str, values: Sequence[Any], order: str) -> int:
        count = rows.delete_some(table, key, where, values, _AT_ONCE, order)
        rows.let_go |= bool(count)
        return count

    @reads
    def _former_to_drop(self, rows: Rows, limits: RetentionLimits, now: int) -> list[tuple[_Copy, str]]:
        sql = (
            "SELECT device, log, epoch, replaced, (SELECT coalesce(sum(length(line)), 0) FROM lines WHERE "
            "lines.device = logs.device AND lines.log = logs.log AND lines.epoch = logs.epoch) "
            "FROM logs WHERE NOT is_present ORDER BY device, replaced DESC, epoch DESC"
        )
        if not (limits.former_days or limits.former_bytes):
            return []
        reasons = {mark: why for why, mark in _LEAVING.items()}
        oldest = now - limits.former_days * DAY_SECONDS
        sizes: dict[str, int] = {}
        found: list[tuple[_Copy, str]] = []
        for device, log, epoch, replaced, size in rows.run(sql):
            sizes[device] = sizes.get(device, 0) + size
            if replaced in reasons:
                found.append(((device, log, epoch), reasons[replaced]))
            elif limits.former_days and replaced < oldest:
                found.append(((device, log, epoch), "store.former_days"))
            elif limits.former_bytes and sizes[device] > limits.former_bytes:
                found.append(((device, log, epoch), "store.former_megabytes"))
        return found

    @writes
    def _drop_former(self, rows: Rows, key: _Copy, why: str, now: int) -> int:
        """Remove the last lines of a copy and return how many; the rest stays a valid shorter copy."""
        device, log, epoch = key
        rows.lock([device])
        copy = next((copy for copy in rows.copies(device, log) if copy.epoch == epoch), None)
        if copy is None or copy.is_present:
            return 0  # the board came back to it meanwhile
        if copy.replaced != _LEAVING[why]:
            ((count,),) = rows.run(f"SELECT count(*) FROM lines WHERE {OF_COPY} AND line IS NOT NULL", key)
            rows.add_event(device, now, EVENTS.say("former_removed", log=log, n=count, why=why))
        found = rows.run(f"SELECT seq FROM lines WHERE {OF_COPY} ORDER BY seq DESC LIMIT ?", (*key, _AT_ONCE))
        first = found[-1][0] if found else 0
        for table in ("vectors", "lines"):
            rows.run(f"DELETE FROM {table} WHERE {OF_COPY} AND seq >= ?", (*key, first))
        if len(found) < _AT_ONCE:
            rows.run(f"DELETE FROM logs WHERE {OF_COPY}", key)
        else:
            copy.replaced, copy.have = _LEAVING[why], min(copy.have, first - 1)
            rows.save_logs([copy])
        rows.let_go = True
        return len(found)

    def _drop_aside(self, limits: RetentionLimits, now: int) -> int:
        count = 0
        if limits.former_days:
            count += self._drop_older("aside", "number", "at < ?", now - limits.former_days * DAY_SECONDS, "at")
        if limits.former_bytes:
            sizes = "sum(length(line)) OVER (ORDER BY number DESC) AS size"
            beyond = f"SELECT number FROM (SELECT number, {sizes} FROM aside WHERE device = ?) AS sized WHERE size > ?"
            for device in self._boards_with_much_aside(limits.former_bytes):
                values = (device, limits.former_bytes)
                while part := self._drop_some("aside", "number", f"number IN ({beyond})", values, "number"):
                    count += part
        return count

    @reads
    def _boards_with_much_aside(self, rows: Rows, most: int) -> list[str]:
        return [
            name
            for (name,) in rows.run("SELECT device FROM aside GROUP BY device HAVING sum(length(line)) > ?", (most,))
        ]

    def _drop_readings(self, limits: RetentionLimits, now: int) -> None:
        if limits.former_days:
            while self._drop_lost_sense(now - limits.former_days * DAY_SECONDS):
                pass
        if limits.reading_days:
            first = now // DAY_SECONDS - limits.reading_days
            self._drop_older("sense_parts", "device, sense, level, part", OLD_MINUTES, first, "part")
        board = ""
        while boards := self._boards_with_senses(board):
            for board in boards:
                while self._drop_much_read(board, limits.reading_bytes):
                    pass

    @writes
    def _drop_lost_sense(self, rows: Rows, before: int) -> bool:
        return drop_lost_sense(rows, before)

    @reads
    def _boards_with_senses(self, rows: Rows, after: str) -> list[str]:
        sql = "SELECT device FROM sense_copies WHERE device > ? ORDER BY device LIMIT ?"
        return [name for (name,) in rows.run(sql, (after, _BOARDS_AT_ONCE))]

    @writes
    def _drop_much_read(self, rows: Rows, device: str, most: int) -> int:
        return drop_much_read(rows, device, most, _AT_ONCE)

    def _boards_with_old_turns(self, before: int) -> Iterator[str]:
        board = ""
        while boards := self._boards_with_journals(board, before):
            yield from (name for name, has_old in boards if has_old)
            board = boards[-1][0]

    @reads
    def _boards_with_journals(self, rows: Rows, after: str, before: int) -> list[tuple[str, bool]]:
        # One board at a time: a single query would scan all lines.
        sql = (
            "SELECT device, epoch, oldest FROM logs WHERE is_present AND log = 'journal' AND device > ? AND oldest > 1 "
            "ORDER BY device LIMIT ?"
        )
        one = f"SELECT 1 FROM lines {_OLD_TURNS}"
        found = rows.run(sql, (after, _BOARDS_AT_ONCE))
        return [
            (name, bool(rows.run(one, (name, "journal", epoch, oldest, before, 1)))) for name, epoch, oldest in found
        ]

    @writes
    def _drop_turns(self, rows: Rows, name: str, before: int, now: int) -> int:
        device = rows.lock([name]).get(name)
        copy = rows.present_copies([name]).get((name, "journal"))
        if device is None or copy is None:
            return 0
        found = rows.run(f"SELECT seq FROM lines {_OLD_TURNS}", (*copy.key, copy.oldest, before, _AT_ONCE))
        rows.remove_lines(device, copy, [seq for (seq,) in found], now)
        rows.save_devices([device])
        rows.let_go |= bool(found)
        return len(found)


_OLD_TURNS = f"WHERE {OF_COPY} AND seq < ? AND line IS NOT NULL AND received < ? ORDER BY seq LIMIT ?"


# --- erasing a board

OF_DEVICE = (
    "lines",
    "vectors",
    "aside",
    "events",
    "logs",
    "device_tokens",
    "former_tokens",
    "gateway_use",
    "device_use",
    "note_files",
    "conversations",
    "conversation_pieces",
    "bridge_deliveries",
    "bridge_files",
    "board_status",
    "board_days",
    "senses",
    "sense_copies",
    "sense_blocks",
    "sense_parts",
    "sense_events",
    "media",
)
"""Tables of one board's rows, by column `device`; `devices` has one row of each."""

_NOTES = "name = ? OR name LIKE ?"


@dataclass(frozen=True)
class BoardContents:
    """Row counts of a board; `archived` memories are in the companion only."""

    lines: int
    archived: int
    aside: int
    vectors: int
    events: int
    has_token: bool
    notes: int = 0


class ErasureTable(DatabaseTable):
    """Counts and erases the data of one board."""

    @reads
    def board_contents(self, rows: Rows, name: str) -> BoardContents:
        return _contents(rows, name)

    @writes
    def erase_board(self, rows: Rows, name: str) -> BoardContents:
        """Erase a board and its token; bytes stay in the files until scrub(). May raise UnknownDevice."""
        rows.lock([name])
        found = _contents(rows, name)
        for table in OF_DEVICE:
            rows.run(f"DELETE FROM {table} WHERE device = ?", (name,))
        rows.run("DELETE FROM devices WHERE name = ?", (name,))
        for folder in ("", NOTES, LEFT_NOTES):
            if folder:
                drop_folder_rows(rows, folder + name)
            rows.run(f"DELETE FROM notes WHERE {_NOTES}", _note_names(folder + name))
        rows.let_go = True
        return found


def _contents(rows: Rows, name: str) -> BoardContents:
    def count(table: str, condition: str = "") -> int:
        return rows.run(f"SELECT count(*) FROM {table} WHERE device = ?{condition}", (name,))[0][0]

    copy = rows.present_copies([name]).get((name, "records"))
    has_token = bool(count("device_tokens"))
    if not rows.devices(name) and not has_token:
        raise UnknownDevice(name)
    archived = rows.count_archived(copy) if copy else 0
    lines = count("lines", " AND line IS NOT NULL")
    return BoardContents(
        lines, archived, count("aside"), count("vectors"), count("events"), has_token, count("note_files")
    )


def _note_names(name: str) -> tuple[str, str]:
    return f"embedding.position.{name}", f"embedding.jobs.{name}.%"
