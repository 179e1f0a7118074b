"""What holds for each view: nothing in it keeps people out, it fits a narrow window, and has landmarks.

A view is opened once for all of these. `make test` looks at one view of each kind.
"""

import itertools
from collections.abc import Iterator

import pytest

from axe import find_serious_barriers, load_axe
from chromium import Chromium, Tab
from extent import extent, with_more
from houses import House
from page_views import VIEWS, PageView

NARROW, WIDE = 320, 1280

ONE_OF_EACH_KIND = ("boards", "chat", "memory", "sense", "settings", "my-memories")

Way = tuple[str, int, bool]
"""Language, width, and whether the person prefers dark colours."""

WAYS: list[Way] = list(itertools.product(("en", "zh"), (NARROW, WIDE), (False, True)))

SHORT_WAYS: tuple[Way, Way] = (("en", WIDE, False), ("zh", NARROW, True))
"""Of these a view is looked at in one by `make test`, and its neighbour in the other."""


@pytest.fixture(scope="module")
def view_tab(chromium: Chromium) -> Iterator[Tab]:
    """A tab for all views."""
    made = chromium.tab()
    yield made
    made.close()


@pytest.fixture(
    scope="module",
    params=with_more([view for view in VIEWS if view.name in ONE_OF_EACH_KIND], VIEWS),
    ids=lambda each: each.name,
)
def shown(request: pytest.FixtureRequest, house: House, view_tab: Tab, empty_page: str) -> PageView:
    """A view that the tab shows, in the first way in which it is looked at."""
    view: PageView = request.param
    view_tab.reset(empty_page)
    open_view(house, view_tab, view, ways_of(view)[0])
    return view


def ways_of(view: PageView) -> list[Way]:
    """The ways in which a view is looked at, the one in which it is open first."""
    first = SHORT_WAYS[VIEWS.index(view) % 2]
    return extent([first, *(way for way in WAYS if way != first)], [first])


def open_view(house: House, tab: Tab, view: PageView, way: Way) -> None:
    language, width, dark = way
    tab.size(width, dark=dark)
    house.open(tab, view, lang=language)


def accessible(tab: Tab, role: str) -> list[str]:
    """The names of what has a role in the tree that a screen reader is given."""
    nodes = tab.call("Accessibility.getFullAXTree")["nodes"]
    return [each.get("name", {}).get("value", "") for each in nodes if each.get("role", {}).get("value") == role]


def test_a_screen_reader_finds_the_landmarks_of_a_view(view_tab: Tab, shown: PageView):
    for role in ("banner", "main", "contentinfo"):
        assert len(accessible(view_tab, role)) == 1, role
    names = accessible(view_tab, "navigation")
    assert "" not in names and len(set(names)) == len(names) >= 1, names
    for role in ("region", "search"):
        names = accessible(view_tab, role)
        assert len(names) <= 1 or ("" not in names and len(set(names)) == len(names)), (role, names)


@pytest.mark.shortened
def test_axe_finds_no_serious_barrier(house: House, view_tab: Tab, shown: PageView):
    found: list[tuple[Way, str]] = []
    for number, way in enumerate(ways_of(shown)):
        if number:
            open_view(house, view_tab, shown, way)
        load_axe(view_tab)
        found += [(way, each) for each in find_serious_barriers(view_tab)]
    assert found == []


@pytest.mark.shortened
def test_no_view_is_wider_than_a_narrow_window(view_tab: Tab, shown: PageView):
    for width in extent([320, 480, 768, 1024, 1600], [320]):
        view_tab.size(width)
        assert view_tab.run("document.documentElement.scrollWidth") <= width, width
