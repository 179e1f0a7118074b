"""What stands around each view: connection, session, other tabs, language, colours, times, keyboard, paper."""

from collections.abc import Callable
from pathlib import Path

import pytest

from chromium import Tab
from cli_case import fine
from extent import extent
from houses import House
from page_views import VIEWS, PageView
from peers import Companion
from sending import Sent

MAIN_WORDS = """\
(() => {
  const copy = document.getElementById("main").cloneNode(true);
  for (const each of copy.querySelectorAll("time, script")) each.remove();
  return copy.textContent.replace(/[0-9]+/g, "0").split(/\\s+/).join(" ").trim();
})()"""
"""The words of a view without times and numbers, since some of these differ each time."""

SOME_VIEWS = extent(VIEWS, VIEWS[::6])
"""For what is the same in all views, or nearly."""

SOME = pytest.mark.parametrize("shown", SOME_VIEWS, ids=lambda each: each.name)


def shows(name: str) -> str:
    """An expression: the bar of the frame shows this state of the connection, or none if there is no name."""
    return f"(document.querySelector('#connection p:not([hidden])')?.dataset.when ?? '') === '{name}'"


def come_back(tab: Tab) -> None:
    """Do as a person who returns to the tab."""
    tab.run("dispatchEvent(new Event('focus'))")


# --- the connection and the session


def test_a_lost_connection_is_shown_keeps_what_was_typed_and_mends_itself(tmp_path: Path, tab: Tab):
    with Companion(tmp_path / "home") as companion:
        Sent(companion.posted, "kitchen").sync()
        tab.open(f"{companion.url}/chat?find=k")
        tab.open(f"{companion.url}/boards/kitchen/chat")
        tab.fill("#text", "half a sentence")
        companion.kill()
        come_back(tab)
        tab.wait("it is shown", shows("lost"))
        tab.click("#say button")
        # Sent only once the companion is there again, it would arrive.
        failed = "document.querySelector('#live').textContent && !document.querySelector('#say button').disabled"
        tab.wait("it was not sent", failed)
        companion.start()
        tab.wait("it is back", f"{shows('')} && document.querySelector('#live').textContent === 'Connected again.'")
        assert tab.run("document.querySelector('#text').value") == "half a sentence"


def test_a_form_is_not_sent_into_a_lost_connection(tmp_path: Path, tab: Tab):
    with Companion(tmp_path / "home", ENGRAM_TOKENS="on") as companion:
        tab.open(f"{companion.url}/signin")
        tab.fill("#token", "a long token")
        companion.kill()
        come_back(tab)
        tab.wait("it is shown", shows("lost"))
        tab.click("main button")
        tab.wait("it is said", "document.querySelector('#live').textContent.startsWith('The connection is lost')")
        assert tab.run("document.querySelector('#token').value") == "a long token"


def test_signing_out_in_one_tab_is_seen_in_the_other(strict: Companion, tab: Tab):
    tab.open(fine("page", "--home", strict.home, "--no-browser").out.strip())
    other = tab.another()
    other.open(f"{strict.url}/chat?find=k")
    tab.open(f"{strict.url}/signout")
    tab.click("main button")
    other.wait("the other tab says so", shows("out"))
    assert other.run("document.querySelector('#connection [data-when=out] a').search") == "?next=/chat"


def test_the_back_button_shows_nothing_once_signed_out(strict: Companion, tab: Tab):
    Sent(strict.posted, "kitchen")
    tab.open(fine("page", "--home", strict.home, "--no-browser").out.strip())
    tab.open(f"{strict.url}/signout")
    tab.click("main button")
    tab.wait("signed out", "location.pathname === '/signin' && document.querySelector('#token')")
    tab.back()
    tab.wait("the view before is there", "location.pathname === '/signout'")
    tab.back()
    tab.wait("it asks to sign in", "location.pathname === '/signin' && document.querySelector('#token')")
    assert "kitchen" not in tab.text()


# --- two tabs, and the way back


def test_what_one_tab_says_is_seen_in_the_other(companion: Companion, board: Callable[..., Sent], tab: Tab):
    kitchen = board()
    kitchen.sync()
    address = f"{companion.url}/boards/{kitchen.device}/chat"
    tab.open(address)
    other = tab.another()
    other.open(address)
    tab.fill("#text", "said in the first tab")
    tab.click("#say button")
    said = "document.querySelector('.exchange .words')?.innerText === 'said in the first tab'"
    other.wait("it stands in the other", said)
    kitchen.offered(0)
    mid = other.run("document.querySelector('.exchange').dataset.mid")
    kitchen.ask("reply", mid=mid, offer=1, k=1, items=[["text", "*seen* twice"], ["end", "t3"]])
    for each in (tab, other):
        each.wait("so does the answer", "document.querySelector('.answer em')?.textContent === 'seen'")
        assert each.run("document.querySelectorAll('.exchange').length") == 1


