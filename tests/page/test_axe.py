"""axe-core finds nothing in a view that keeps people out: light and dark, narrow and wide, in each language."""

import itertools

import pytest

from axe import IMPACTS, find_barriers, load_axe
from chromium import Tab
from extent import extent
from houses import House
from page_views import VIEWS, PageView

NARROW, WIDE = 320, 1280

WAYS = list(itertools.product(("en", "zh"), (NARROW, WIDE), (False, True)))
"""Language, width, and whether the person prefers dark colours."""

SHORT_WAYS = (("en", WIDE, False), ("zh", NARROW, True))
"""Of these a view is looked at in one by `make test`, and its neighbour in the other."""


def is_barred(barrier: str) -> bool:
    return any(f"({impact})" in barrier for impact in IMPACTS)


@pytest.mark.shortened
@pytest.mark.parametrize("shown", VIEWS, ids=lambda each: each.name)
def test_axe_finds_no_serious_barrier(house: House, tab: Tab, shown: PageView):
    found: list[tuple[str, int, bool, str]] = []
    for language, width, dark in extent(WAYS, [SHORT_WAYS[VIEWS.index(shown) % 2]]):
        tab.size(width, dark=dark)
        house.open(tab, shown, lang=language)
        load_axe(tab)
        found += [(language, width, dark, each) for each in find_barriers(tab) if is_barred(each)]
    assert found == []


def test_axe_finds_what_is_wrong_in_a_view(house: House, tab: Tab):
    tab.open(house.url)
    tab.run("document.querySelector('label').remove(), document.body.append(new Image())")
    load_axe(tab)
    found = find_barriers(tab)
    assert {"label (critical)", "image-alt (critical)"} <= {each.partition(":")[0] for each in found}


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_serious_barrier_in_what_the_frame_shows_at_times(house: House, tab: Tab, dark: bool):
    tab.size(NARROW, dark=dark)
    tab.open(house.url)
    tab.run("document.querySelectorAll('#connection p').forEach((each) => { each.hidden = false; })")
    tab.run("document.getElementById('live').textContent = 'Connected again.'")
    load_axe(tab)
    assert [each for each in find_barriers(tab) if is_barred(each)] == []
