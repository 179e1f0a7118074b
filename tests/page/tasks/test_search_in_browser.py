"""Search and days in a real browser: hits as they are typed, and without a script."""

from collections.abc import Callable

import pytest

from chromium import Tab
from peers import Companion
from sending import Sent

EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture
def kitchen(companion: Companion, board: Callable[..., Sent]) -> Sent:
    """A board that is here."""
    made = board()
    made.keep("the tea is in the blue tin", tags=["tea"])
    made.keep(f"a parrot {EVIL}", tags=["birds"])
    made.say("where is the tea?")
    made.sync()
    return made


def hits(tab: Tab) -> list[str]:
    return tab.run("[...document.querySelectorAll('.hit .who a')].map((each) => each.textContent)")


def test_hits_appear_as_they_are_typed(companion: Companion, kitchen: Sent, tab: Tab):
    tab.open(f"{companion.url}/boards/{kitchen.device}/search")
    tab.fill("#q", "tea")
    tab.wait("hits are there", "document.querySelectorAll('.hit').length === 2")
    assert set(hits(tab)) == {"m1", "t1"} and tab.text("#count") == "2 hits shown"
    tab.fill("#q", "parrot")
    tab.wait("other hits are there", "document.querySelectorAll('.hit').length === 1")
    assert hits(tab) == ["m2"] and tab.run("location.search") == "?q=parrot"
    assert tab.run("document.activeElement.id") == "q"
    assert tab.run("document.querySelectorAll('#results img, #results script').length") == 0
    assert tab.run("document.title") != "owned" and tab.complaints() == []


def test_an_answer_that_was_overtaken_is_dropped(companion: Companion, kitchen: Sent, tab: Tab):
    tab.open(f"{companion.url}/boards/{kitchen.device}/search")
    # The first answer is held back until the second one is there.
    tab.run(
        "(() => { const real = fetch; let held; globalThis.fetch = (address, options) => real(address, options).then("
        "(answer) => String(address).includes('q=tea') ? new Promise((give) => { held = () => give(answer); "
        "globalThis.release = held; }) : answer); })()"
    )
    tab.fill("#q", "tea")
    tab.wait("the first answer is held back", "globalThis.release")
    tab.fill("#q", "parrot")
    tab.wait("the second one is shown", "document.querySelector('.hit')")
    tab.run("globalThis.release()")
    assert tab.run("new Promise((done) => setTimeout(() => done(location.search), 0))") == "?q=parrot"
    assert hits(tab) == ["m2"]
