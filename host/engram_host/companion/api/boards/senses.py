"""Senses of boards over HTTP: readings for plots, events, and exports."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import IO, Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import REFUSALS, ErrorResponse, responses
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.senses.parquet import write_parquet
from engram_host.companion.senses.service import MOST_POINTS, POINTS, Level, Point, ReadingService, Series
from engram_host.companion.store.senses.types import StoredEvent, StoredSense

LINES = "application/x-ndjson"
PARQUET = "application/vnd.apache.parquet"
ExportFormat = Literal["jsonl", "parquet"]

_DAY_SECONDS = 86400
_MOST_MOMENT = 1 << 40
_MOST_EVENTS = 1000
_PIECE_LINES = 500
_PIECE_BYTES = 65536

NO_SENSE = responses(ErrorResponse, {404: "there is no such board, or no such sense of it"})

SenseName = Annotated[str, Path(min_length=1, max_length=64, description="a sense's name; case does not matter")]
Since = Annotated[int, Query(ge=0, le=_MOST_MOMENT, description="Unix seconds; 0: a day before `until`")]
Until = Annotated[int, Query(ge=0, le=_MOST_MOMENT, description="Unix seconds, not included; 0: now")]


class SenseShown(BaseModel):
    """A sense of a board."""

    name: str
    unit: str
    decimals: int
    at: int = Field(description="when its latest known reading was taken, in Unix seconds; 0 if none is known")
    value: float | None = Field(description="that reading")
    shared: bool = Field(description="whether everybody who reaches the board may see it, by the board's settings")


class PointShown(BaseModel):
    """Readings of a period."""

    at: int = Field(description="when that time begins, in Unix seconds")
    count: int = Field(description="readings")
    min: float
    max: float
    mean: float
    last: float


class SenseEventShown(BaseModel):
    """Something unusual, beyond a limit, stuck or silent."""

    id: str
    kind: str = Field(description="such as low, high, unusual, drift, stuck, silent")
    start: int = Field(description="Unix seconds")
    end: int = Field(description="0 while it lasts")
    value: float | None = Field(description="the reading that stands for it")


class SeriesShown(BaseModel):
    """Readings of a sense."""

    sense: SenseShown
    level: Level
    step: int = Field(description="how many minutes, hours or days a point is of")
    points: list[PointShown]
    events: list[SenseEventShown] = Field(description="of that time, newest first; 100 at most")


def make_sense_router(readings: ReadingService) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/boards/{device}/senses", responses=REFUSALS | NO_SENSE)
    rules: dict[str, Any] = {"openapi_extra": requires(Role.OPERATOR)}
    writing = asyncio.Semaphore(1)  # Parquet files are made on disk, one at a time

    @router.get("", **rules)
    async def senses(device: DeviceName) -> list[SenseShown]:
        """The senses of a board."""
        return [show_sense(each) for each in await readings.senses(device)]

    @router.get("/{sense:path}/readings", **rules)
    async def series(
        device: DeviceName,
        sense: SenseName,
        since: Since = 0,
        until: Until = 0,
        level: Annotated[
            Level | None, Query(description="without it, by how long the time is, and by what is kept of it")
        ] = None,
        points: Annotated[int, Query(ge=1, le=MOST_POINTS, description="maximum number of points")] = POINTS,
    ) -> SeriesShown:
        """Readings of a sense in a time, as many points as a plot needs."""
        begin, end = span(since, until)
        return show_series(await readings.series(device, sense, begin, end, level, points))

    @router.get("/{sense:path}/events", **rules)
    async def events(
        device: DeviceName,
        sense: SenseName,
        since: Since = 0,
        until: Until = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_EVENTS)] = 100,
    ) -> list[SenseEventShown]:
        """Events of a sense that lasted in a time, newest first; of all times without `since`."""
        known = await asyncio.to_thread(readings.find, device, sense)
        found = await readings.events(device, sense, since, until or _MOST_MOMENT, limit)
        return [_event(known, each) for each in found]

    @router.get(
        "/{sense:path}/export",
        response_class=StreamingResponse,
        responses={
            200: {"content": {LINES: {}, PARQUET: {}}, "description": "a line or row for each minute, hour or day"}
        },
        **rules,
    )
    async def exported(
        device: DeviceName,
        sense: SenseName,
        since: Since = 0,
        until: Until = 0,
        level: Level = "minute",
        format: Annotated[
            ExportFormat, Query(description="parquet needs the extra `parquet` where the companion runs")
        ] = "jsonl",
    ) -> StreamingResponse:
        """All that is kept of a sense at a level; of all times without `since`."""
        known = await asyncio.to_thread(readings.find, device, sense)
        span = device, known.name, since, until or int(time.time()), level
        name = f"{device}-sense-{known.number}-{level}s.{format}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        if format == "parquet":
            async with writing:
                file = await asyncio.to_thread(lambda: write_parquet(readings.exported(*span)))
            return StreamingResponse(_read(file), headers=headers, media_type=PARQUET)
        return StreamingResponse(_pieces(readings.exported(*span)), headers=headers, media_type=LINES)

    return router


def span(since: int, until: int) -> tuple[int, int]:
    """Return a requested period, by default the last day."""
    end = until or int(time.time())
    return since or max(0, end - _DAY_SECONDS), end


def _read(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a temporary file's bytes; it is deleted at the end, also if the client leaves."""
    with file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _pieces(found: Iterator[tuple[StoredSense, Point]]) -> Iterator[str]:
    while lines := list(islice(found, _PIECE_LINES)):
        yield "".join(
            json.dumps(
                {"sense": sense.name, "unit": sense.unit} | _point(asdict(point)).model_dump(), ensure_ascii=False
            )
            + "\n"
            for sense, point in lines
        )


def _point(figures: dict[str, Any]) -> PointShown:
    return PointShown(min=figures.pop("low"), max=figures.pop("high"), **figures)


def show_series(found: Series) -> SeriesShown:
    """Convert a series for the API."""
    return SeriesShown(
        sense=show_sense(found.sense),
        level=found.level,
        step=found.step,
        points=[_point(asdict(each)) for each in found.points],
        events=[_event(found.sense, each) for each in found.events],
    )


def show_sense(sense: StoredSense) -> SenseShown:
    """Convert a sense for the API."""
    value = sense.number_of(sense.value) if sense.at else None
    return SenseShown(
        name=sense.name, unit=sense.unit, decimals=sense.decimals, at=sense.at, value=value, shared=bool(sense.shared)
    )


def _event(sense: StoredSense, event: StoredEvent) -> SenseEventShown:
    number = None if event.value is None else sense.number_of(event.value)
    return SenseEventShown(id=event.ref, kind=event.kind, start=event.started, end=event.ended, value=number)
