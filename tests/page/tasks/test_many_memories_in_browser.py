"""A board with ten thousand memories in a real browser: what is shown of it stays small, and each memory is within reach."""

import time
from collections.abc import Iterator

import pytest

from chromium import Tab
from companion_store import opened_store
from engram import log_line
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from many_memories import MEMORIES, memory_fields
from peers import Companion

DEVICE = "archive"
MOST_VIEW_BYTES = 60 * 1024


@pytest.fixture(scope="module")
def memories(companion: Companion) -> Iterator[str]:
    """Where the memories of such a board are; its copy is written straight into the database."""
    now = int(time.time())
    sender, epoch = Sender("b10k", 3, 9), 7
    logs: dict[LogName, LogState] = {
        "records": LogState(epoch, 1, MEMORIES + 1, 0),
        "journal": LogState(epoch, 1, 1, 0),
    }
    lines = [
        (seq, log_line.encode([("seq", seq), ("id", f"m{seq}"), *memory_fields(seq, now).items()]))
        for seq in range(1, MEMORIES + 1)
    ]
    with opened_store(companion.home) as store:
        store.replication.greet(Hello(DEVICE, sender, 0, logs), now)
        batch = LineBatch(sender, SeqRange(DEVICE, "records", epoch, 0, MEMORIES), lines)
        assert store.replication.store_batches([batch], now) == [MEMORIES]
    yield f"{companion.url}/boards/{DEVICE}/memories"


def bytes_of_view(tab: Tab) -> int:
    """Bytes of the HTML of the view that a tab shows, without compression."""
    return tab.run("fetch(location.href).then((answer) => answer.text()).then((text) => new Blob([text]).size)")


def test_ten_thousand_memories_are_listed_in_pages_of_few_bytes(memories: str, tab: Tab):
    tab.open(memories)
    assert "10,000 memories" in tab.text("main") and "Page 1 of 400" in tab.text("main")
    for link, first in (("next", "m9975"), ("next", "m9950"), ("prev", "m9975")):
        tab.click(f"a[rel={link}]")
        tab.wait("the page is there", f"document.querySelector('ol.memories a')?.innerText === '{first}'")
        assert bytes_of_view(tab) <= MOST_VIEW_BYTES
    tab.open(f"{memories}?at=400")
    assert tab.text("ol.memories li:last-child a") == "m1" and bytes_of_view(tab) <= MOST_VIEW_BYTES


def test_a_filter_finds_one_of_ten_thousand_which_is_opened(memories: str, tab: Tab):
    tab.open(memories)
    tab.fill("#words", "number 7777")
    tab.press("Enter")
    tab.wait("it is found", "document.querySelectorAll('ol.memories li').length === 1")
    tab.click("ol.memories a")
    tab.wait("it is opened", "document.querySelector('.memory')?.innerText.startsWith('number 7777:')")
    assert bytes_of_view(tab) <= MOST_VIEW_BYTES
    tab.back()
    tab.wait("the filter is there again", "document.querySelector('#words')?.value === 'number 7777'")
