"""Removal: of what is older or larger than the limits, in small transactions; and of a board with all that it sent."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.store.boards import retention
from engram_host.companion.store.boards.line_quota import DAY_SECONDS
from engram_host.companion.store.database import DatabaseTable, reads, tables_with, writes
from engram_host.companion.store.markdown_files import drop_folder_rows
from engram_host.companion.store.rows import EVENTS, OF_COPY, LogRow, Rows
from engram_host.companion.store.senses.table import drop_senses
from engram_host.companion.store.senses.types import MINUTES
from engram_host.companion.store.values import HABITS
from engram_host.companion.types import LEFT_NOTES, NOTES, RetentionLimits

_log = logging.getLogger("engram.upkeep")

COUNT_DAYS_KEPT = 400
"""Days of the counts of boards, quotas and the gateway."""

_AT_ONCE = 2000

_MOST_BLOCKS = 20_000

_LEAVING = {"store.former_days": -1, "store.former_megabytes": -2}
"""Mark in `replaced` of copies whose removal has begun, so that it resumes after an interruption."""

_OLD_TURNS = f"{OF_COPY} AND seq < ? AND line IS NOT NULL AND received < ?"


@dataclass(frozen=True)
class _Aged:
    table: str
    key: str
    where: str
    column: str


_COUNTS = (
    _Aged("device_use", "day, device", "day < ?", "day"),
    _Aged("gateway_use", "day, device", "day < ?", "day"),
    _Aged("board_days", "device, day", "day < ?", "day"),
)
_FORMER = (
    _Aged("aside", "number", "at < ?", "at"),
    _Aged("note_files", "device, epoch, file", "replaced > 0 AND replaced < ?", "replaced"),
)
_READINGS = _Aged("sense_parts", "device, sense, level, part", f"level = {MINUTES} AND part < ?", "part")


@dataclass(frozen=True)
class _Sized:
    """Rows of a board that go by their size: key, size, what is added up, and the order of those that stay."""

    table: str
    key: str
    size: str
    group: str
    order: str


_ASIDE = _Sized("aside", "number", "length(line)", "device", "number DESC")
_PARTS = _Sized(
    "sense_parts",
    "device, sense, level, part",
    "size",
    "device",
    f"CASE level WHEN {MINUTES} THEN 0 ELSE 1 END DESC, part DESC, sense",
)
_BLOCKS = _Sized("sense_blocks", "device, epoch, level, seq, block_check", "1", "device, level", "seq DESC")

_NOTES = "name IN (?, ?) OR name LIKE ?"


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


class RemovalTable(DatabaseTable):
    def expire(self, limits: RetentionLimits, now: int) -> int:
        removed = 0
        for drop in self._drops(limits, now):
            while part := drop():
                removed += part
        if removed:
            _log.info("rows removed by age or size: %d", removed)
        return removed

    def _drops(self, limits: RetentionLimits, now: int) -> Iterator[Callable[[], int]]:
        """Yield calls that each remove a few rows, and return how many; 0 if none is left."""
        for rule, before in _aged(limits, now):
            yield partial(self._drop_aged, rule, before)
        if limits.former_days:
            yield partial(self._drop_lost_sense, now - limits.former_days * DAY_SECONDS)
        for copy, why in self._former_to_drop(limits, now):
            yield partial(self._drop_former, copy, why, now)
        for rule, most in ((_ASIDE, limits.former_bytes), (_PARTS, limits.reading_bytes), (_BLOCKS, _MOST_BLOCKS)):
            for board in self._crowded(rule, most) if most else ():
                yield partial(self._drop_largest, rule, board, most)
        for board in self._boards() if limits.turn_days else ():
            yield partial(self._drop_turns, board, now - limits.turn_days * DAY_SECONDS, now)

    @writes
    def _drop_aged(self, rows: Rows, rule: _Aged, before: int) -> int:
        count = rows.delete_some(rule.table, rule.key, rule.where, (before,), _AT_ONCE, rule.column)
        rows.let_go |= bool(count)
        return count

    @writes
    def _drop_lost_sense(self, rows: Rows, before: int) -> bool:
        found = rows.run("SELECT device, key FROM senses WHERE replaced > 0 AND replaced < ? LIMIT 1", (before,))
        for device, key in found:
            drop_senses(rows, device, [key])
        return bool(found)

    @reads
    def _former_to_drop(self, rows: Rows, limits: RetentionLimits, now: int) -> list[tuple[LogRow, str]]:
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
        found: list[tuple[LogRow, str]] = []
        for device, log, epoch, replaced, size in rows.run(sql):
            sizes[device] = sizes.get(device, 0) + size
            why = reasons.get(replaced, "")
            if not why and limits.former_days and replaced < oldest:
                why = "store.former_days"
            elif not why and limits.former_bytes and sizes[device] > limits.former_bytes:
                why = "store.former_megabytes"
            if why:
                found.append((LogRow(device, log, epoch), why))
        return found

    @writes
    def _drop_former(self, rows: Rows, former: LogRow, why: str, now: int) -> int:
        rows.lock([former.device])
        copy = next((copy for copy in rows.copies(former.device, former.log) if copy.epoch == former.epoch), None)
        if copy is None or copy.is_present:
            return 0  # the board came back to it meanwhile
        if copy.replaced != _LEAVING[why]:
            ((count,),) = rows.run(f"SELECT count(*) FROM lines WHERE {OF_COPY} AND line IS NOT NULL", copy.key)
            rows.add_event(copy.device, now, EVENTS.say("former_removed", log=copy.log, n=count, why=why))
        found = rows.run(f"SELECT seq FROM lines WHERE {OF_COPY} ORDER BY seq DESC LIMIT ?", (*copy.key, _AT_ONCE))
        first = found[-1][0] if found else 0
        for table in ("vectors", "lines"):
            rows.run(f"DELETE FROM {table} WHERE {OF_COPY} AND seq >= ?", (*copy.key, first))
        if len(found) < _AT_ONCE:
            rows.run(f"DELETE FROM logs WHERE {OF_COPY}", copy.key)
        else:
            copy.replaced, copy.have = _LEAVING[why], min(copy.have, first - 1)
            rows.save_logs([copy])
        rows.let_go = True
        return len(found)

    @reads
    def _boards(self, rows: Rows) -> list[str]:
        return [name for (name,) in rows.run("SELECT name FROM devices ORDER BY name")]

    @reads
    def _crowded(self, rows: Rows, rule: _Sized, most: int) -> list[str]:
        """Return the boards with more than `most` of something, by one query for all."""
        sql = f"SELECT device FROM {rule.table} GROUP BY {rule.group} HAVING sum({rule.size}) > ? ORDER BY device"
        return list(dict.fromkeys(name for (name,) in rows.run(sql, (most,))))

    @writes
    def _drop_largest(self, rows: Rows, rule: _Sized, name: str, most: int) -> int:
        total = f"sum({rule.size}) OVER (PARTITION BY {rule.group} ORDER BY {rule.order}) AS total"
        sized = f"SELECT {rule.key}, {total} FROM {rule.table} WHERE device = ?"
        beyond = f"SELECT {rule.key} FROM ({sized}) AS sized WHERE total > ? LIMIT {_AT_ONCE}"
        count = rows.count(
            f"DELETE FROM {rule.table} WHERE device = ? AND ({rule.key}) IN ({beyond})", (name, name, most)
        )
        rows.let_go |= bool(count)
        return count

    @writes
    def _drop_turns(self, rows: Rows, name: str, before: int, now: int) -> int:
        device = rows.lock([name]).get(name)
        copy = rows.present_copies([name]).get((name, "journal"))
        if device is None or copy is None:
            return 0
        sql = f"SELECT seq FROM lines WHERE {_OLD_TURNS} ORDER BY seq LIMIT ?"
        found = rows.run(sql, (*copy.key, copy.oldest, before, _AT_ONCE))
        rows.remove_lines(device, copy, [seq for (seq,) in found], now)
        rows.save_devices([device])
        rows.let_go |= bool(found)
        return len(found)

    # --- a board

    @reads
    def board_contents(self, rows: Rows, name: str) -> BoardContents:
        return _contents(rows, name)

    @writes
    def erase_board(self, rows: Rows, name: str) -> BoardContents:
        """Erase a board and its token; bytes stay in the files until scrub(). May raise UnknownDevice."""
        rows.lock([name])
        found = _contents(rows, name)
        for table in tables_with("device"):
            rows.run(f"DELETE FROM {table} WHERE device = ?", (name,))
        rows.run("DELETE FROM devices WHERE name = ?", (name,))
        for folder in ("", NOTES, LEFT_NOTES):
            if folder:
                drop_folder_rows(rows, folder + name)
            rows.run(f"DELETE FROM notes WHERE {_NOTES}", _note_names(folder + name))
        rows.let_go = True
        return found


def _aged(limits: RetentionLimits, now: int) -> Iterator[tuple[_Aged, int]]:
    today = now // DAY_SECONDS
    yield from ((rule, today - COUNT_DAYS_KEPT) for rule in _COUNTS)
    if limits.former_days:
        yield from ((rule, now - limits.former_days * DAY_SECONDS) for rule in _FORMER)
    if limits.reading_days:
        yield _READINGS, today - limits.reading_days


def _contents(rows: Rows, name: str) -> BoardContents:
    def count(table: str, condition: str = "") -> int:
        return rows.run(f"SELECT count(*) FROM {table} WHERE device = ?{condition}", (name,))[0][0]

    copy = rows.present_copies([name]).get((name, "records"))
    has_token = bool(count("device_tokens"))
    if not rows.devices(name) and not has_token:
        raise UnknownDevice(name)
    archived = retention.count_archived(rows, copy) if copy else 0
    lines = count("lines", " AND line IS NOT NULL")
    return BoardContents(
        lines, archived, count("aside"), count("vectors"), count("events"), has_token, count("note_files")
    )


def _note_names(name: str) -> tuple[str, str, str]:
    return HABITS + name, f"embedding.position.{name}", f"embedding.jobs.{name}.%"
