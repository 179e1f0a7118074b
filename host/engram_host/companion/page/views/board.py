"""A board's view: state, reports, copied entries, plots over days, and events."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from engram.clock import day_name
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.bridges.runner import BridgeRunner
from engram_host.companion.overview.figures import DayCount
from engram_host.companion.overview.service import DAYS, MOST_DAYS, BoardOverviews
from engram_host.companion.page.page import Page, view
from engram_host.companion.page.plots import BarPlot, plot_days, split_days
from engram_host.companion.store.boards.status import BoardDay

REPORTED = ("turns", "failed", "calls", "tokens", "searches", "searches_empty", "errors")

Plots = Sequence[tuple[str, BarPlot]]


def plot_copy(counts: Sequence[DayCount]) -> Plots:
    """Plot the entries copied from a board."""
    spans = split_days(len(counts), counts[-1].day)
    return [
        ("memories", plot_days(spans, {each.day: each.memories for each in counts}, day_name)),
        ("said", plot_days(spans, {each.day: each.turns for each in counts}, day_name)),
    ]


def plot_reports(reports: Sequence[BoardDay], days: int, last: int) -> Plots:
    """Plot a board's reports of the `days` up to `last`; [] if there are none."""
    if not reports:
        return []
    spans = split_days(days, last)
    flash = {each.day: each.flash_most for each in reports}
    counted = [(name, {each.day: int(getattr(each, name)) for each in reports}) for name in REPORTED]
    return [
        ("flash", plot_days(spans, flash, day_name, max)),
        *((name, plot_days(spans, values, day_name)) for name, values in counted),
    ]


def make_router(page: Page, overviews: BoardOverviews, bridges: BridgeRunner) -> APIRouter:
    """Make the routes."""
    router = page.router()

    @router.get("/boards/{device}", openapi_extra=view())
    async def board(
        request: Request, device: DeviceName, days: Annotated[int, Query(ge=7, le=MOST_DAYS)] = DAYS
    ) -> Response:
        found = await overviews.overview(device, days)
        told = found.summary.told
        return page.render(
            request,
            "board.html",
            page_key="boards",
            board=found.summary,
            device=found.device,
            bridges=bridges.statuses_of_board(device),
            figures=found.figures,
            events=found.events,
            days=days,
            report=told.status if told else None,
            reported=told.at if told else 0,
            copied=plot_copy(found.figures.days),
            reports=plot_reports(found.days, days, found.today),
        )

    return router
