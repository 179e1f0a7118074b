"""Types of senses, readings and anomalies."""

from dataclasses import dataclass
from typing import Any, NamedTuple

MINUTES, HOURS, DAYS, FOLDED = range(4)
"""Levels of readings: boards send MINUTES and HOURS, FOLDED has hours computed from minutes, and DAYS are never stored."""

SPANS = (1440, 24, 1, 24)
"""Slots per part, which is a day."""

SECONDS = (60, 3600, 86400, 3600)


class Row(NamedTuple):
    """Aggregate of a slot; values are integers, scaled by 10 to the sense's decimals."""

    slot: int
    readings: int
    low: int
    high: int
    mean: int
    last: int


@dataclass(frozen=True)
class Listed:
    """A sense in a board's list; only the owner sees it unless `is_shared`."""

    number: int
    name: str
    unit: str
    decimals: int
    made: int
    is_shared: bool = False


@dataclass(frozen=True)
class SenseList:
    """All senses of a board in an epoch; `whole` is False if the board's list was damaged."""

    epoch: int
    next: int
    whole: bool
    senses: tuple[Listed, ...]


@dataclass(frozen=True)
class ReadingBlock:
    """A block of a board's ring of a level; rows by sense number."""

    epoch: int
    level: int
    seq: int
    check: str
    size: int
    rows: dict[int, list[Row]]


@dataclass
class Anomaly:
    """An anomaly; times are minutes, `end` is 0 while open, `usual` is a range of values or minutes."""

    kind: str
    start: int
    value: int
    usual: tuple[int, int]
    end: int = 0


@dataclass(frozen=True)
class HeldReadings:
    """(seq, check) of each level's newest block, and a digest of the whole state."""

    newest: tuple[tuple[int, str], ...]
    state: str


@dataclass(frozen=True)
class StoredSense:
    """A sense; `at` is the time of its latest reading `value`, 0 if none is known."""

    key: int
    number: int
    name: str
    unit: str
    decimals: int
    at: int
    value: int
    shared: int = 0

    def number_of(self, scaled: int) -> float:
        return scaled / 10**self.decimals if self.decimals else scaled


@dataclass(frozen=True)
class StoredEvent:
    """An anomaly of a sense; `ended` is 0 while it lasts."""

    number: int
    sense: int
    kind: str
    started: int
    ended: int
    fields: dict[str, Any]

    @property
    def ref(self) -> str:
        return f"c{-self.number}"

    @property
    def value(self) -> int | None:
        found = self.fields.get("value")
        return found if isinstance(found, int) else None
