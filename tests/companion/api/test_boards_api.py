"""Boards as people look at them, over HTTP and on the command line: sorted, searched, paged, with warnings and figures."""

import time

import pytest

from cli_case import engram, fine
from engram_host.companion.overview.warnings import LONG_SECONDS, BoardWarning, find_warnings
from engram_host.companion.page_types import BoardQuery, BoardRow, BoardSort
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import ConversationLimits, Said
from peers import Companion
from sending import Sent
from store_boards import StoreBoards


@pytest.fixture
def boards(store: CompanionStore) -> StoreBoards:
    """Three boards: one with lines, one with two messages that wait, one with neither."""
    made = StoreBoards(store)
    made.board("kitchen", heard=300).keep_all("one", "two")
    made.board("garden", heard=100)
    made.board("attic-kit", heard=200)
    for mid in ("m1", "m2"):
        store.add_conversation("garden", Said(mid, "ann", "hi"), ConversationLimits(), 50 if mid == "m1" else 60)
    return made


def names(store: CompanionStore, query: BoardQuery) -> list[str]:
    return [row.name for row in store.list_boards(query)[1]]


@pytest.mark.parametrize(
    "sort, first",
    [
        ("name", ["attic-kit", "garden", "kitchen"]),
        ("-name", ["kitchen", "garden", "attic-kit"]),
        ("heard", ["garden", "attic-kit", "kitchen"]),
        ("-heard", ["kitchen", "attic-kit", "garden"]),
        ("-lines", ["kitchen", "attic-kit", "garden"]),
        ("-waiting", ["garden", "attic-kit", "kitchen"]),
    ],
)
def test_boards_are_sorted(store: CompanionStore, boards: StoreBoards, sort: BoardSort, first: list[str]):
    assert names(store, BoardQuery(sort=sort)) == first


def test_boards_are_found_by_a_part_of_their_names_and_nothing_in_it_is_a_pattern(
    store: CompanionStore, boards: StoreBoards
):
    assert names(store, BoardQuery("KIT")) == ["attic-kit", "kitchen"]
    for pattern in ("%", "_", "!", "kit%en", "'"):
        assert names(store, BoardQuery(pattern)) == []


def test_boards_are_paged_and_counted(store: CompanionStore, boards: StoreBoards):
    total, rows = store.list_boards(BoardQuery(limit=2, offset=2))
    assert (total, [row.name for row in rows]) == (3, ["kitchen"])


def test_boards_are_filtered_by_when_they_were_heard(store: CompanionStore, boards: StoreBoards):
    assert names(store, BoardQuery(heard_since=200)) == ["attic-kit", "kitchen"]
    assert names(store, BoardQuery(silent_since=200)) == ["garden"]


def test_a_board_has_its_figures(store: CompanionStore, boards: StoreBoards):
    assert store.board_row("kitchen") == BoardRow("kitchen", 300, 0, 2, 0, 0, 0, 0)
    assert store.board_row("garden") == BoardRow("garden", 100, 0, 0, 0, 0, 2, 50)
    assert store.board_row("nobody") is None


def test_warnings_say_what_to_do():
    now = 10 * LONG_SECONDS
    quiet = BoardRow("kitchen", now - 2 * LONG_SECONDS, 0, 5, 5, 3, 1, now - 2 * LONG_SECONDS)
    kinds = [each.kind for each in find_warnings(quiet, 2, now)]
    assert kinds == ["damaged", "waiting", "uncopied"]
    early = BoardRow("kitchen", now + 1000, 0, 5, 5, 0, 0, 0)
    assert [each.sentence for each in find_warnings(early, 0, now)] == [BoardWarning("clock").sentence]
    assert BoardWarning("waiting", 1).sentence.startswith("1 message waits")
    assert find_warnings(BoardRow("kitchen", now, 0, 5, 5, 3, 1, now), 0, now) == ()


def test_the_overview_counts_memories_turns_and_tags_by_day(companion: Companion, board):
    made: Sent = board()
    now = int(time.time())
    made.keep("one", tags=["tea"], created=now - 86400)
    made.keep("two", tags=["tea", "cup"], created=now)
    made.keep("instead of one", tags=["tea"], created=now, supersedes="m1")
    made.say("hello", at=now)
    made.sync()
    found = companion.client.get(f"/v1/boards/{made.device}", params={"days": 2}).json()
    assert [(each["memories"], each["turns"]) for each in found["days"]] == [(1, 0), (2, 1)]
    assert found["memories"] == {"live": 2, "superseded": 1} and found["turns"] == 1
    assert found["tags"] == [{"tag": "tea", "memories": 2}, {"tag": "cup", "memories": 1}]
    made.keep("three", tags=["tea"], created=now)
    made.send("records", after=3)
    assert companion.client.get(f"/v1/boards/{made.device}").json()["memories"]["live"] == 3


def test_the_command_lists_boards_and_shows_one(companion: Companion, board):
    made: Sent = board()
    made.keep("one", tags=["tea"], created=int(time.time()))
    made.sync()
    home = ("--home", companion.home)
    assert made.device in fine("boards", *home, "--find", made.device).out
    assert fine("boards", *home, "--json", "--sort", "heard", "--reverse").json["total"] >= 1
    shown = fine("boards", made.device, *home).out
    assert "tea 1" in shown and "live memories" in shown
    assert "nobody" in engram("boards", "nobody", *home).err
