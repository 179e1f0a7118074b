"""Readings of boards: the senses of a board, series for plots, all rows for an export.

Hours are computed from minutes here or folded by the board, whichever has more readings; days, in the board's time zone,
are computed from hours.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engram.memory import access
from engram_host.companion.errors import UnknownSense
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.senses.types import (
    DAYS,
    FOLDED,
    HOURS,
    MINUTES,
    SECONDS,
    Row,
    StoredEvent,
    StoredSense,
    fold,
    fuller,
)
from engram_host.companion.types import Device
from engram_host.time_zones import BoardZone

Level = Literal["minute", "hour", "day"]
LEVELS: tuple[Level, ...] = ("minute", "hour", "day")
_FINEST = {MINUTES: (MINUTES,), HOURS: (HOURS, FOLDED), DAYS: (HOURS, FOLDED)}

MOST_POINTS = 2000
POINTS = 500

_MINUTE_DAYS, _HOUR_DAYS = 2, 100
"""Longest series in days of minutes, and of hours, unless a level is requested."""

_DAY_SECONDS = 86400
_PARTS_AT_ONCE = 64


@dataclass(frozen=True)
class Point:
    """Readings of a span: `at` is its start in Unix seconds, figures are in the sense's unit."""

    at: int
    count: int
    min: float
    max: float
    mean: float
    last: float


@dataclass(frozen=True)
class Series:
    """Points of a sense, each of `step` slots of a level, and its events."""

    sense: StoredSense
    level: Level
    step: int
    points: Sequence[Point]
    events: Sequence[StoredEvent]


class ReadingService:
    """Queries on readings; may raise UnknownDevice, UnknownSense or StoreUnavailable."""

    def __init__(self, boards: BoardTable, senses: SenseTable):
        self._boards = boards
        self._senses = senses

    async def device(self, name: str) -> Device:
        return await asyncio.to_thread(self._boards.device, name)

    async def senses(self, device: str) -> list[StoredSense]:
        return await asyncio.to_thread(self._list, device)

    def _list(self, device: str) -> list[StoredSense]:
        self._boards.device(device)
        return self._senses.senses_of(device)

    async def events(self, device: str, name: str, since: int, until: int, limit: int) -> list[StoredEvent]:
        return await asyncio.to_thread(self._events, device, name, since, until, limit)

    def _events(self, device: str, name: str, since: int, until: int, limit: int) -> list[StoredEvent]:
        key = self.find(device, name).key if name else 0
        return self._senses.sense_events(device, key, since, until, limit)

    async def series(
        self, device: str, name: str, since: int, until: int, level: Level | None = None, most: int = POINTS
    ) -> Series:
        """Return at most `most` points; without `level`, the finest that suits the span and has readings."""
        return await asyncio.to_thread(self._series, device, name, since, until, level, most)

    def _series(self, device: str, name: str, since: int, until: int, level: Level | None, most: int) -> Series:
        sense = self.find(device, name)
        days = (until - since) / _DAY_SECONDS
        first = 0 if days <= _MINUTE_DAYS else 1 if days <= _HOUR_DAYS else 2
        wanted = [LEVELS.index(level)] if level else range(first, len(LEVELS))
        zone = self._boards.device(device).zone
        found: list[Row] = []
        at = wanted[0]
        for at in wanted:
            begin = zone.start_of(zone.day_of(since)) if at == DAYS else since - since % SECONDS[at]
            found = self.rows(device, sense, at, begin, until)
            if found:
                break
        step, merged = _thinned(found, most)
        points = [_point(sense, row, _start(zone, at, row.slot)) for row in merged]
        events = self._senses.sense_events(device, sense.key, since, until)
        return Series(sense, LEVELS[at], step, points, events)

    def find(self, device: str, name: str) -> StoredSense:
        key = access.tag(name)
        for sense in self._list(device):
            if access.tag(sense.name) == key:
                return sense
        raise UnknownSense(name)

    def rows(self, device: str, sense: StoredSense, level: int, since: int, until: int) -> list[Row]:
        zone = self._boards.device(device).zone
        if level == DAYS:
            return self._days(device, sense, zone, since, until)
        first, last = -(-since // SECONDS[level]), (until - 1) // SECONDS[level]
        found = self._senses.reading_rows(device, sense.key, level, first, last)
        if level == HOURS:
            folded = self._senses.reading_rows(device, sense.key, FOLDED, first, last)
            return list(fuller(_by_slot(folded), _by_slot(found)).values())
        return found

    def _days(self, device: str, sense: StoredSense, zone: BoardZone, since: int, until: int) -> list[Row]:
        first, last = zone.day_of(since), zone.day_of(until - 1)
        if zone.start_of(first) < since:
            first += 1
        hours = self.rows(device, sense, HOURS, zone.start_of(first), zone.start_of(last + 1))
        folded = fold(hours, {row.slot: zone.day_of(row.slot * SECONDS[HOURS]) for row in hours})
        return [folded[slot] for slot in sorted(folded)]

    def exported(
        self, device: str, name: str, since: int, until: int, level: Level
    ) -> Iterator[tuple[StoredSense, Point]]:
        """Yield all points of a sense between two moments, read part by part; blocks."""
        sense = self.find(device, name)
        zone = self._boards.device(device).zone
        at = LEVELS.index(level)
        known = self._senses.slots_known(device, sense.key)
        spans = [
            (known[each][0] * SECONDS[each], (known[each][1] + 1) * SECONDS[each])
            for each in _FINEST[at]
            if each in known
        ]
        if not spans:
            return
        # A day in the board's zone may begin earlier or end later than the one in UTC.
        begin = max(since, min(first for first, _ in spans) - _DAY_SECONDS)
        end = min(until, max(last for _, last in spans) + _DAY_SECONDS)
        stride = _PARTS_AT_ONCE * _DAY_SECONDS
        while begin < end:
            following = min(end, begin + stride)
            if at == DAYS and following < end:
                following = zone.start_of(zone.day_of(following))
            for row in self.rows(device, sense, at, begin, following):
                yield sense, _point(sense, row, _start(zone, at, row.slot))
            begin = following


def _by_slot(rows: Sequence[Row]) -> dict[int, Row]:
    return {row.slot: row for row in rows}


def _thinned(rows: Sequence[Row], most: int) -> tuple[int, list[Row]]:
    if len(rows) <= most:
        return 1, list(rows)
    step = 2
    while len({row.slot // step for row in rows}) > most:
        step += max(1, step // 8)
    return step, [row._replace(slot=row.slot * step) for row in fold(rows, size=step).values()]


def _point(sense: StoredSense, row: Row, at: int) -> Point:
    return Point(at, row.readings, *(sense.number_of(value) for value in row[2:]))


def _start(zone: BoardZone, level: int, slot: int) -> int:
    return zone.start_of(slot) if level == DAYS else slot * SECONDS[level]
