"""What a request can ask for, and what an answer says of itself."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import search_store
from companion_store import embedding_of, opened_store, search_of
from engram_host.companion.errors import BadSearch
from engram_host.companion.search.mmr import mmr_order
from engram_host.companion.settings import SearchSettings
from one_case import in_one_case
from search_store import NOW, SearchStore, asked, embed_all, engine_of, ids, record, turn, vector_of

DAY = 86_400
MAY_7 = 1_683_460_800
UNLIKE = np.eye(8, dtype=np.float32)[0]


@pytest.fixture
def store() -> SearchStore:
    """Two sessions and some records, all with vectors."""
    store = SearchStore()
    store.put_all(
        "b",
        [
            turn(1, "the bike is green", "s1", "ann", MAY_7),
            turn(2, "I paint the garden fence", "s1", "bob", MAY_7 + DAY),
            turn(3, "the car is green too", "s2", "bob", MAY_7 + 40 * DAY),
        ],
        [
            record(1, "the door is red", tags=["home"], created=MAY_7),
            record(2, "the door is blue", tags=["home"], created=MAY_7 + DAY, supersedes="m1"),
            record(3, "lunch is at noon", tags=["work"], type="convention"),
            record(4, "the roof is new", tags=["home"], expires=NOW - 1),
            record(5, "lunch is at one", 3, tags=["work"], type="convention"),
        ],
    )
    embed_all(store, "b")
    return store


# --- filters


@in_one_case(
    "query, options, found",
    [
        ("green", {"session": "s2"}, {"t3"}),
        ("green", {"speaker": "ann"}, {"t1"}),
        ("green", {"speaker": "nobody"}, set()),
        ("green", {"since": MAY_7 + 1}, {"t3"}),
        ("green", {"until": MAY_7 + 1}, {"t1"}),
        ("lunch door", {"tags": ["work"]}, {"m3"}),
        ("lunch door", {"tags": ["work", "home"]}, set()),
        ("lunch door", {"type": "convention"}, {"m3"}),
        ("green door", {"log": "records"}, {"m2"}),
        ("roof", {}, set()),
    ],
)
def test_only_what_passes_the_filters_is_found(
    store: SearchStore, query: str, options: dict[str, Any], found: set[str]
):
    assert set(ids(engine_of(store).search(asked(query, meaning=False, **options)))) - {"t2"} == found


def test_history_comes_only_on_demand_and_is_marked(store: SearchStore):
    now = engine_of(store).search(asked("door lunch"))
    assert [hit.state for hit in now.hits] == ["live", "live"]
    then = engine_of(store).search(asked("door lunch", history=True))
    states = {(hit.id, hit.seq): hit.state for hit in then.hits}
    assert states == {("m1", 1): "superseded", ("m2", 2): "live", ("m3", 3): "earlier version", ("m3", 5): "live"}


# --- sides, weights, thresholds


def test_each_side_can_be_switched_off(store: SearchStore):
    engine = engine_of(store, True)
    by_words = engine.search(asked("green bike", meaning=False))
    by_meaning = engine.search(asked("green bike", words=False))
    assert {hit.cosine for hit in by_words.hits} == {None} and not by_words.degraded
    assert {hit.coverage for hit in by_meaning.hits} == {0.0} and by_meaning.meaning_weight == 1


@in_one_case(
    "query, weight",
    [
        ("the green bike", 0.2),
        ("the bike of 2023", 0.2),
        ('"zebra" xylophone', 0.2),
        ("zebra xylophone quince bike", 0.4),
    ],
)
def test_a_query_that_no_entry_has_half_of_is_a_paraphrase(store: SearchStore, query: str, weight: float):
    assert engine_of(store, True).search(asked(query)).meaning_weight == weight


def test_a_weight_that_is_given_counts(store: SearchStore):
    result = engine_of(store, True).search(asked("green bike", weight=0.7))
    assert (result.meaning_weight, result.shape) == (0.7, "as asked for")


def test_more_candidates_let_more_be_fused(store: SearchStore):
    def left(candidates: int) -> tuple[str, ...]:
        return engine_of(store, True).search(asked("green bike door", limit=1, candidates=candidates)).left_out

    assert left(1) != left(8)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is near a query in meaning."""
    monkeypatch.setattr(search_store, "FLOOR", 1.0)


def test_the_threshold_of_meaning_leaves_what_words_find(store: SearchStore, far: None):
    hits = engine_of(store, True).search(asked("green bike", explain=True)).hits
    assert "t1" in {hit.id for hit in hits}
    assert all(hit.explanation and hit.explanation.meaning == 0 for hit in hits)


def test_the_confidence_falls_with_words_that_stand_nowhere(store: SearchStore):
    whole, half, none = (
        engine_of(store, True).search(asked(query)).confidence
        for query in ("green bike", "green bike zebra quagga", "zebra")
    )
    assert 1 >= whole > 2 * half > 0 and none == 0


def test_the_confidence_is_that_of_all_that_may_be_shown_and_no_more(store: SearchStore):
    engine = engine_of(store)
    assert engine.search(asked("green bike", limit=1)).confidence == engine.search(asked("green bike")).confidence
    assert engine.search(asked("green bike", session="s2")).confidence < engine.search(asked("green bike")).confidence


