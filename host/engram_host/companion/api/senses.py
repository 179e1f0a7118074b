"""Senses of boards over HTTP: readings for plots, events, and exports."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Annotated

from fastapi import Depends, FastAPI, Path, Query
from fastapi.responses import StreamingResponse

from engram_host.companion.api.copies import JSON_LINES, DeviceName
from engram_host.companion.senses.service import MOST_POINTS, POINTS, Level, Point, ReadingService, Series
from engram_host.companion.store.senses.types import StoredEvent, StoredSense

_BASE = "/v1/boards/{device}/senses"
_DAY_SECONDS = 86400
_MOST_MOMENT = 1 << 40
_PIECE_LINES = 500

SenseName = Annotated[str, Path(min_length=1, max_length=64, description="a sense's name; case does not matter")]
Since = Annotated[int, Query(ge=0, le=_MOST_MOMENT, description="Unix seconds; 0: a day before `until`")]
Until = Annotated[int, Query(ge=0, le=_MOST_MOMENT, description="Unix seconds, not included; 0: now")]
WantedLevel = Annotated[
    Level | None, Query(description="without it, by how long the time is, and by what is kept of it")
]
MostPoints = Annotated[int, Query(ge=1, le=MOST_POINTS, description="maximum number of points")]


async def _series_range(
    since: Since = 0, until: Until = 0, level: WantedLevel = None, points: MostPoints = POINTS
) -> tuple[int, int, Level | None, int]:
    end = until or int(time.time())
    return since or max(0, end - _DAY_SECONDS), end, level, points


SeriesRange = Annotated[tuple[int, int, Level | None, int], Depends(_series_range)]
"""(begin, end, level, points) of the readings that a request wants."""


@dataclass(frozen=True)
class SenseShown:
    """A sense with its latest reading, of a time in Unix seconds (0: none is known); `shared` by the board's settings."""

    name: str
    unit: str
    decimals: int
    at: int
    value: float | None
    shared: bool


@dataclass(frozen=True)
class SenseEventShown:
    """Something unusual, beyond a limit, stuck or silent; `end` is 0 while it lasts."""

    id: str
    kind: str
    start: int
    end: int
    value: float | None


@dataclass(frozen=True)
class SeriesShown:
    """Readings of a sense; a point is of `step` minutes, hours or days."""

    sense: SenseShown
    level: Level
    step: int
    points: list[Point]
    events: list[SenseEventShown]


def add_sense_routes(app: FastAPI, readings: ReadingService) -> None:
    @app.get(_BASE)
    async def senses(device: DeviceName) -> list[SenseShown]:
        """The senses of a board."""
        return [show_sense(each) for each in await readings.senses(device)]

    @app.get(_BASE + "/{sense:path}/readings")
    async def series(device: DeviceName, sense: SenseName, wanted: SeriesRange) -> SeriesShown:
        """Readings of a sense in a time, as many points as a plot needs, with the newest 100 events of that time."""
        return show_series(await readings.series(device, sense, *wanted))

    @app.get(_BASE + "/{sense:path}/events")
    async def events(
        device: DeviceName,
        sense: SenseName,
        since: Since = 0,
        until: Until = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> list[SenseEventShown]:
        """Events of a sense that lasted in a time, newest first; of all times without `since`."""
        known = await asyncio.to_thread(readings.find, device, sense)
        found = await readings.events(device, sense, since, until or _MOST_MOMENT, limit)
        return [_show_event(known, each) for each in found]

    _add_export_route(app, readings)


def _add_export_route(app: FastAPI, readings: ReadingService) -> None:
    @app.get(
        _BASE + "/{sense:path}/export",
        response_class=StreamingResponse,
        responses={200: {"content": {JSON_LINES: {}}, "description": "a line for each minute, hour or day"}},
    )
    async def exported(
        device: DeviceName, sense: SenseName, since: Since = 0, until: Until = 0, level: Level = "minute"
    ) -> StreamingResponse:
        """All that is kept of a sense at a level; of all times without `since`."""
        known = await asyncio.to_thread(readings.find, device, sense)
        span = device, known.name, since, until or int(time.time()), level
        name = f"{device}-sense-{known.number}-{level}s.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(_pieces(readings.exported(*span)), headers=headers, media_type=JSON_LINES)


def _pieces(found: Iterator[tuple[StoredSense, Point]]) -> Iterator[str]:
    rows = ({"sense": sense.name, "unit": sense.unit} | asdict(point) for sense, point in found)
    while lines := list(islice(rows, _PIECE_LINES)):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in lines)


def show_series(found: Series) -> SeriesShown:
    events = [_show_event(found.sense, each) for each in found.events]
    return SeriesShown(show_sense(found.sense), found.level, found.step, list(found.points), events)


def show_sense(sense: StoredSense) -> SenseShown:
    value = sense.number_of(sense.value) if sense.at else None
    return SenseShown(sense.name, sense.unit, sense.decimals, sense.at, value, bool(sense.shared))


def _show_event(sense: StoredSense, event: StoredEvent) -> SenseEventShown:
    value = None if event.value is None else sense.number_of(event.value)
    return SenseEventShown(event.ref, event.kind, event.started, event.ended, value)
