"""The list of views that the tests in a browser, the pictures and the benchmark go through has each route of the page."""

import re
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

from fastapi.routing import APIRoute

from engram_host.companion.page.page import Page
from engram_host.companion.page.routes import make_page_routers
from page_views import VIEWS
from peers import ROOT

NO_VIEWS = {"/signin", "/session", "/static/{name}", "/docs"}
"""Routes that the tests of signing in look at, and the API's description."""


def routes() -> list[APIRoute]:
    page = Page(cast(Any, SimpleNamespace(sessions=None, requires_tokens=False)))
    found = [route for router in make_page_routers(page, MagicMock()) for route in router.routes]
    return [route for route in found if isinstance(route, APIRoute) and "GET" in (route.methods or ())]


def test_each_route_of_the_page_is_among_the_views():
    paths = [view.path.partition("?")[0] for view in VIEWS]  # what stands in braces fits as any name does
    missing = {
        route.path
        for route in routes()
        if route.path not in NO_VIEWS and not any(route.path_regex.fullmatch(path) for path in paths)
    }
    assert missing == set()


def test_each_view_has_a_name_of_its_own_that_fits_a_file():
    names = [view.name for view in VIEWS]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[a-z][a-z-]*", name) for name in names)


def test_each_picture_of_the_documentation_is_shown_by_its_page():
    guide = (ROOT / "docs" / "guides" / "page.md").read_text(encoding="utf-8")
    names = [each.name for each in (ROOT / "docs" / "guides" / "page").iterdir()]
    assert len(names) >= 4 and [name for name in names if f"](page/{name})" not in guide] == []
