"""axe-core finds nothing that keeps people out, also in what is wrong on purpose, and in what a view shows at times."""

import pytest

from axe import find_barriers, find_serious_barriers, load_axe
from chromium import Tab
from extent import with_more
from houses import House

NARROW = 320


def test_axe_finds_what_is_wrong_in_a_view(house: House, tab: Tab):
    tab.open(house.url)
    tab.run("document.querySelector('label').remove(), document.body.append(new Image())")
    load_axe(tab)
    found = find_barriers(tab)
    assert {"label (critical)", "image-alt (critical)"} <= {each.partition(":")[0] for each in found}


@pytest.mark.parametrize("dark", with_more([True], [False, True]))
def test_axe_finds_no_serious_barrier_in_what_the_frame_shows_at_times(house: House, tab: Tab, dark: bool):
    tab.size(NARROW, dark=dark)
    tab.open(house.url)
    tab.run("document.querySelectorAll('#connection p').forEach((each) => { each.hidden = false; })")
    tab.run("document.getElementById('live').textContent = 'Connected again.'")
    load_axe(tab)
    assert find_serious_barriers(tab) == []
