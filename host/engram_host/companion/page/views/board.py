"""One board: its state, what its copy has, plots over days, and what happened to it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.overview.service import DAYS, MOST_DAYS, BoardOverviews
from engram_host.companion.page.page import Page, day_text, view
from engram_host.companion.page.plots import plot_bars


def make_router(page: Page, overviews: BoardOverviews) -> APIRouter:
    """Make the routes."""
    router = page.router()

    @router.get("/boards/{device}", openapi_extra=view())
    async def board(
        request: Request, device: DeviceName, days: Annotated[int, Query(ge=7, le=MOST_DAYS)] = DAYS
    ) -> Response:
        """One board over some days."""
        found = await overviews.overview(device, days)
        counts = found.figures.days
        return page.render(
            request,
            "board.html",
            page_key="boards",
            board=found.summary,
            device=found.device,
            figures=found.figures,
            events=found.events,
            days=days,
            memories=plot_bars([(day_text(each.day), each.memories) for each in counts]),
            turns=plot_bars([(day_text(each.day), each.turns) for each in counts]),
        )

    return router
