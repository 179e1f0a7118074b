"""An index that is brought up to date finds what one finds that is made from nothing."""

import gc
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engram_host.companion.search import bm25
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.search.index import DeviceIndex
from engram_host.companion.search.request import SearchResult
from engram_host.companion.search.tables import Postings
from engram_host.companion.search.tokenizer import Tokenizer
from engram_host.companion.types import Change
from extent import extent
from index_steps import JOURNAL, RECORDS, STEPS, WORDS, seq_of
from one_case import in_one_case
from search_store import IDENTITY, SearchStore, asked, embed_all, engine_of, ids, line_of, record, turn, vector_of
from waiting import SECONDS, wait_until


def answers(engine: Any) -> list[SearchResult]:
    options: list[dict[str, Any]] = [{}, {"history": True, "tags": ["home"]}, {"session": "s1"}, {"words": False}]
    found = [engine.search(asked("green tea paint ann", explain=True, **option)) for option in options]
    return [timeless(result) for result in found]


def timeless(result: SearchResult) -> SearchResult:
    return replace(result, embed_ms=0, search_ms=0)


@pytest.mark.shortened
@settings(max_examples=extent(80, 30))
@example(
    [(JOURNAL, turn(1, "tea")), "embed", "search", (JOURNAL, turn(1, "bike")), "search", (JOURNAL, turn(1, "tea"))]
)
@example([(RECORDS, record(1, "tea")), "search", (RECORDS, record(2, "tea", supersedes="m1"))])
@given(st.lists(STEPS, max_size=40))
def test_small_steps_and_one_step_make_the_same_index(steps: list[Any]):
    store = SearchStore()
    store.put_all("b", [turn(1, "green tea")])
    engine = engine_of(store, True)
    for step in steps:
        if step == "search":
            engine.search(asked("tea"))
        elif step == "embed":
            embed_all(store, "b")
        elif isinstance(step[1], int):
            store.put("b", step[0], step[1], None)
        else:
            store.put("b", step[0], seq_of(step[1]), step[1])
    assert answers(engine) == answers(engine_of(store, True))


POSTINGS = st.tuples(st.integers(0, 9), st.integers(1, 90))
"""A term, and the eighths that it counts."""


@settings(max_examples=60)
@given(st.lists(st.lists(POSTINGS, max_size=8), max_size=30), st.integers(1, 40))
def test_postings_give_rows_and_counts_before_and_after_folding(rows: list[list[tuple[int, int]]], least: int):
    made = Postings()
    for number, terms in enumerate(rows):
        made.add([term for term, _ in terms], [weight for _, weight in terms], [len(terms)], number)
        if number % least == 0:
            made.fold()
    for term in range(10):
        sums = [sum(weight for other, weight in terms if other == term) for terms in rows]
        expected = [(row, min(255, count)) for row, count in enumerate(sums) if count]
        found, counts = made.find(term)
        assert list(zip(found.tolist(), counts.tolist(), strict=True)) == expected


def test_a_turn_is_found_by_the_words_of_the_memory_that_came_from_it():
    store = SearchStore()
    store.put_all(
        "b",
        [turn(1, "it broke down again", "s1"), turn(2, "so it goes", "s2")],
        [record(1, "Ann's motorcycle is unreliable", turns=["t1"], tags=["vehicle"])],
    )
    result = engine_of(store).search(asked("unreliable motorcycle", log="journal", explain=True))
    assert ids(result) == ["t1"]


@in_one_case("text", ["it broke down", "it works again"])
def test_a_turn_that_comes_after_its_memory_or_is_replaced_has_its_words(text: str):
    store = SearchStore()
    store.put_all("b", [turn(2, "so it goes", "s2")], [record(1, "a motorcycle", turns=["t1"])])
    engine = engine_of(store)
    assert ids(engine.search(asked("motorcycle"))) == ["m1"]
    store.put_all("b", [turn(1, "it broke down")])
    engine.search(asked("motorcycle"))
    store.put_all("b", [turn(1, text)])
    assert set(ids(engine.search(asked("motorcycle")))) == {"m1", "t1"}


def test_a_turn_has_of_a_query_only_the_words_that_its_memories_have():
    store = SearchStore()
    lines = [turn(1, "it broke down", "s1"), turn(2, "in the garden", "s2")]
    store.put_all("b", lines, [record(1, "a motorcycle", turns=["t1"])])
    hits = engine_of(store).search(asked("motorcycle garden", explain=True)).hits
    named = {hit.id: [word for word, _ in hit.explanation.words] for hit in hits if hit.explanation}
    assert named == {"t1": ["motorcycle"], "t2": ["garden"], "m1": ["motorcycle"]}


def test_a_command_is_not_found_by_the_turns_beside_it():
    store = SearchStore()
    store.put_all("b", [turn(1, "green bike"), turn(2, "recall", command=True), turn(3, "blue car")])
    assert ids(engine_of(store).search(asked("green bike"))) == ["t1", "t3"]


def test_a_vector_that_comes_before_its_line_is_kept_for_it():
    store = SearchStore()
    store.put_all("b", [turn(1, "green bike")])
    engine = engine_of(store, True)
    engine.search(asked("bike"))
    store.put_all("b", [turn(2, "blue car")])
    store.embed("b", "journal", 2, vector_of("blue car"))
    kept = store._lines["b"].pop(("journal", 2))
    engine.search(asked("car"))
    store._lines["b"]["journal", 2] = (store._version + 1, kept[1])
    store._version += 1
    assert [hit.id for hit in engine.search(asked("car", words=False)).hits] == ["t2"]


