"""How a board is, as it tells its companion: what stands now, and counts since its start."""

import json
from dataclasses import dataclass, fields
from typing import Literal

TelegramState = Literal["off", "on", "away", "stopped"]
TELEGRAM_STATES: tuple[TelegramState, ...] = ("off", "on", "away", "stopped")


@dataclass(frozen=True)
class BoardStatus:
    """The figures of the message `status`; 0 and "" stand for what a board does not tell. Sizes are bytes.

    `run` differs for each start of the board, `seconds` are those since then, and so are the counts from `turns` on.
    """

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
    """Values of its pins by name, as a JSON object."""
    pins_simulated: int = 0
    """1 if its pins are simulated."""

    @property
    def pin_values(self) -> dict[str, str | int | None]:
        """Values of its pins by name; None where one could not be read."""
        return json.loads(self.pins) if self.pins else {}

    @property
    def flash_percent(self) -> int | None:
        """How full its flash is, None if it does not tell."""
        return percent(self.flash, self.flash_size)

    @property
    def problem(self) -> str:
        """What its model, or else Telegram, failed with last; "" if neither did."""
        return self.model_problem or self.telegram_problem


STATUS_FIELDS = tuple(field.name for field in fields(BoardStatus))
COUNTS = ("turns", "failed", "calls", "tokens", "searches", "searches_empty", "errors")
"""The counts since a board's start."""


@dataclass(frozen=True)
class ToldStatus:
    """A board's status, and when it told it in Unix seconds."""

    at: int
    status: BoardStatus


@dataclass(frozen=True)
class BoardDay:
    """A board on a day in UTC (days since 1970): what stood last, the most that it was, and what happened on this day.

    A count that came after a time without a link belongs to the day on which it came.
    """

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
    """How much of a size is used, rounded down; None if there is no size."""
    return min(used, size) * 100 // size if size else None