@in_one_case(
    "name, value",
    [
        ("query", " "),
        ("query", "x" * 2001),
        ("limit", 0),
        ("limit", 101),
        ("weight", 1.1),
        ("candidates", 0),
        ("mmr", 2.0),
        ("tags", ["x"] * 9),
        ("log", "diary"),
        ("since", -1),
    ],
)
def test_what_has_no_sense_is_refused_by_its_name(name: str, value: Any):
    with pytest.raises(ValidationError) as refused:
        asked(**{"query": "tea", name: value})
    assert refused.value.errors()[0]["loc"] == (name,)


@in_one_case(
    "name, options",
    [
        ("until", {"since": 5, "until": 5}),
        ("words", {"words": False, "meaning": False}),
        ("folders", {"folders": ["notes"], "log": "records"}),
        ("offset", {"offset": 1, "mmr": 0.5}),
    ],
)
def test_options_that_exclude_each_other_are_refused(tmp_path: Path, name: str, options: dict[str, Any]):
    with opened_store(tmp_path / str(len(options)) / name) as store:
        searching = search_of(store, SearchSettings(), embedding_of(store))
        with pytest.raises(BadSearch) as refused:
            asyncio.run(searching.search(asked("tea", **options).request))
    assert refused.value.name == name


# --- MMR


@in_one_case("with_meaning, varied", [(False, ["t1", "t3", "t2"]), (True, ["t1", "t2", "t3"])])
def test_mmr_puts_what_says_something_else_before_what_says_the_same(with_meaning: bool, varied: list[str]):
    store = SearchStore()
    texts = ["green tea in the garden", "green tea in the garden", "green tea as paint"]
    store.put_all("b", [turn(at, text, f"s{at}") for at, text in enumerate(texts, 1)])
    for seq, likeness in ((1, 1.0), (2, 0.0), (3, 1.0)):  # otherwise than their words
        store.embed("b", "journal", seq, vector_of("green tea") * likeness + UNLIKE * (1 - likeness))
    engine = engine_of(store, with_meaning)
    plain, found = (ids(engine.search(asked("green tea", mmr=share, weight=0))) for share in (None, 0.5))
    assert (plain, found) == (["t1", "t2", "t3"], varied)


@given(st.lists(st.floats(0, 1), max_size=20), st.integers(1, 20))
def test_mmr_by_scores_alone_keeps_the_order(scores: list[float], limit: int):
    scores = sorted((round(score, 6) for score in scores), reverse=True)
    order = mmr_order(scores, [UNLIKE] * len(scores), [frozenset()] * len(scores), limit=limit, share=1)
    assert order == list(range(min(limit, len(scores))))


# --- dates


@in_one_case(
    "query, first",
    [
        ("green in May 2023", "t1"),
        ("green in June 2023", "t3"),
        ("green on 7 May", "t1"),
        ("green on May 7, 2023", "t1"),
        ("green 2023-06-16", "t3"),
        ("what was green yesterday", "t3"),
        ("what was green last week", "t3"),
    ],
)
def test_what_was_said_at_the_named_time_comes_first(store: SearchStore, query: str, first: str):
    now = MAY_7 + 41 * DAY
    assert ids(engine_of(store).search(asked(query, now=now)))[0] == first


def test_a_named_time_lifts_nothing_if_dates_are_off(store: SearchStore):
    lifted, plain = (
        engine_of(store).search(asked("green in May 2023", dates=dates, explain=True)) for dates in (True, False)
    )
    points = [{hit.explanation.dates for hit in one.hits if hit.explanation} for one in (lifted, plain)]
    assert max(points[0]) > 0 and points[1] == {0.0}


# --- several devices


# --- what an answer says


def test_lines_without_vectors_are_counted(store: SearchStore):
    store.put_all("b", [turn(9, "new", "s1")])
    assert engine_of(store, True).search(asked("green")).degraded.startswith("1 entry has no vector yet")


@in_one_case(
    "query, options, why",
    [
        ("zebra", {}, "none of the words (zebra) stands in an entry that may be shown here."),
        ("what was it", {}, "the query has no word to search for, only very common ones."),
        ("green", {"session": "s7"}, "none of the 5 entries that may be shown here passes the filters."),
        ("green", {"log": "records"}, "the words (green) stand in no entry that passes the filters."),
    ],
)
def test_an_empty_answer_says_why(store: SearchStore, query: str, options: dict[str, Any], why: str):
    result = engine_of(store).search(asked(query, meaning=False, **options))
    assert (result.hits, result.why_empty) == ((), why)


@in_one_case("limit, told", [(1, "2 more candidates"), (2, "1 more candidate")])
def test_what_was_found_beyond_the_limit_is_counted(limit: int, told: str):
    store = SearchStore()
    store.put_all("b", [turn(number, "green tea") for number in (1, 2, 3)])
    result = engine_of(store).search(asked("green", meaning=False, limit=limit))
    assert result.left_out == (f"{told}, with lower scores",)


def test_an_empty_answer_of_both_sides_gives_one_reason(store: SearchStore, far: None):
    why = engine_of(store, True).search(asked("zebra")).why_empty
    assert why == (
        "none of the words (zebra) stands in an entry that may be shown here,"
        " and no entry is close to the query in meaning."
    )


@in_one_case(
    "query, shown",
    [
        ("Where are Zoë's databases?", "Zoë's, databases"),
        ("parseConfig zebras, zebras", "parseConfig, zebras"),
        ("我的猫", "我的猫"),
    ],
)
def test_an_empty_answer_names_the_words_of_the_query_and_not_their_stems(store: SearchStore, query: str, shown: str):
    assert f"({shown})" in engine_of(store).search(asked(query, meaning=False)).why_empty
