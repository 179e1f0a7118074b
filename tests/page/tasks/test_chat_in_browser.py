"""The page in a real browser: chat that streams, with the keyboard alone, without a script, narrow and dark."""

from collections.abc import Callable

import pytest

from chromium import Chromium, Tab
from peers import Companion
from sending import Sent


@pytest.fixture
def kitchen(companion: Companion, board: Callable[..., Sent]) -> Sent:
    """A board that is here."""
    made = board()
    made.keep("the tea is in the blue tin", tags=["tea"])
    made.sync()
    return made


def offered(kitchen: Sent, mid: str = "", turn: str = "") -> str:
    """The id of the message that the board is given."""
    head = kitchen.ask("listen", wait=10, mid=mid, turn=turn)
    assert head.get("op") == "say", head
    return head["mid"]


def test_an_answer_is_shown_as_it_comes_and_as_markdown_in_the_end(companion: Companion, kitchen: Sent, tab: Tab):
    tab.open(f"{companion.url}/boards/{kitchen.device}/chat")
    tab.fill("#text", "hello board")
    tab.click("#say button")
    mid = offered(kitchen)
    tab.wait(
        "the message stands in the view", "document.querySelector('.exchange .words')?.innerText === 'hello board'"
    )
    assert tab.run("document.querySelector('#text').value") == ""
    kitchen.ask("listen", wait=0, mid=mid, turn="t3")
    kitchen.ask("reply", mid=mid, offer=1, k=1, items=[["text", "**Good "]])
    tab.wait("the first piece is there", "document.querySelector('.stream')?.textContent === '**Good '")
    items = [["text", "day** `x < y`"], ["notice", "remembered m2"], ["end", "t4"]]
    kitchen.ask("reply", mid=mid, offer=1, k=2, items=items)
    tab.wait("the answer is rendered", "document.querySelector('.answer strong')?.textContent === 'Good day'")
    assert tab.text(".answer code") == "x < y" and "remembered m2" in tab.text("#messages")
    assert tab.complaints() == []
    assert all(address.startswith((companion.url, "about:")) for address in tab.requested())


def test_an_answer_goes_on_in_a_view_that_was_left_and_opened_again(companion: Companion, kitchen: Sent, tab: Tab):
    address = f"{companion.url}/boards/{kitchen.device}/chat"
    tab.open(address)
    tab.fill("#text", "tell me")
    tab.click("#say button")
    mid = offered(kitchen)
    kitchen.ask("reply", mid=mid, offer=1, k=1, items=[["text", "first "]])
    tab.open(f"{companion.url}/")
    tab.open(address)
    tab.wait("what was said so far is there", "document.querySelector('.answer')?.innerText.includes('first')")
    kitchen.ask("reply", mid=mid, offer=1, k=2, items=[["text", "last"], ["end", "t3"]])
    tab.wait("the rest is there", "document.querySelector('.answer .text')?.innerText.trim() === 'first last'")


def test_a_command_is_completed_with_the_keyboard(companion: Companion, kitchen: Sent, tab: Tab):
    tab.open(f"{companion.url}/boards/{kitchen.device}/chat")
    tab.fill("#text", "/se")
    tab.wait("commands are offered", "document.querySelectorAll('#completions button').length === 3")
    tab.press("Tab")
    tab.press("Enter")
    assert tab.run("document.querySelector('#text').value") == "/session "
    assert tab.run("document.activeElement.id") == "text"
    tab.fill("#text", "/se")
    tab.press("Escape")
    tab.wait("nothing is offered", "document.querySelector('#completions').hidden")
    assert tab.complaints() == []


def test_without_a_script_a_message_is_sent_and_read(companion: Companion, kitchen: Sent, chromium: Chromium):
    tab = chromium.tab()
    tab.without_script()
    tab.open(f"{companion.url}/boards/{kitchen.device}/chat")
    tab.fill("#text", "no script here")
    tab.click("#say button")
    mid = offered(kitchen)
    kitchen.ask("reply", mid=mid, offer=1, k=1, items=[["text", "*still* an answer"], ["end", "t3"]])
    tab.open(f"{companion.url}/boards/{kitchen.device}/chat?read=1")
    assert "no script here" in tab.text() and tab.text(".answer em") == "still"
    assert "UTC" in tab.text(".exchange time")


def test_times_are_shown_in_the_browsers_zone(companion: Companion, kitchen: Sent, tab: Tab):
    tab.call("Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo")
    tab.open(f"{companion.url}/boards/{kitchen.device}")
    time = "document.querySelector('dd time')"
    tab.wait("the script has shown the time", f"!{time}.textContent.includes('UTC')")
    there = tab.run(f"new Date({time}.dateTime).getHours()")
    assert f"{(there - 1) % 12 + 1}:" in tab.run(f"{time}.textContent")
