"""List of all boards, with pages, search and sorting."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.page.fitting import count_pages
from engram_host.companion.page.page import Page, view
from engram_host.companion.store.page.types import BoardQuery, BoardSort

AT_ONCE = 50

_MOST_PAGES = 10000


def make_router(page: Page, overviews: BoardOverviews) -> APIRouter:
    """Make the routes."""
    router = page.router()

    @router.get("/", openapi_extra=view())
    async def boards(
        request: Request,
        find: Annotated[str, Query(max_length=64)] = "",
        sort: BoardSort = "name",
        state: Literal["", "connected", "away"] = "",
        at: Annotated[int, Query(ge=1, le=_MOST_PAGES)] = 1,
    ) -> Response:
        query = BoardQuery(find.strip(), sort, limit=AT_ONCE, offset=(at - 1) * AT_ONCE)
        found = await overviews.list(query, state)
        return page.render(
            request,
            "boards.html",
            page_key="boards",
            found=found,
            find=find.strip(),
            sort=sort,
            state=state,
            at=at,
            pages=count_pages(found.total, AT_ONCE),
        )

    return router
