"""The page in a real browser with the firmware behind it: what is done on the page is done on the board."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import Chromium, Tab
from simulated_kitchen import STALLED, SimulatedKitchen, simulated_kitchen
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedKitchen]:
    with simulated_kitchen(tmp_path_factory.mktemp("simulated")) as made:
        yield made


@pytest.fixture(scope="module")
def operator(kitchen: SimulatedKitchen, chromium: Chromium) -> Iterator[Tab]:
    """A tab in which somebody has signed in with the operator's token."""
    made = chromium.tab()
    kitchen.sign_in(made)
    yield made
    made.close()


@pytest.fixture
def tab(operator: Tab) -> Iterator[Tab]:
    """Another tab of who has signed in."""
    made = operator.another()
    made.hurry()
    yield made
    made.close_alone()


def say(tab: Tab, kitchen: SimulatedKitchen, text: str) -> None:
    tab.open(kitchen.address("/chat"))
    tab.fill("#text", text)
    tab.click("#say button")
    tab.wait("it is the last one", f"{LAST}?.querySelector('.words')?.innerText === {json.dumps(text)}")


EVIL = "<img src=x onerror=\"document.title='owned'\">"

LAST = "document.querySelector('.exchange:last-of-type')"


def test_an_answer_is_shown_as_the_model_gives_it_and_stops_where_it_is_cancelled(kitchen: SimulatedKitchen, tab: Tab):
    say(tab, kitchen, "tell me a story")
    tab.wait("the piece is shown", f"document.querySelector('.stream')?.textContent === {json.dumps(STALLED)}")
    tab.click(".exchange:last-of-type .cancel button")
    tab.wait("it is cancelled", f"{LAST}.querySelector('.status').textContent === 'cancelled'")
    assert tab.text(".exchange:last-of-type .answer strong") == "Once"


def test_a_memory_that_the_model_stores_stands_below_its_answer_with_the_turn_that_it_came_from(
    kitchen: SimulatedKitchen, tab: Tab
):
    say(tab, kitchen, "please keep that the bread is in the bin")
    tab.wait("it is shown", f"{LAST}.querySelector('.remembered a')")
    entry = tab.text(".exchange:last-of-type .remembered a")
    assert f"Kept as {entry}." in tab.text(".exchange:last-of-type .text")
    tab.click(".exchange:last-of-type .remembered a")
    tab.wait("its view is there", "document.querySelector('.memory')?.innerText === 'the bread is in the bin'")
    tab.wait("its turn is copied", "document.querySelector('.turns').innerText.includes('please keep that the bread')")


def test_what_was_recalled_for_an_answer_is_shown_with_it(kitchen: SimulatedKitchen, tab: Tab):
    entry = kitchen.keep("the jasmine tea stands on the shelf")
    say(tab, kitchen, "which tea is jasmine?")
    tab.wait("it is shown", f"{LAST}.querySelector('.recalled')")
    shown = tab.run(f"{LAST}.querySelector('.recalled').textContent")
    assert entry in shown and "the jasmine tea stands on the shelf" in shown


def test_what_was_remembered_is_undone_in_the_chat(kitchen: SimulatedKitchen, tab: Tab):
    say(tab, kitchen, "please keep that the lamp is broken")
    tab.wait("it is shown", f"{LAST}.querySelector('.remembered button')")
    entry = tab.text(".exchange:last-of-type .remembered a")
    tab.click(".exchange:last-of-type .remembered button")
    said = f"{LAST}.querySelector('.remembered')?.innerText.includes('{entry} · undone')"
    tab.wait("it is said in place", f"{said} && !{LAST}.querySelector('.remembered button')")
    assert "the lamp is broken" not in kitchen.shown(entry)


def test_no_other_button_comes_to_where_the_pointer_is(kitchen: SimulatedKitchen, tab: Tab):
    say(tab, kitchen, "please keep that the oven is hot")
    tab.wait("it is shown", f"{LAST}.querySelector('.remembered button')")
    tab.point(".exchange:last-of-type .remembered button")
    kitchen.board.answered("/undo")
    looks = "performance.getEntriesByType('resource').filter((each) => each.name.includes('/message?')).length"
    wait_until("the copy follows", lambda: not kitchen.copied(tab.text(".exchange:last-of-type .remembered a")))
    tab.wait("it has looked again", f"{looks} > {tab.run(looks)} + 1")
    assert tab.run(f"{LAST}.querySelector('.remembered button') !== null")
    tab.point("h1")
    tab.wait("it is gone", f"!{LAST}.querySelector('.remembered')")


# --- changes of memories


def edit(tab: Tab, kitchen: SimulatedKitchen, entry: str, text: str) -> None:
    tab.open(kitchen.address(f"/memories/{entry}"))
    tab.fill("#text", text)
    tab.click("form.edit button")


def test_an_edit_waits_for_a_board_that_is_away_and_is_made_when_it_is_back(kitchen: SimulatedKitchen, tab: Tab):
    entry = kitchen.keep("the sugar is in the jar")
    kitchen.leave()
    edit(tab, kitchen, entry, "the sugar is in the pot")
    tab.wait("it waits", "document.querySelector('#changes .waiting')")
    tab.open(kitchen.address(f"/memories/{entry}"))
    assert tab.text("#changes .waiting") != "" and tab.text(".memory") == "the sugar is in the jar"
    kitchen.come_back()
    tab.wait("it is done", "document.querySelector('#changes .done')")
    tab.wait("the copy follows", "document.querySelector('.memory').innerText === 'the sugar is in the pot'")
    assert "the sugar is in the pot" in kitchen.shown(entry)


# --- import


def preview(tab: Tab, kitchen: SimulatedKitchen, file: Path) -> None:
    tab.open(kitchen.address("/import"))
    tab.choose_file("#file", file)
    tab.click("main form button")
    tab.wait("the preview is there", "document.querySelector('#preview')")


def test_a_file_is_looked_at_and_imported_into_the_board(kitchen: SimulatedKitchen, tab: Tab, tmp_path: Path):
    kitchen.keep("buy milk")
    file = tmp_path / "list.md"
    file.write_text(f"# Shopping\n- buy milk\n- {EVIL}\n- buy rooibos #drinks\n", encoding="utf-8")
    preview(tab, kitchen, file)
    assert "new: 2" in tab.text("main") and "there already: 1" in tab.text("main")
    assert kitchen.contents("buy rooibos") == []
    tab.click("button[value=start]")
    tab.wait("it is imported", "document.querySelector('#state')?.textContent === 'Imported'")
    assert "3 of 3 lines" in tab.text("#progress") and "new: 2" in tab.text("#progress .counts")
    assert kitchen.contents("buy rooibos", EVIL, "buy milk") == ["buy milk", EVIL, "buy rooibos"]
    assert tab.run("document.title") != "owned" and tab.complaints() == []
