"""Nothing that a person, a model, a board or a file has written becomes a part of a view but its text, in any field."""

from collections.abc import Iterator
from contextlib import closing
from urllib.parse import quote, urlsplit

import pytest

from chromium import Tab, script
from extent import extent
from hostile_texts import ELSEWHERE, LONG, OWNED
from houses import House
from page_client import PageClient, Parsed
from page_views import VIEWS, PageView

FOREIGN = script("foreign.js")


REFUSED = "Failed to load resource: the server responded with a status of 4"
"""What the console says of a view that says what is wrong with its address."""


def check_is_own(tab: Tab) -> None:
    """Nothing in the view is somebody else's, nothing of it ran or was stopped by the policy, no other site was asked."""
    assert tab.run(FOREIGN) == []
    assert [each for each in tab.complaints() if not each.startswith(REFUSED)] == []
    assert [address for address in tab.requested() if urlsplit(address).hostname == ELSEWHERE] == []


@pytest.mark.parametrize("shown", [each for each in VIEWS if each.status == 200], ids=lambda each: each.name)
def test_a_view_of_hostile_texts_is_its_own(hostile_house: House, tab: Tab, shown: PageView):
    hostile_house.open(tab, shown)
    check_is_own(tab)
    assert tab.run("document.querySelectorAll('main h1').length") == 1
    assert tab.run("getComputedStyle(document.querySelector('main h1')).visibility") == "visible"


@pytest.mark.shortened
@pytest.mark.parametrize("shown", extent(VIEWS, VIEWS[::6]), ids=lambda each: each.name)
def test_hostile_parameters_of_an_address_are_text(house: House, tab: Tab, shown: PageView):
    evil = quote(LONG[1][:60])
    path, _, query = shown.address(house.boards.places).partition("?")
    names = {each.partition("=")[0] for each in query.split("&") if each} | {"find", "lang", "theme", "next", "evil"}
    tab.open(house.url + path + "?" + "&".join(f"{name}={evil}" for name in sorted(names)))
    assert tab.run(FOREIGN) == []


NOT_TYPED = ("hidden", "date", "month", "number", "checkbox", "radio")
FIELDS = f"form[method=get] input:not({', '.join(f'[type={each}]' for each in NOT_TYPED)})"


def fields_of(house: House) -> list[tuple[PageView, int]]:
    """Each field of each form that finds something, once: a view that has it, and its place among those of the view."""
    found: dict[tuple[str, str], tuple[PageView, int]] = {}
    for shown in VIEWS:
        with closing(PageClient(house.url)) as browser:
            view = browser.open(shown.address(house.boards.places), shown.status)
        for number, field in enumerate(_typed(view)):
            found.setdefault(field, (shown, number))
    return [*found.values()]


def _typed(view: Parsed) -> Iterator[tuple[str, str]]:
    """(where its form leads, its name) of each field into which somebody types what to find, in the order of a view."""
    form: dict[str, str] = {}
    for tag, attributes in view.elements:
        form = attributes if tag == "form" else form
        is_typed = tag == "input" and attributes.get("type", "text") not in NOT_TYPED
        if is_typed and form.get("method") == "get":
            yield form.get("action", ""), attributes.get("name", "")


@pytest.mark.shortened
@pytest.mark.parametrize("evil", extent(LONG, LONG[1:2]), ids=lambda each: str(LONG.index(each)))
def test_what_is_typed_into_any_field_is_text(house: House, tab: Tab, evil: str):
    """What is sent to boards is tried by the hostile household."""
    fields = fields_of(house)
    assert len(fields) > 8
    for shown, number in extent(fields, fields[::2]):
        house.open(tab, shown)
        tab.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        tab.run(f"document.querySelectorAll({FIELDS!r})[{number}].focus()")
        tab.call("Input.insertText", text=evil)
        tab.run("window.before = true, document.activeElement.form.noValidate = true")
        tab.run("document.activeElement.form.requestSubmit()")
        tab.wait(
            "the answer is there",
            "!window.before && document.readyState === 'complete' && document.querySelector('main h1')",
        )
        check_is_own(tab)


def test_the_check_finds_what_is_foreign(house: House, tab: Tab):
    tab.open(house.url)
    tab.run(f"document.querySelector('main').append(new Image()), {OWNED} = 1")
    assert len(tab.run(FOREIGN)) == 2
