"""Senses of a board, for the operator and on a person's own page: a plot of each, and one with its figures and events."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Annotated, Any

from fastapi import Query, Request, Response

from engram_host.companion.api.backend import Backend
from engram_host.companion.api.copies import DeviceName
from engram_host.companion.api.senses import SenseName
from engram_host.companion.page.page import Page, PagePrincipal, Views
from engram_host.companion.page.plots import ReadingPlot, plot_readings
from engram_host.companion.senses.service import Series
from engram_host.companion.types import Device

DAYS = (1, 7, 30, 366)
_DAY_SECONDS = 86400
_POINTS, _POINTS_OF_ONE = 60, 96
"""Points per plot: a view of 16 plots has some 60 KB."""

Days = Annotated[int, Query(ge=1, le=3660)]
ReadSeries = Callable[[str, int, int, None, int], Coroutine[Any, Any, Series]]
"""Reads the series of a sense: (name, since, until, level, points)."""


@dataclass(frozen=True)
class SensePlot:
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


def add_sense_views(views: Views, page: Page, companion: Backend) -> None:
    readings, personal = companion.readings, companion.personal

    @views.get("/boards/{device}/senses")
    async def senses(request: Request, device: DeviceName, days: Days = 1) -> Response:
        found, known = await readings.device(device), await readings.senses(device)
        read = partial(readings.series, device)
        plots = await asyncio.gather(*(_plot(found, days, read, each.name, _POINTS) for each in known))
        return _render(page, request, "senses.html", found, days, plots=plots)

    @views.get("/boards/{device}/senses/{sense:path}")
    async def sense(request: Request, device: DeviceName, sense: SenseName, days: Days = 1) -> Response:
        found = await readings.device(device)
        one = await _plot(found, days, partial(readings.series, device), sense, _POINTS_OF_ONE)
        return _render(page, request, "sense.html", found, days, one=one)

    @views.personal("/me/boards/{device}/senses")
    async def my_senses(request: Request, device: DeviceName, principal: PagePrincipal, days: Days = 1) -> Response:
        found, known = await personal.device(principal, device), await personal.senses(principal, device)
        read = partial(personal.series, principal, device)
        plots = await asyncio.gather(*(_plot(found, days, read, each.name, _POINTS) for each in known))
        return _render(page, request, "personal_senses.html", found, days, plots=plots)

    @views.personal("/me/boards/{device}/senses/{sense:path}")
    async def my_sense(
        request: Request, device: DeviceName, sense: SenseName, principal: PagePrincipal, days: Days = 1
    ) -> Response:
        found = await personal.device(principal, device)
        one = await _plot(found, days, partial(personal.series, principal, device), sense, _POINTS_OF_ONE)
        return _render(page, request, "personal_sense.html", found, days, one=one)


def _render(page: Page, request: Request, template: str, device: Device, days: int, **values: Any) -> Response:
    return page.render(request, template, device=device.name, zone=device.zone, days=days, spans=DAYS, **values)


async def _plot(device: Device, days: int, read: ReadSeries, name: str, most: int) -> SensePlot:
    until = int(time.time())
    since = until - days * _DAY_SECONDS
    series = await read(name, since, until, None, most)
    plot = plot_readings(series.points, series.events, since, until)
    return SensePlot(series, plot, _label(device, since, days), _label(device, until, days))


def _label(device: Device, at: int, days: int) -> str:
    minutes = device.zone.offset_minutes(at)
    there = datetime.fromtimestamp(at, UTC).astimezone(timezone(timedelta(minutes=minutes)))
    return there.strftime("%H:%M" if days == 1 else "%Y-%m-%d")
