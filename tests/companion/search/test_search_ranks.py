"""The words side ranks as the plain reference does, and its explanation is the score."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.search.bm25 import SESSION
from engram_host.evaluation import sets
from reference_ranker import reference_scores
from search_store import SearchStore, asked, embed_all, engine_of, record, turn

WORDS = ["tea", "green", "bike", "paint", "garden", "car", "shop", "blue", "sea"]
PEOPLE = ["Ann", "Bob", "Cleo"]
TURNS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=50).map(" ".join),
        st.sampled_from(PEOPLE),
        st.integers(1, 4),
        st.integers(0, 90),
        st.sampled_from(sets.ROLES),
    ),
    min_size=1,
    max_size=30,
)
QUERIES = st.lists(st.sampled_from([*WORDS, "Ann", "May", "did you"]), min_size=1, max_size=5).map(" ".join)


def conversation(told: list[tuple[str, str, int, int, str]]) -> list[sets.Turn]:
    """Turns in the order of their sessions, as the reference takes them."""
    told = sorted(told, key=lambda one: one[2])
    return [
        sets.Turn(f"t{seq}", session, 1_680_000_000 + 86_400 * day, who, text, role=role)
        for seq, (text, who, session, day, role) in enumerate(told, 1)
    ]


def stored(turns: list[sets.Turn]) -> SearchStore:
    store = SearchStore()
    store.put_all("b", [turn(int(t.id[1:]), t.text, f"s{t.session}", t.speaker, t.at, t.role) for t in turns])
    return store


@settings(max_examples=50)
@given(TURNS, QUERIES)
def test_scores_are_those_of_the_reference(told: list[tuple[str, str, int, int, str]], query: str):
    turns = conversation(told)
    expected = reference_scores(turns, query)
    hits = engine_of(stored(turns)).search(asked(query, limit=50)).hits
    assert {hit.id for hit in hits} == set(expected)
    if hits:
        scale = expected[hits[0].id] / hits[0].score
        assert {hit.id: hit.score * scale for hit in hits} == pytest.approx(expected, rel=1e-6, abs=1e-7)


SHORT = st.lists(st.sampled_from(WORDS[:4]), min_size=1, max_size=6).map(" ".join)
"""Of five such texts each word counts as one: an eighth is what those from the 33rd on count."""

MEMORIES = st.lists(st.tuples(SHORT, st.sets(st.integers(1, 6), min_size=1)), max_size=4)


@settings(max_examples=50)
@given(st.lists(st.tuples(SHORT, st.integers(1, 2)), min_size=6, max_size=6), MEMORIES, st.sampled_from(WORDS[:4]))
def test_turns_rank_as_if_they_had_the_words_of_their_memories(
    told: list[tuple[str, int]], memories: list[tuple[str, set[int]]], word: str
):
    """For one word: what it weighs is then a factor of all scores."""
    one, other = SearchStore(), SearchStore()
    for seq, (text, session) in enumerate(told, 1):
        more = [memory for memory, turns in memories if seq in turns]
        one.put_all("b", [turn(seq, text, f"s{session}")])
        other.put_all("b", [turn(seq, " ".join([text, *more]), f"s{session}")])
    for seq, (text, turns) in enumerate(memories, 1):
        one.put_all("b", records=[record(seq, text, turns=[f"t{number}" for number in turns])])
    hits = [
        {hit.id: hit.score for hit in engine_of(store).search(asked(word, log="journal", limit=50)).hits}
        for store in (one, other)
    ]
    assert hits[0] == pytest.approx(hits[1], abs=1e-8)


@st.composite
def anything(draw: st.DrawFn) -> tuple[SearchStore, dict[str, Any]]:
    store = stored(conversation(draw(TURNS)))
    for seq in range(1, draw(st.integers(1, 5))):
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)))
        more = {"importance": draw(st.sampled_from([0.0, 0.5, 0.9])), "turns": [f"t{draw(st.integers(1, 9))}"]}
        store.put_all("b", records=[record(seq, text, **more)])
    if draw(st.booleans()):
        embed_all(store, "b")
    return store, {"weight": draw(st.none() | st.floats(0, 1)), "words": draw(st.booleans())}


@settings(max_examples=50)
@given(anything(), QUERIES)
def test_the_points_of_an_explanation_add_up_to_the_score(found: tuple[SearchStore, dict[str, Any]], query: str):
    store, options = found
    result = engine_of(store, True).search(asked(query, explain=True, limit=50, **options))
    points = [hit.explanation.points if hit.explanation else None for hit in result.hits]
    assert points == pytest.approx([hit.score for hit in result.hits], abs=1e-8)


def test_a_better_memory_does_not_change_what_the_session_of_the_best_turn_counts():
    store = SearchStore()
    store.put_all("b", [turn(1, "the green car")], [record(1, "a green bike in the garden")])
    hits = engine_of(store).search(asked("green bike garden", explain=True)).hits
    assert [hit.id for hit in hits] == ["m1", "t1"]
    best = hits[1].explanation
    assert best and best.session == pytest.approx(SESSION * sum(points for _, points in best.words))


@settings(max_examples=50)
@given(TURNS, QUERIES, st.randoms())
def test_the_order_in_which_lines_came_changes_no_rank(told: Any, query: str, random: Any):
    turns = conversation(told)
    one, other = stored(turns), SearchStore()
    lines = [turn(int(t.id[1:]), t.text, f"s{t.session}", t.speaker, t.at, t.role) for t in turns]
    random.shuffle(lines)
    other.put_all("b", lines)
    for store in (one, other):
        embed_all(store, "b")
    hits = [
        [(hit.id, hit.score) for hit in engine_of(store, True).search(asked(query, limit=50)).hits]
        for store in (one, other)
    ]
    assert hits[0] == hits[1]


@settings(max_examples=50)
@given(TURNS, QUERIES, st.integers(1, 3))
def test_a_fleet_ranks_as_one_board_would_with_all_its_sessions(told: Any, query: str, boards: int):
    """Days are the same on all boards, and ties go by time: so each turn has a time of its own."""
    turns = [sets.Turn(t.id, t.session, t.at + at, t.speaker, t.text) for at, t in enumerate(conversation(told))]
    fleet = SearchStore()
    names = [f"b{number}" for number in range(boards)]
    for name in names:
        fleet.put_all(name, [turn(1, "", "s9", command=True)])
    for one in turns:
        line = turn(int(one.id[1:]) + 1, one.text, f"s{one.session}", one.speaker, one.at)
        fleet.put_all(names[one.session % boards], [line])
    alone = engine_of(stored(turns)).search(asked(query, limit=50)).hits
    together = engine_of(fleet).search(asked(query, *names, limit=50)).hits
    assert [(hit.seq, hit.score) for hit in alone] == [(hit.seq - 1, hit.score) for hit in together]
