"""Boards: the list of all, and one with its state, reports, copied entries, plots over days, and events."""

import time
from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import Query, Request, Response

from engram_host.companion.api.copies import DeviceName
from engram_host.companion.app import CompanionApp
from engram_host.companion.overview.service import DAYS, MOST_DAYS, BoardOverview
from engram_host.companion.page.formatting import count_pages
from engram_host.companion.page.page import Page, Views
from engram_host.companion.page.plots import BarPlot, plot_days, split_days
from engram_host.companion.store.boards.table import BoardQuery, BoardSort
from engram_host.time_zones import day_number

AT_ONCE = 50

_DAY_SECONDS = 86400

REPORTED = ("turns", "failed", "calls", "tokens", "searches", "searches_empty", "errors")


def add_board_views(views: Views, page: Page, companion: CompanionApp) -> None:
    @views.get("/")
    async def boards(
        request: Request,
        find: Annotated[str, Query(max_length=64)] = "",
        sort: BoardSort = "name",
        state: Literal["", "connected", "away"] = "",
        at: Annotated[int, Query(ge=1, le=10000)] = 1,
    ) -> Response:
        query = BoardQuery(find.strip(), sort, limit=AT_ONCE, offset=(at - 1) * AT_ONCE)
        found = await companion.overviews.list(query, state)
        pages = count_pages(found.total, AT_ONCE)
        return page.render(request, "boards.html", found=found, query=query, state=state, at=at, pages=pages)

    @views.get("/boards/{device}")
    async def board(
        request: Request, device: DeviceName, days: Annotated[int, Query(ge=7, le=MOST_DAYS)] = DAYS
    ) -> Response:
        found = await companion.overviews.overview(device, days)
        return page.render(
            request,
            "board.html",
            device=device,
            found=found,
            board=found.board,
            bridges=companion.bridges.statuses_of_board(device),
            days=days,
            copied=_plot_copy(found),
            reports=_plot_reports(found, days) if found.reports else [],
        )


def _plot_copy(found: BoardOverview) -> list[tuple[str, BarPlot]]:
    marks = {day_number(each.day): each for each in found.figures.days}
    spans = split_days(len(marks), max(marks))
    return [
        ("memories", plot_days(spans, {day: each.memories for day, each in marks.items()})),
        ("said", plot_days(spans, {day: each.turns for day, each in marks.items()})),
    ]


def _plot_reports(found: BoardOverview, days: int) -> list[tuple[str, BarPlot]]:
    spans = split_days(days, int(time.time()) // _DAY_SECONDS)

    def values(name: str) -> Mapping[int, int]:
        return {each.day: getattr(each, name) for each in found.reports}

    flash = plot_days(spans, values("flash_most"), max)
    return [("flash", flash), *((name, plot_days(spans, values(name))) for name in REPORTED)]
