"""Senses of a board: a plot of each, and one with its figures and events."""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated

from fastapi import Query, Request, Response

from engram_host.companion.api.copies import DeviceName
from engram_host.companion.api.senses import SenseName
from engram_host.companion.page.page import Page, Views
from engram_host.companion.page.plots import ReadingPlot, plot_readings
from engram_host.companion.senses.service import ReadingService, Series
from engram_host.companion.types import Device

DAYS = (1, 7, 30, 366)
_DAY_SECONDS = 86400
_POINTS, _POINTS_OF_ONE = 60, 96
"""Points per plot: a view of 16 plots has some 60 KB."""

Days = Annotated[int, Query(ge=1, le=3660)]


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


def add_sense_views(views: Views, page: Page, readings: ReadingService) -> None:
    @views.get("/boards/{device}/senses")
    async def senses(request: Request, device: DeviceName, days: Days = 1) -> Response:
        board, known = await readings.device(device), await readings.senses(device)
        plots = await asyncio.gather(*(_plot(readings, board, each.name, days, _POINTS) for each in known))
        return page.render(request, "senses.html", device=device, zone=board.zone, days=days, spans=DAYS, plots=plots)

    @views.get("/boards/{device}/senses/{sense:path}")
    async def sense(request: Request, device: DeviceName, sense: SenseName, days: Days = 1) -> Response:
        board = await readings.device(device)
        one = await _plot(readings, board, sense, days, _POINTS_OF_ONE)
        return page.render(request, "sense.html", device=device, zone=board.zone, days=days, spans=DAYS, one=one)


async def _plot(readings: ReadingService, board: Device, name: str, days: int, most: int) -> SensePlot:
    until = int(time.time())
    since = until - days * _DAY_SECONDS
    series = await readings.series(board.name, name, since, until, most=most)
    plot = plot_readings(series.points, series.events, since, until)
    return SensePlot(series, plot, _label(board, since, days), _label(board, until, days))


def _label(device: Device, at: int, days: int) -> str:
    minutes = device.zone.offset_minutes(at)
    there = datetime.fromtimestamp(at, UTC).astimezone(timezone(timedelta(minutes=minutes)))
    return there.strftime("%H:%M" if days == 1 else "%Y-%m-%d")
