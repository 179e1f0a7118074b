"""A page of another site in the same browser: its forms, frames, scripts and windows get nothing and change nothing.

Tried from another site, and from the companion's own host at another port, to which a browser sends the cookies.
"""

import json
from collections.abc import Iterator

import pytest

from another_site import another_site
from chromium import Tab, script
from cli_case import fine
from extent import extent, with_more
from houses import House
from page_client import PageClient, Parsed
from page_views import VIEWS
from peers import Companion
from sending import Sent

HOSTS = ("localhost", "127.0.0.1")


@pytest.fixture(params=with_more(HOSTS[:1], HOSTS))
def host(request: pytest.FixtureRequest) -> str:
    """Where the other page is."""
    return request.param


def own_forms(house: House) -> Iterator[tuple[str, dict[str, str]]]:
    """All forms of the page that change something, with what they would send, but for the CSRF token."""
    browser = PageClient(house.url)
    seen: set[str] = set()
    for shown in VIEWS:
        for action, fields in _forms(browser.open(shown.address(house.boards.places), shown.status)):
            if action not in seen:
                seen.add(action)
                yield action, fields
    browser.close()


def _forms(view: Parsed) -> Iterator[tuple[str, dict[str, str]]]:
    action, fields = "", {}
    for tag, attributes in view.elements:
        if tag == "form":
            if action:
                yield action, fields
            action, fields = attributes.get("action", "") if attributes.get("method") == "post" else "", {}
        name = attributes.get("name", "")
        if tag in ("input", "textarea", "button", "select") and name and name != "csrf":
            fields[name] = attributes.get("value", "") or "1"
    if action:
        yield action, fields


@pytest.mark.shortened
def test_no_form_of_another_page_is_taken(house: House, tab: Tab, host: str):
    """`make soak` tries all forms from another site: the answer is decided before a form is read, and is the same for all."""
    before = house.companion.client.get("/v1/boards/kitchen/chat").json()
    tab.open(house.url)
    tried = 0
    every = extent(1, 3) if host == HOSTS[0] else extent(1, 6)
    for action, fields in list(own_forms(house))[::every]:
        inputs = "".join(f"<input name='{name}' value='{value}'>" for name, value in fields.items())
        page = f"<title>evil</title><form method=post action='{house.url}{action}'>{inputs}</form>"
        with another_site(page, host) as site:
            tab.open(site)
            tab.run("document.querySelector('form').submit()")
            path = json.dumps(action.partition("?")[0])
            tab.wait("the form is answered", f"location.pathname === {path} && document.readyState === 'complete'")
            assert "403" in tab.text(), (action, tab.text())
            tried += 1
    assert tried >= 12 // every
    assert house.companion.client.get("/v1/boards/kitchen/chat").json() == before


def test_no_form_of_another_page_is_taken_by_the_api(house: House, tab: Tab, host: str):
    target = f"{house.url}/v1/boards/kitchen/chat"
    page = f"<form method=post enctype=text/plain action='{target}'><input name='{{\"text\":\"' value='hi\"}}'></form>"
    before = house.companion.client.get("/v1/boards/kitchen/chat").json()
    with another_site(page, host) as site:
        tab.open(site)
        tab.run("document.querySelector('form').submit()")
        tab.wait("it is answered", "location.pathname.startsWith('/v1/') && document.readyState === 'complete'")
        assert "another site" in tab.text()
    assert house.companion.client.get("/v1/boards/kitchen/chat").json() == before


def test_no_view_is_shown_in_a_frame(house: House, tab: Tab, host: str):
    tab.open(house.url)
    frames = "".join(f"<iframe src='{house.address(shown)}'></iframe>" for shown in VIEWS)
    with another_site(f"<title>evil</title>{frames}", host) as site:
        tab.open(site)
        tree = tab.call("Page.getFrameTree")["frameTree"]
        shown = [each["frame"] for each in tree["childFrames"]]
    assert len(shown) == len(VIEWS)
    assert {each["url"] for each in shown} == {"chrome-error://chromewebdata/"}


READS = script("read_elsewhere.js")


def test_no_script_of_another_page_reads_or_changes_anything(house: House, tab: Tab, host: str):
    tab.open(house.url)
    before = house.companion.client.get("/v1/boards/kitchen/chat").json()
    with another_site("<title>evil</title>", host) as site:
        tab.open(site)
        found = tab.run(f"({READS})({json.dumps(house.url)})")
    window = found.pop("a window")
    assert window in ("refused", "")  # a window that is empty still, or one that nobody may read
    assert set(found.values()) == {"refused"}, found
    assert house.companion.client.get("/v1/boards/kitchen/chat").json() == before


def test_a_signed_in_browser_is_not_used_by_another_page(strict: Companion, tab: Tab, host: str):
    Sent(strict.posted, "kitchen")
    tab.open(fine("page", "--home", strict.home, "--no-browser").out.strip())
    form = f"<form method=post action='{strict.url}/signout'><input name=everywhere value=yes></form>"
    with another_site(f"<title>evil</title>{form}<iframe src='{strict.url}/'></iframe>", host) as site:
        tab.open(site)
        assert tab.run("document.querySelector('iframe').contentDocument") is None
        tab.run("document.querySelector('form').submit()")
        tab.wait("the form is refused", "location.pathname === '/signout' && document.querySelector('.problem')")
    tab.open(f"{strict.url}/")
    assert tab.text("h1") == "Boards"