LOOKS_BEFORE_AN_ANSWER = """
const {fetch} = window;
window.fetch = async (address, options) => {
  const answer = await fetch(address, options);
  if (options?.method !== "POST") return answer;
  document.querySelector("main").dispatchEvent(new CustomEvent("changed", {bubbles: true, cancelable: true}));
  while (!document.querySelector(".exchange")) await new Promise((done) => setTimeout(done, 10));
  return answer;
};
"""
"""A chat is brought up to date between what somebody has sent and its answer."""


def test_a_message_that_comes_twice_to_its_own_tab_stands_there_once(
    companion: Companion, board: Callable[..., Sent], tab: Tab
):
    kitchen = board()
    kitchen.sync()
    tab.open(f"{companion.url}/boards/{kitchen.device}/chat")
    tab.run(f"(() => {{{LOOKS_BEFORE_AN_ANSWER}}})()")
    tab.fill("#text", "hello")
    tab.click("#say button")
    tab.wait("it is sent", "document.querySelector('#text').value === ''")
    assert tab.run("document.querySelectorAll('.exchange').length") == 1


def test_a_view_is_brought_up_to_date_when_somebody_returns_to_it(tmp_path: Path, tab: Tab):
    with Companion(tmp_path / "home") as companion:
        Sent(companion.posted, "attic", board="b1").sync()
        tab.open(companion.url)
        Sent(companion.posted, "basement", board="b2").sync()
        come_back(tab)
        tab.wait("the new board stands in it", "document.querySelector('main').innerText.includes('basement')")


def test_a_view_in_which_somebody_types_is_left_alone_and_says_that_it_has_changed(tmp_path: Path, tab: Tab):
    with Companion(tmp_path / "home") as companion:
        Sent(companion.posted, "attic", board="b1").sync()
        tab.open(companion.url)
        tab.fill("#find", "att")
        Sent(companion.posted, "basement", board="b2").sync()
        come_back(tab)
        tab.wait("it is said", shows("changed"))
        assert tab.run("document.querySelector('#find').value") == "att" and "basement" not in tab.text("main")
        tab.click("#connection [data-when=changed] a")
        tab.wait("it is shown", "document.querySelector('main')?.innerText.includes('basement')")


# --- without a script, narrow, on paper


@pytest.mark.shortened
@SOME
def test_a_view_reads_without_a_script(house: House, tab: Tab, shown: PageView):
    house.open(tab, shown)
    before = tab.run(MAIN_WORDS)
    tab.without_script()
    house.open(tab, shown)
    words = tab.run(MAIN_WORDS)
    if words != before:  # the time has passed from which a board or a network counts as away
        tab.with_script()
        house.open(tab, shown)
        assert tab.run(MAIN_WORDS) == words
    assert words and tab.text("main h1") and "UTC" in (tab.text("main time") or "UTC")


# --- what the keyboard finds


@pytest.mark.shortened
@SOME
def test_the_keyboard_reaches_all_of_a_view_in_its_order(house: House, tab: Tab, shown: PageView):
    house.open(tab, shown)
    usable = "'a[href], button:not(:disabled), input:not([type=hidden]), select, textarea, summary'"
    shut = "each.tagName !== 'SUMMARY' && each.closest('details:not([open])')"
    wanted = tab.run(
        f"(window.all = [...document.querySelectorAll({usable})].filter((each) => "
        f"each.checkVisibility() && !({shut}))).length"
    )
    tab.run("document.activeElement.blur(); scrollTo(0, 0)")
    parts = 3 * tab.run("document.querySelectorAll('[type=date], [type=month]').length")  # each is several stops
    reached: list[int] = []
    for _ in range(min(wanted + parts, extent(1000, 60))):
        tab.press("Tab")
        at, has_ring = tab.run(
            "[all.indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle !== 'none']"
        )
        if reached and at == 0:
            break  # it begins again
        if at < 0:
            continue  # a part that scrolls, which the browser itself lets the keyboard reach
        assert has_ring, tab.run("document.activeElement.outerHTML")
        reached.append(at)
    assert reached == sorted(reached) and reached[0] == 0
    assert len(set(reached)) >= min(wanted, extent(1000, 60)) - 5


def test_escape_closes_what_was_opened_and_returns_to_where_it_was(house: House, tab: Tab):
    tab.open(f"{house.url}/boards/kitchen/chat")
    tab.click("details.commands summary")
    tab.run("document.querySelector('#line').focus()")
    tab.press("Escape")
    assert tab.run("document.querySelector('details.commands').open") is False
    assert tab.run("document.activeElement.tagName") == "SUMMARY"


# --- language, colours, times


@pytest.mark.parametrize("zone, differs", [("Asia/Tokyo", True), ("Africa/Maputo", False)])
def test_the_time_of_a_board_stands_beside_the_browsers_where_they_differ(
    house: House, tab: Tab, zone: str, differs: bool
):
    tab.call("Emulation.setTimezoneOverride", timezoneId=zone)
    tab.open(f"{house.url}/boards/kitchen")
    tab.wait("the script has shown the time", "!document.querySelector('dd time').textContent.includes('UTC')")
    assert ("on the board" in tab.text("dd time")) is differs
