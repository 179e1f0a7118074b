"""The memories that a query finds are those of the board's copy, in whatever order its lines came."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, get_args

import pytest

from engram import log_line
from engram_host.companion.entries.reader import LogCopy, ReadEntry
from engram_host.companion.errors import UnknownEntry
from engram_host.companion.memories.browse import MOST_VERSIONS, MemoryBrowser, MemoryQuery, MemorySort, MemoryState
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.store import CompanionStore
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from extent import with_more
from random_records import DAY, NOW, record

SENDER = Sender("b1", 3, 9)
EPOCH = 7


def filled(store: CompanionStore, lines: list[dict[str, Any]]) -> MemoryBrowser:
    """The browser of a store whose board kitchen has these records."""
    logs: dict[LogName, LogState] = {name: LogState(EPOCH, 1, len(lines) + 1, 0) for name in ("records", "journal")}
    store.replication.greet(Hello("kitchen", SENDER, 60, logs), NOW)
    batch = [(seq, log_line.encode([("seq", seq), *fields.items()])) for seq, fields in enumerate(lines, 1)]
    span = SeqRange("kitchen", "records", EPOCH, 0, len(lines))
    assert store.replication.store_batches([LineBatch(SENDER, span, batch)], NOW) == [len(lines)]
    return MemoryBrowser(store.boards, IndexCache(store.boards, store.vectors), lambda: NOW)


def fits(query: MemoryQuery) -> Callable[[ReadEntry], bool]:
    """Whether an entry fits, by its line alone."""

    def check(entry: ReadEntry) -> bool:
        line = entry.line
        return (
            query.state in ("all", entry.state)
            and (not query.tag or query.tag in line["tags"])
            and (not query.type or query.type == line.get("type", "fact"))
            and (not query.scope or query.scope == line.get("scope", "all"))
            and all(word in [*line["content"].split(), *line["tags"]] for word in query.words.split())
            and (not query.since or line["created"] >= query.since)
            and (not query.until or line["created"] < query.until)
            and (not query.is_pinned or line.get("pinned", False))
        )

    return check


QUERIES = [
    *(MemoryQuery(state) for state in get_args(MemoryState)),
    *(MemoryQuery("all", sort=sort) for sort in get_args(MemorySort)),
    MemoryQuery(tag="tea"),
    MemoryQuery(type="event"),
    MemoryQuery("all", type="fact"),
    MemoryQuery("all", scope="user:ann"),
    MemoryQuery("all", scope="user:nobody"),
    MemoryQuery(words="red"),
    MemoryQuery(words="cup red"),
    MemoryQuery("all", since=NOW - 3 * DAY, until=NOW - DAY),
    MemoryQuery(is_pinned=True),
    MemoryQuery("superseded", tag="cup", sort="created"),
]

_KEYS: dict[str, Callable[[ReadEntry], Any]] = {
    "changed": lambda entry: entry.line["seq"],
    "created": lambda entry: entry.line["created"],
    "importance": lambda entry: entry.line["importance"],
}


@pytest.mark.both_databases
@pytest.mark.parametrize("seed", with_more(range(2), range(2, 6)))
def test_each_query_finds_what_a_look_at_all_lines_finds(store: CompanionStore, seed: int):
    chance = random.Random(seed)
    browser = filled(store, [record(chance, seq) for seq in range(1, 81)])
    everything = list(LogCopy(store.boards, store.boards.device("kitchen"), "records", NOW).oldest_first())
    for query in QUERIES:
        found = browser.read_page("kitchen", query)
        expected = [entry for entry in everything if fits(query)(entry)]
        key = _KEYS[query.sort.lstrip("-")]
        expected.sort(key=lambda entry: -entry.line["seq"])
        expected.sort(key=key, reverse=query.sort.startswith("-"))
        assert found.total == len(expected), query
        assert list(found.entries) == expected[: query.limit], query


def test_a_change_of_the_copy_is_in_the_next_list(store: CompanionStore):
    browser = filled(store, [{"id": "m1", "content": "tea", "tags": ["tea"], "created": NOW}])
    assert browser.read_page("kitchen", MemoryQuery()).total == 1
    gone = log_line.encode([("seq", 2), ("op", "forget"), ("id", "m1"), ("at", NOW), ("was", 1)])
    store.replication.store_batches([LineBatch(SENDER, SeqRange("kitchen", "records", EPOCH, 1, 2), [(2, gone)])], NOW)
    assert browser.read_page("kitchen", MemoryQuery("all")).total == 0


# --- one memory


def detail(browser: MemoryBrowser, entry: str):
    return asyncio.run(browser.detail("kitchen", entry))


def version(id: str, content: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "content": content, "tags": ["tea"], "created": NOW, **more}


def test_the_history_of_a_memory_goes_on_in_those_whose_place_it_took(store: CompanionStore):
    lines = [version("m1", "one"), version("m1", "two", was=1), version("m3", "three", supersedes="m1")]
    browser = filled(store, [*lines, version("m3", "four", supersedes="m1", was=3)])
    found = detail(browser, "m3")
    assert [line["content"] for line in found.versions] == ["four", "three", "two", "one"]
    assert found.is_changeable and not found.has_more and found.successors == ()
    older = detail(browser, "m1")
    assert (older.entry.state, older.successors, older.is_changeable) == ("superseded", ("m3",), False)
    assert found.origin == "00000007:m3"


def test_a_long_history_is_cut_and_says_so(store: CompanionStore):
    lines = [version("m1", f"text {number}") for number in range(MOST_VERSIONS + 5)]
    found = detail(filled(store, lines), "m1")
    assert len(found.versions) == MOST_VERSIONS and found.has_more


def test_memories_that_took_each_others_place_end_the_history(store: CompanionStore):
    browser = filled(store, [version("m1", "one", supersedes="m2"), version("m2", "two", supersedes="m1")])
    assert [line["content"] for line in detail(browser, "m2").versions] == ["two", "one"]


def test_a_forgotten_memory_is_not_shown(store: CompanionStore):
    browser = filled(store, [version("m1", "one"), {"op": "forget", "id": "m1", "at": NOW, "was": 1}])
    for entry in ("m1", "m7"):
        with pytest.raises(UnknownEntry):
            detail(browser, entry)


def test_memories_are_found_by_the_turn_that_they_came_from(store: CompanionStore):
    lines = [version("m1", "one", turns=["t4"]), version("m2", "two", turns=["t4", "t5"]), version("m3", "three")]
    gone = {"op": "forget", "id": "m1", "at": NOW, "was": 1}
    browser = filled(store, [*lines, version("m2", "again", turns=["t4", "t5"], was=2), gone])
    found = asyncio.run(browser.ids_of_turns("kitchen", ["t4", "t5", "t6", "x"]))
    assert found == {"t4": ["m2", "m1"], "t5": ["m2"], "t6": [], "x": []}
    shown = asyncio.run(browser.entries("kitchen", ["m1", "m2"]))
    assert {id: entry.line["content"] for id, entry in shown.items()} == {"m2": "again"}
