"""Memories in a real browser: edited while the board is away, in conflict with it, forgotten and brought back."""

import json
from collections.abc import Callable

import pytest

from chromium import Tab
from peers import Companion
from sending import Sent

EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture
def kitchen(companion: Companion, board: Callable[..., Sent]) -> Sent:
    """A board with two memories, which is away: nothing of it is heard until it listens."""
    made = board()
    made.say("the tea is in the tin")
    made.keep("the tea is in the tin", tags=["tea"], turns=["t1"], scope="user:owner")
    made.keep(EVIL, tags=["evil"], keywords=[EVIL], scope="user:owner")
    made.sync()
    return made


@pytest.fixture
def memories(companion: Companion, kitchen: Sent) -> str:
    return f"{companion.url}/boards/{kitchen.device}/memories"


def outcome(**counts: int) -> list[str]:
    return ["report", json.dumps({"counts": counts})]


def edited(tab: Tab, address: str, text: str) -> None:
    tab.hurry()
    tab.open(address)
    tab.run("document.querySelector('#text').value = ''")
    tab.fill("#text", text)
    tab.click("form.edit button")
    tab.wait("it waits for the board", "document.querySelector('#changes .waiting')")


@pytest.mark.parametrize("is_typed_in", [False, True])
def test_the_form_follows_the_board_unless_somebody_has_typed_there(
    kitchen: Sent, memories: str, tab: Tab, is_typed_in: bool
):
    edited(tab, f"{memories}/m1", "the tea is in the box")
    if is_typed_in:
        tab.fill("#keywords", "mine")
        tab.run("document.activeElement.blur()")
    kitchen.answer(outcome(changed=1))
    kitchen.write("records", id="m1", content="the tea is in the box", tags=["tea"], created=1795247157, was=1)
    kitchen.sync()
    tab.wait("the copy follows", "document.querySelector('.memory').innerText === 'the tea is in the box'")
    assert tab.run("document.querySelector('#forget-part [name=was]').value") == "3"
    fields = tab.run(
        "['text', 'was', 'keywords'].map(name => document.querySelector(`form.edit [name=${name}]`).value)"
    )
    assert fields == (["the tea is in the tin", "1", "mine"] if is_typed_in else ["the tea is in the box", "3", ""])


def test_the_list_follows_when_a_memory_is_forgotten_and_brought_back(kitchen: Sent, memories: str, tab: Tab):
    def wait(what: str, listed: list[str]) -> None:
        ids = "[...document.querySelectorAll('ol.memories .words a')].map(each => each.innerText)"
        tab.wait(what, f"JSON.stringify({ids}) === {json.dumps(json.dumps(listed, separators=(',', ':')))}")

    tab.hurry()
    tab.open(f"{memories}/m1")
    tab.click("button.danger")
    wait("the board has not forgotten it yet", ["m2", "m1"])
    kitchen.answer(outcome(forgotten=1))
    wait("the board has forgotten it, and the copy does not know yet", ["m2"])
    assert "1 memory" in tab.text("#list-part")
    kitchen.write("records", op="forget", id="m1", at=1795247200, was=1)
    kitchen.sync()
    tab.wait("it can be undone", "document.querySelector('#changes form button')")
    tab.click("#changes form button")
    assert kitchen.answer(["line", "m1 is remembered again"]) == "/undo m1"
    tab.wait("the board has brought it back", "!document.querySelector('#changes .waiting')")
    wait("the copy does not have it", ["m2"])
    kitchen.write(
        "records", id="m1", content="the tea is in the tin", tags=["tea"], was=3, undoes=3, created=1795247157
    )
    kitchen.sync()
    wait("the copy follows", ["m1", "m2"])
    assert tab.complaints() == []
