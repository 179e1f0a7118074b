"""Senses, readings and anomalies, and parts of readings.

A part is compressed JSON Lines `[slot,count,min,max,mean,last]`, ordered by slot.
"""

import json
import logging
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from engram.senses.values import add_to, aggregate_of

MINUTES, HOURS, DAYS, FOLDED = range(4)
"""Levels: boards send MINUTES and HOURS, FOLDED are hours from minutes, DAYS are not stored."""

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


_log = logging.getLogger("engram.store")

MOST_BYTES = 1 << 20


def encode_part(rows: Mapping[int, Row]) -> bytes:
    lines = "".join(json.dumps(rows[slot], separators=(",", ":")) + "\n" for slot in sorted(rows))
    return zlib.compress(lines.encode(), 6)


def decode_part(content: bytes) -> dict[int, Row]:
    reader = zlib.decompressobj()
    try:
        lines = reader.decompress(content, MOST_BYTES)
        if not reader.eof:
            raise ValueError("it is cut, or longer than any")
        return {row[0]: Row(*row) for row in json.loads(b"[" + b",".join(lines.split(b"\n")[:-1]) + b"]")}
    except (zlib.error, ValueError, TypeError) as damage:
        _log.warning("a part of the readings is damaged and is passed over: %s", damage, extra={"repeat": "readings"})
        return {}


def add_rows(known: Iterable[Row], new: Iterable[Row]) -> dict[int, Row]:
    found: dict[int, list[int]] = {}
    for row in (*known, *new):
        add_to(found, row[0], row[1:])
    return _rows(found)


def fold(rows: Iterable[Row], slot_of: "Mapping[int, int] | None" = None, size: int = 60) -> dict[int, Row]:
    found: dict[int, list[int]] = {}
    for row in rows:
        add_to(found, slot_of[row[0]] if slot_of is not None else row[0] // size, row[1:])
    return _rows(found)


def _rows(found: Mapping[int, list[int]]) -> dict[int, Row]:
    return {slot: Row(slot, *aggregate_of(total)) for slot, total in found.items()}


def fuller(one: Mapping[int, Row], other: Mapping[int, Row]) -> dict[int, Row]:
    found = dict(other)
    for slot, row in one.items():
        if slot not in found or row.readings >= found[slot].readings:
            found[slot] = row
    return {slot: found[slot] for slot in sorted(found)}
