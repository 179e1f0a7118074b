"""Last status of each board, and its figures per day in UTC."""

from collections.abc import Sequence

from engram_host.companion.store.boards.status import (
    COUNTS,
    DAY_FIELDS,
    STATUS_FIELDS,
    BoardDay,
    BoardStatus,
    ToldStatus,
)
from engram_host.companion.store.database import DatabaseTable, reads, reads_once, writes
from engram_host.companion.store.line_quota import DAY_SECONDS
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.replication_rules import admit_sender
from engram_host.companion.store.sql.statements import placeholders
from engram_host.companion.types import Sender

STATUS_DAYS_KEPT = 400

MOST = (1 << 53) - 1
"""Bound of a day's count: a hostile board cannot overflow a column."""

_STATUS = ", ".join(STATUS_FIELDS)
_DAY = ", ".join(DAY_FIELDS)


class BoardStatusTable(DatabaseTable):
    """Status and days of boards."""

    @writes
    def put_status(self, rows: Rows, sender: Sender, device: str, status: BoardStatus, now: int) -> None:
        """Store a status and add its new counts to the day; may raise Refused or Stale."""
        admit_sender(rows, sender, device)
        before = _status(rows, device)
        _put(rows, "board_status", "device", ("device", "at", *STATUS_FIELDS), (device, now, *_values(status)))
        day = _grown(_day(rows, device, now // DAY_SECONDS), before.status if before else BoardStatus(), status)
        _put(rows, "board_days", "device, day", ("device", *DAY_FIELDS), (device, *vars(day).values()))

    @reads_once
    def board_status(self, rows: Rows, device: str) -> ToldStatus | None:
        return _status(rows, device)

    @reads_once
    def board_statuses(self, rows: Rows, first: str = "", last: str = "") -> dict[str, ToldStatus]:
        where, names = ("WHERE device BETWEEN ? AND ?", (first, last)) if first else ("", ())
        return _statuses(rows, where, names)

    @reads
    def statuses_of(self, rows: Rows, names: Sequence[str]) -> dict[str, ToldStatus]:
        return _statuses(rows, f"WHERE device IN ({placeholders(names)})", names) if names else {}

    @reads_once
    def board_days(self, rows: Rows, device: str, since: int) -> list[BoardDay]:
        """Return the days of a board from `since` (days since 1970) on, without days that had no report."""
        sql = f"SELECT {_DAY} FROM board_days WHERE device = ? AND day >= ? ORDER BY day"
        return [BoardDay(*values) for values in rows.run(sql, (device, since))]

    @reads_once
    def flash_uses(self, rows: Rows) -> dict[str, tuple[int, int]]:
        found = rows.run("SELECT device, flash, flash_size FROM board_status WHERE flash_size > 0 ORDER BY device")
        return {device: (used, size) for device, used, size in found}


def _statuses(rows: Rows, where: str, values: Sequence[str]) -> dict[str, ToldStatus]:
    found = rows.run(f"SELECT device, at, {_STATUS} FROM board_status {where}", values)
    return {device: ToldStatus(at, BoardStatus(*figures)) for device, at, *figures in found}


def _status(rows: Rows, device: str) -> ToldStatus | None:
    for at, *values in rows.run(f"SELECT at, {_STATUS} FROM board_status WHERE device = ?", (device,)):
        return ToldStatus(at, BoardStatus(*values))
    return None


def _day(rows: Rows, device: str, day: int) -> BoardDay:
    for values in rows.run(f"SELECT {_DAY} FROM board_days WHERE device = ? AND day = ?", (device, day)):
        return BoardDay(*values)
    return BoardDay(day)


def _grown(day: BoardDay, before: BoardStatus, now: BoardStatus) -> BoardDay:
    return BoardDay(
        day.day,
        now.flash,
        max(day.flash_most, now.flash),
        now.flash_size,
        now.records_bytes,
        max(day.records_most, now.records_bytes),
        now.memories,
        now.kept_turns,
        **{name: min(getattr(day, name) + _new(before, now, name), MOST) for name in COUNTS},
    )


def _new(before: BoardStatus, now: BoardStatus, name: str) -> int:
    count, counted = getattr(now, name), getattr(before, name)
    return max(0, count - counted) if before.run == now.run else count


def _values(status: BoardStatus) -> Sequence[int | str]:
    return list(vars(status).values())


def _put(rows: Rows, table: str, key: str, columns: Sequence[str], values: Sequence[int | str]) -> None:
    kept = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key.split(", "))
    marks = ", ".join("?" * len(columns))
    rows.run(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT ({key}) DO UPDATE SET {kept}", values
    )
