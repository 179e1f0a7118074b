"""People, settings, health and a thousand boards in a real browser."""

import time
from collections.abc import Callable, Iterator

import pytest

from chromium import Chromium, Tab
from companion_store import opened_store
from engram_host.companion.bridge_types import PairingRequest
from engram_host.companion.types import Hello, LogName, LogState, Sender
from peers import Companion
from sending import Sent

EVIL = "<img src=x onerror=\"document.title='owned'\">"
BOARDS = 1000


@pytest.fixture(scope="module")
def fleet(companion: Companion) -> Iterator[Companion]:
    """A companion that has heard of a thousand boards."""
    logs: dict[LogName, LogState] = {"records": LogState(7, 1, 1, 0), "journal": LogState(7, 1, 1, 0)}
    with opened_store(companion.home) as store:
        for number in range(BOARDS):
            store.replication.greet(
                Hello(f"fleet-{number:04}", Sender(f"f{number}", 3, 9), 0, logs), 1_795_000_000 - number
            )
    yield companion


def test_a_stranger_is_let_in_with_the_keyboard(companion: Companion, tab: Tab):
    with opened_store(companion.home) as store:
        store.people.add_code(PairingRequest("QHJ4WXTK", "telegram:501", EVIL, int(time.time())))
    tab.open(f"{companion.url}/people")
    assert EVIL in tab.text("main") and tab.run("document.querySelectorAll('main img').length") == 0
    tab.fill("#name-QHJ4WXTK", "ann")
    tab.press("Enter")
    tab.wait("the person is shown", "location.pathname === '/people/person'")
    assert tab.text("h1") == "telegram:501" or tab.text("h1") == "ann"
    found = companion.client.get("/v1/people").json()
    assert [each["ids"] for each in found if each["principal"] == "ann"] == [["telegram:501"]]
    assert tab.run("document.title") != "owned" and tab.complaints() == []


@pytest.mark.parametrize("has_script", [True, False])
def test_a_setting_waits_for_the_board_and_is_shown_once_it_has_it(
    companion: Companion, board: Callable[..., Sent], chromium: Chromium, has_script: bool
):
    kitchen = board()
    kitchen.hello()
    tab = chromium.tab()
    if not has_script:
        tab.without_script()
    address = f"{companion.url}/boards/{kitchen.device}/settings?section=model"
    tab.open(address)
    tab.fill("#llm-retries", "7")
    tab.click("#form-llm-retries button")
    tab.wait("it waits", "document.querySelector('.events')?.innerText.includes('/setting llm.retries 7')")
    assert "waits for the board" in tab.text(".events")
    said = kitchen.offered(10)
    items = [["line", "llm.retries is set; it holds from the board's next start"], ["end", ""]]
    kitchen.ask("reply", mid=said["mid"], offer=said["offer"], k=1, items=items)
    tab.open(address)
    assert "answered" in tab.text(".events") and tab.run("document.querySelector('#llm-retries').value") == "7"


def test_a_thousand_boards_are_paged_sorted_and_searched(fleet: Companion, tab: Tab):
    tab.open(f"{fleet.url}/?find=fleet-")
    assert "1,000 boards" in tab.text("main") and "Page 1 of 20" in tab.text("main")
    tab.click("th[scope=col] a")
    tab.wait("it is sorted the other way", "document.querySelector('tbody th').innerText === 'fleet-0999'")
    tab.click("a[rel=next]")
    tab.wait("the next page is there", "document.querySelector('tbody th').innerText === 'fleet-0949'")
    tab.run("history.back()")
    tab.wait("the page before is there", "document.querySelector('tbody th').innerText === 'fleet-0999'")
    tab.fill("#find", "fleet-0777")
    tab.press("Enter")
    tab.wait("one is found", "document.querySelectorAll('tbody tr').length === 1")
