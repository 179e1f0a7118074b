"""Status of boards: the current values, counts since their start, and figures per day in UTC."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from engram_host.companion.store.boards.line_quota import DAY_SECONDS
from engram_host.companion.store.boards.replication_rules import admit_sender
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.rows import Rows, columns_of, in_list
from engram_host.companion.types import Sender

TELEGRAM_STATES = ("off", "on", "away", "stopped")


@dataclass(frozen=True)
class BoardStatus:
    """Figures of a `status` message; 0 and "" are unknown, sizes are bytes, `run` differs per start."""

    run: int = 0
    seconds: int = 0
    firmware: str = ""
    mode: str = ""
    reset: str = ""
    flash: int = 0
    flash_size: int = 0
    records_bytes: int = 0
    records_cap: int = 0
    memories: int = 0
    kept_turns: int = 0
    heap: int = 0
    heap_size: int = 0
    model: str = ""
    model_problem: str = ""
    telegram: str = ""
    telegram_problem: str = ""
    turns: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    searches: int = 0
    searches_empty: int = 0
    errors: int = 0
    pins: str = ""

    @property
    def pin_values(self) -> dict[str, str | int | None]:
        return json.loads(self.pins) if self.pins else {}

    @property
    def flash_percent(self) -> int | None:
        return percent(self.flash, self.flash_size)

    @property
    def problem(self) -> str:
        return self.model_problem or self.telegram_problem


COUNTS = ("turns", "failed", "calls", "tokens", "searches", "searches_empty", "errors")


@dataclass(frozen=True)
class ToldStatus:
    """A board's status and the Unix time of its report."""

    at: int
    status: BoardStatus


@dataclass(frozen=True)
class BoardDay:
    """A board's day in UTC (days since 1970); counts belong to the day on which they arrived."""

    day: int
    flash: int = 0
    flash_most: int = 0
    flash_size: int = 0
    records_bytes: int = 0
    records_most: int = 0
    memories: int = 0
    kept_turns: int = 0
    turns: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    searches: int = 0
    searches_empty: int = 0
    errors: int = 0


def percent(used: int, size: int) -> int | None:
    return min(used, size) * 100 // size if size else None


STATUS_DAYS_KEPT = 400

MOST = (1 << 53) - 1
"""Bound of a day's count: a hostile board cannot overflow a column."""

_STATUS, _DAY = columns_of(BoardStatus), columns_of(BoardDay)


class BoardStatusTable(DatabaseTable):
    @writes
    def put_status(self, rows: Rows, sender: Sender, device: str, status: BoardStatus, now: int) -> None:
        admit_sender(rows, sender, device)
        before = _statuses(rows, "WHERE device = ?", (device,)).get(device)
        rows.upsert("board_status", "device", {"device": device, "at": now, **vars(status)})
        day = _grown(_day(rows, device, now // DAY_SECONDS), before.status if before else BoardStatus(), status)
        rows.upsert("board_days", "device, day", {"device": device, **vars(day)})

    @reads
    def statuses_of(self, rows: Rows, names: Sequence[str]) -> dict[str, ToldStatus]:
        some, values = in_list(names)
        return _statuses(rows, f"WHERE device {some}", values) if values else {}

    @reads
    def board_days(self, rows: Rows, device: str, since: int) -> list[BoardDay]:
        sql = f"SELECT {_DAY} FROM board_days WHERE device = ? AND day >= ? ORDER BY day"
        return [BoardDay(*values) for values in rows.run(sql, (device, since))]

    @reads
    def flash_uses(self, rows: Rows) -> dict[str, tuple[int, int]]:
        found = rows.run("SELECT device, flash, flash_size FROM board_status WHERE flash_size > 0 ORDER BY device")
        return {device: (used, size) for device, used, size in found}


def _statuses(rows: Rows, where: str, values: Sequence[str]) -> dict[str, ToldStatus]:
    found = rows.run(f"SELECT device, at, {_STATUS} FROM board_status {where}", values)
    return {device: ToldStatus(at, BoardStatus(*figures)) for device, at, *figures in found}


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
