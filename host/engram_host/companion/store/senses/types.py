"""Senses of boards, and what is kept of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

MINUTES, HOURS, DAYS, FOLDED = range(4)
"""The levels of parts: as the blocks of boards have them; FOLDED has the hours that were worked out from minutes."""

SPANS = (1440, 24, 64, 24)
"""Slots of a part: a day in UTC; of DAYS, which are those of the board's time zone, 64."""

SECONDS = (60, 3600, 86400, 3600)
"""Seconds of a slot."""


class Row(NamedTuple):
    """What the readings of a slot are together. Values are integers: the reading times 10 to the sense's decimals."""

    slot: int
    readings: int
    low: int
    high: int
    mean: int
    last: int


@dataclass(frozen=True)
class Listed:
    """A sense as its board lists it; `is_shared` if all who reach the board may see it, else the owner alone."""

    number: int
    name: str
    unit: str
    decimals: int
    made: int
    is_shared: bool = False


@dataclass(frozen=True)
class SenseList:
    """All senses of a board in an epoch of its records. `next` is the number of the next new one; `whole` says that none is
    missing because the board's list was damaged.
    """

    epoch: int
    next: int
    whole: bool
    senses: tuple[Listed, ...]


@dataclass(frozen=True)
class ReadingBlock:
    """A block of a board's ring of a level: rows by the numbers of senses."""

    epoch: int
    level: int
    seq: int
    check: str
    size: int
    rows: dict[int, list[Row]]


@dataclass
class Anomaly:
    """What the companion finds in readings. Times are minutes; `end` is 0 while it lasts, `usual` what would have been, or the
    usual minutes.
    """

    kind: str
    start: int
    value: int
    usual: tuple[int, int]
    end: int = 0


@dataclass(frozen=True)
class HeldReadings:
    """What there is of a board's senses: of each level (seq, check) of the newest block, and a text that is another one if
    anything of that is.
    """

    newest: tuple[tuple[int, str], ...]
    state: str


@dataclass(frozen=True)
class StoredSense:
    """A sense of a board; `at` is when its latest known reading `value` was taken, 0 if none is known. `shared` is 1 if all who
    reach the board may see it, else 0.
    """

    key: int
    number: int
    name: str
    unit: str
    decimals: int
    at: int
    value: int
    shared: int = 0

    def number_of(self, scaled: int) -> float:
        """A kept value as the number that was read."""
        return scaled / 10**self.decimals if self.decimals else scaled


@dataclass(frozen=True)
class StoredEvent:
    """An anomaly of a sense; `ended` is 0 while it lasts, `fields` are its value and what was usual."""

    number: int
    sense: int
    kind: str
    started: int
    ended: int
    fields: dict[str, Any]

    @property
    def ref(self) -> str:
        """The id that is shown."""
        return f"c{-self.number}"

    @property
    def value(self) -> int | None:
        """The reading that stands for it, as it is kept."""
        found = self.fields.get("value")
        return found if isinstance(found, int) else None
