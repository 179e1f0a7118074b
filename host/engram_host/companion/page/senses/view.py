"""Views of a board's senses: a plot of each, and one with its figures and events."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.page.page import Page, personal_view, view
from engram_host.companion.page.senses.plots import ReadingPlot, plot_readings
from engram_host.companion.personal.service import PersonalMemory
from engram_host.companion.senses.service import ReadingService, Series
from engram_host.companion.types import Device

DAYS = (1, 7, 30, 366)
_DAY_SECONDS = 86400
_POINTS, _POINTS_OF_ONE = 60, 96
"""Points per plot: a view of 16 plots has some 60 KB."""

Days = Annotated[int, Query(ge=1, le=3660)]


@dataclass(frozen=True)
class SensePlot:
    """A sense with its readings of a period; `plot` is None if there are none."""

    series: Series
    plot: ReadingPlot | None
    begin: str
    end: str

    def value(self, number: float | None) -> str:
        if number is None:
            return "–"
        sense = self.series.sense
        return f"{number:.{sense.decimals}f} {sense.unit}".rstrip()

    @property
    def latest(self) -> str:
        sense = self.series.sense
        return self.value(sense.number_of(sense.value) if sense.at else None)


class SenseView:
    """Operator's views of readings."""

    def __init__(self, readings: ReadingService):
        self._readings = readings

    async def all(self, device: Device, days: int) -> list[SensePlot]:
        known = await self._readings.senses(device.name)
        return list(await asyncio.gather(*(self.one(device, sense.name, days, _POINTS) for sense in known)))

    async def one(self, device: Device, name: str, days: int, most: int = _POINTS_OF_ONE) -> SensePlot:
        def read(since: int, until: int) -> Awaitable[Series]:
            return self._readings.series(device.name, name, since, until, None, most)

        return await _plot(device, days, read)


class PersonalSenseView:
    """A person's views of readings."""

    def __init__(self, personal: PersonalMemory):
        self._personal = personal

    async def all(self, principal: str, device: Device, days: int) -> list[SensePlot]:
        known = await self._personal.senses(principal, device.name)
        return list(await asyncio.gather(*(self.one(principal, device, each.name, days, _POINTS) for each in known)))

    async def one(self, principal: str, device: Device, name: str, days: int, most: int = _POINTS_OF_ONE) -> SensePlot:
        def read(since: int, until: int) -> Awaitable[Series]:
            return self._personal.series(principal, device.name, name, since, until, None, most)

        return await _plot(device, days, read)


async def _plot(device: Device, days: int, read: Callable[[int, int], Awaitable[Series]]) -> SensePlot:
    until = int(time.time())
    since = until - days * _DAY_SECONDS
    series = await read(since, until)
    plot = plot_readings(series.points, series.events, since, until)
    return SensePlot(series, plot, _label(device, since, days), _label(device, until, days))


def make_router(page: Page, readings: ReadingService, personal: PersonalMemory) -> APIRouter:
    """Make the routes."""
    router = page.router()
    shown = SenseView(readings)
    mine = PersonalSenseView(personal)

    @router.get("/boards/{device}/senses", openapi_extra=view())
    async def senses(request: Request, device: DeviceName, days: Days = 1) -> Response:
        found = await readings.device(device)
        plots = await shown.all(found, days)
        return page.render(request, "senses.html", page_key="boards", device=found, plots=plots, days=days, spans=DAYS)

    @router.get("/boards/{device}/senses/{sense:path}", openapi_extra=view())
    async def sense(
        request: Request, device: DeviceName, sense: Annotated[str, Path(min_length=1, max_length=64)], days: Days = 1
    ) -> Response:
        found = await readings.device(device)
        one = await shown.one(found, sense, days)
        return page.render(request, "sense.html", page_key="boards", device=found, one=one, days=days, spans=DAYS)

    @router.get("/me/boards/{device}/senses", openapi_extra=personal_view())
    async def my_senses(request: Request, device: DeviceName, days: Days = 1) -> Response:
        if not (principal := page.principal(request)):
            return page.to_operator()
        found = await personal.device(principal, device)
        plots = await mine.all(principal, found, days)
        return page.render(
            request, "personal_senses.html", page_key="mine", device=found, plots=plots, days=days, spans=DAYS
        )

    @router.get("/me/boards/{device}/senses/{sense:path}", openapi_extra=personal_view())
    async def my_sense(
        request: Request, device: DeviceName, sense: Annotated[str, Path(min_length=1, max_length=64)], days: Days = 1
    ) -> Response:
        if not (principal := page.principal(request)):
            return page.to_operator()
        found = await personal.device(principal, device)
        one = await mine.one(principal, found, sense, days)
        return page.render(
            request, "personal_sense.html", page_key="mine", device=found, one=one, days=days, spans=DAYS
        )

    return router


def _label(device: Device, at: int, days: int) -> str:
    minutes = device.zone.offset_minutes(at)
    there = datetime.fromtimestamp(at, UTC).astimezone(timezone(timedelta(minutes=minutes)))
    return there.strftime("%H:%M" if days == 1 else "%Y-%m-%d")
