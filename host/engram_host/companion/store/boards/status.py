"""Status of a board as it reports it: current values, and counts since its start."""

import json
from dataclasses import dataclass, fields
from typing import Literal

TelegramState = Literal["off", "on", "away", "stopped"]
TELEGRAM_STATES: tuple[TelegramState, ...] = ("off", "on", "away", "stopped")


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


STATUS_FIELDS = tuple(field.name for field in fields(BoardStatus))
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


DAY_FIELDS = tuple(field.name for field in fields(BoardDay))


def percent(used: int, size: int) -> int | None:
    """Return the percentage used, rounded down, or None without a size."""
    return min(used, size) * 100 // size if size else None