def test_an_identity_that_changed_lets_all_vectors_go():
    store = SearchStore()
    store.put_all("b", [turn(1, "green bike")])
    embed_all(store, "b")
    cache = IndexCache(store, store)  # pyright: ignore[reportArgumentType]
    cache.get("b", IDENTITY)
    store._vectors.clear()
    index, _ = cache.get("b", type(IDENTITY)("other", 8, 1))
    assert int(index.rows.column("slot")[0]) == -1


def test_lines_that_say_anything_at_all_do_no_harm():
    store = SearchStore()
    odd = [
        line_of(2, sid="s1", role="user", who="ann", text="tea", at=10**30),
        line_of(3, sid="s1", role="user", who="ann", text="tea", at=-5),
        line_of(4, sid="nonsense", role="user", who="ann", text="tea", at=1),
        line_of(5, sid="s1", role="user", who="ann", text="tea", at=1, scope=["all"]),
    ]
    records = [
        line_of(1, id="m1", content="tea", created=1, importance="much", expires="never", turns="t1"),
        line_of(2, id="m2", content="tea", created=1, turns=[1, None, "t1", "t1"]),
        line_of(3, id="m3", content=None, created=1),
        line_of(4, id="mx", content="tea", created=1),
        line_of(5, id="m5", content="tea", created="then", importance=1e300),
    ]
    store.put_all("b", [turn(1, "tea"), *odd], records)
    found = ids(engine_of(store).search(asked("tea", limit=50)))
    assert {"t1", "m1", "m2"} <= set(found) and "m3" not in found


def test_indexes_leave_when_there_is_no_room_for_them():
    store = SearchStore()
    for name in ("a", "b", "c"):
        store.put_all(name, [turn(1, "green bike")])
    probe = IndexCache(store, store)  # pyright: ignore[reportArgumentType]
    size = probe.get("a", None)[0].nbytes
    cache = IndexCache(store, store, size * 5 // 2)  # pyright: ignore[reportArgumentType]
    for name in ("a", "b", "a", "c"):
        cache.get(name, None)
    assert cache.board_names == ["a", "c"] and cache.nbytes <= size * 5 // 2


def test_indexes_that_are_made_ahead_give_way_to_searches(monkeypatch: pytest.MonkeyPatch):
    store = SearchStore()
    for name in ("a", "b"):
        store.put_all(name, [turn(1, "green bike")])
    cache = IndexCache(store, store)  # pyright: ignore[reportArgumentType]
    is_read, may_go_on = threading.Event(), threading.Event()
    changes = store.changes

    def wait_for_b(device: str, *more: int) -> list[Change]:
        if device == "b":
            is_read.set()
            assert may_go_on.wait(SECONDS)
        return changes(device, *more)

    monkeypatch.setattr(store, "changes", wait_for_b)
    with ThreadPoolExecutor(2) as threads:
        searched = threads.submit(cache.get, "b", None)
        assert is_read.wait(SECONDS)
        made = threads.submit(cache.make_ahead, [store.device("a")], None)
        wait_until("the other index waits", lambda: cache.board_names == ["b", "a"])
        assert not made.done() and not searched.done()
        may_go_on.set()
        searched.result()
        made.result()
    assert cache.get("a", None)[0].version


def test_an_index_that_is_made_ahead_waits_while_a_query_is_embedded():
    store = SearchStore()
    store.put_all("a", [turn(1, "green bike")])
    cache = IndexCache(store, store)  # pyright: ignore[reportArgumentType]
    with ThreadPoolExecutor(1) as threads:
        with cache.asking():
            made = threads.submit(cache.make_ahead, [store.device("a")], None)
            wait_until("the index waits", lambda: cache.board_names == ["a"])
            assert not store.reads
        made.result(SECONDS)
    assert store.reads


def test_an_index_that_is_made_ahead_does_not_hold_up_a_search_that_has_it():
    store = SearchStore()
    store.put_all("a", [turn(1, "green bike")])
    cache = IndexCache(store, store)  # pyright: ignore[reportArgumentType]
    index, _ = cache.get("a", None)
    store.put_all("a", [turn(2, "blue car")])
    with ThreadPoolExecutor(1) as threads:
        with cache.asking():
            made = threads.submit(cache.make_ahead, [store.device("a")], None)
            wait_until("the index waits for its turn", lambda: any(lock.locked() for lock in cache._loading.values()))
            wait_until("the search has the lock", lambda: index.lock.acquire(blocking=False))
            assert not made.done()
            index.lock.release()
        made.result(SECONDS)


def test_what_an_index_says_that_it_takes_is_what_it_takes():
    store = SearchStore()
    store.put_all(
        "b", [turn(seq, f"{WORDS[seq % 8]} number{seq} of it", f"s{1 + seq // 20}") for seq in range(1, 1201)]
    )
    changes, words = store.changes("b", 0, 5000), Tokenizer()
    DeviceIndex(store.device("b"), words).apply(changes)  # the words that all indexes share are not this one's
    gc.collect()
    tracemalloc.start()
    index = DeviceIndex(store.device("b"), words)
    index.apply(changes)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert 0.8 < index.nbytes / taken < 1.25


def test_the_formula_has_the_boards_constants():
    assert (bm25.K1, bm25.B_ENTRY, bm25.B_SESSION) == (0.9, 0.4, 0.2)
