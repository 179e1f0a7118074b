"""Boards as people look at them, over HTTP and on the command line: sorted, searched, paged, with warnings and figures."""

import time

import pytest

from engram import log_line
from engram.clock import day_name
from engram_host.companion.overview.service import COPY_WARNINGS, LONG_SECONDS, find_warnings
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.table import BoardQuery, BoardRow, BoardSort
from engram_host.companion.types import ConversationLimits, Hello, LineBatch, LogState, Said, Sender, SeqRange
from engram_host.time_zones import BoardZone
from one_case import in_one_case
from peers import Companion
from sending import Sent


def greet(store: CompanionStore, device: str, heard: int, *contents: str) -> None:
    """A board that was heard at a time, with memories that are copied."""
    sender = Sender(f"b-{device}", 3, 9)
    count = len(contents)
    store.replication.greet(
        Hello(device, sender, 0, {"records": LogState(7, 1, count + 1, 0), "journal": LogState(7, 1, 1, 0)}), heard
    )
    if contents:
        fields = [[("seq", seq), ("id", f"m{seq}"), ("content", each)] for seq, each in enumerate(contents, 1)]
        lines = [(seq, log_line.encode(each)) for seq, each in enumerate(fields, 1)]
        assert store.replication.store_batches(
            [LineBatch(sender, SeqRange(device, "records", 7, 0, count), lines)], heard
        ) == [count]


@pytest.fixture
def boards(store: CompanionStore) -> CompanionStore:
    """Three boards: one with lines, one with two messages that wait, one with neither."""
    greet(store, "kitchen", 300, "one", "two")
    greet(store, "garden", 100)
    greet(store, "attic-kit", 200)
    for mid, at in (("m1", 50), ("m2", 60)):
        store.conversations.add_conversation("garden", Said(mid, "ann", "hi"), ConversationLimits(), at)
    return store


def names(store: CompanionStore, query: BoardQuery) -> list[str]:
    return [row.name for row in store.boards.list_boards(query)[1]]


@in_one_case(
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
def test_boards_are_sorted(boards: CompanionStore, sort: BoardSort, first: list[str]):
    assert names(boards, BoardQuery(sort=sort)) == first


@pytest.mark.both_databases
def test_boards_are_found_by_a_part_of_their_names_and_nothing_in_it_is_a_pattern(boards: CompanionStore):
    assert names(boards, BoardQuery("KIT")) == ["attic-kit", "kitchen"]
    for pattern in ("%", "_", "!", "kit%en", "'"):
        assert names(boards, BoardQuery(pattern)) == []


@pytest.mark.both_databases
def test_boards_are_filtered_by_when_they_were_heard(boards: CompanionStore):
    assert names(boards, BoardQuery(heard_since=200)) == ["attic-kit", "kitchen"]
    assert names(boards, BoardQuery(silent_since=200)) == ["garden"]


def test_warnings_say_what_to_do():
    now = 10 * LONG_SECONDS
    quiet = BoardRow("kitchen", now - 2 * LONG_SECONDS, BoardZone(), 5, 5, 3, 1, now - 2 * LONG_SECONDS)
    kinds = [each.key.partition(".")[2] for each in find_warnings(quiet, 2, now)]
    assert kinds == ["damaged", "waiting", "uncopied"]
    early = BoardRow("kitchen", now + 1000, BoardZone(), 5, 5, 0, 0, 0)
    assert find_warnings(early, 0, now) == (COPY_WARNINGS.say("clock"),)
    assert COPY_WARNINGS.say("waiting", n=1).startswith("1 message waits")
    assert find_warnings(BoardRow("kitchen", now, BoardZone(), 5, 5, 3, 1, now), 0, now) == ()


def test_the_overview_counts_memories_turns_and_tags_by_day(companion: Companion, board):
    made: Sent = board()
    now = int(time.time())
    made.keep("one", tags=["tea"], created=now - 86400)
    made.keep("two", tags=["tea", "cup"], created=now)
    made.keep("instead of one", tags=["tea"], created=now, supersedes="m1")
    made.say("hello", at=now)
    made.sync()
    found = companion.client.get(f"/v1/boards/{made.device}", params={"days": 3}).json()  # midnight may have passed
    figures = found["figures"]
    counted = {each["day"]: (each["memories"], each["turns"]) for each in figures["days"]}
    assert [counted[day_name(at // 86400)] for at in (now - 86400, now)] == [(1, 0), (2, 1)]
    assert figures["states"] == {"live": 2, "superseded": 1} and figures["turns"] == 1
    assert figures["tags"] == [["tea", 2], ["cup", 1]]
    made.keep("three", tags=["tea"], created=now)
    made.send("records", after=3)
    assert companion.client.get(f"/v1/boards/{made.device}").json()["figures"]["states"]["live"] == 3
