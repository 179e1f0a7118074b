"""Vectors in 8 bits: a scan finds what the exact order finds, and scores are those of the store's vectors."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import search_store
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.minilm import MiniLm
from engram_host.companion.search.vectors import Vectors, quantize
from engram_host.companion.search.view import ROUNDING, SHORTLIST
from engram_host.companion.store.vectors import Vector
from extent import extent
from search_store import SearchStore, asked, embed_all, engine_of, ids, turn, vector_of

ASKED = 50
LEAST_RECALL = 0.99
DOCS = Path(__file__).resolve().parents[3] / "docs"


def scanned(passages: Vector) -> Vectors:
    vectors = Vectors()
    for row, (codes, scale) in enumerate(zip(*quantize(passages), strict=True)):
        vectors.put(row, codes, scale)
    return vectors


def recall(passages: Vector, queries: Vector) -> float:
    """The share of the 50 nearest that stand among those which a search scores again."""
    vectors, found = scanned(passages), 0
    for query in queries:
        exact = set(np.argsort(-(passages.astype(np.float64) @ query), kind="stable")[:ASKED].tolist())
        best = np.argsort(-vectors.nearness(query, len(passages)), kind="stable")[: SHORTLIST * ASKED]
        found += len(exact & set(best.tolist()))
    return found / (ASKED * len(queries))


def unit(vectors: np.ndarray) -> Vector:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.shortened
@settings(max_examples=extent(20, 8))
@given(st.integers(0, 2**32 - 1), st.sampled_from([64, 256, 384, 1024]), st.integers(ASKED, 6000), st.floats(0, 3))
def test_recall_at_50_of_random_vectors(seed: int, dimensions: int, rows: int, common: float):
    chance = np.random.default_rng(seed)
    shared = common * chance.standard_normal(dimensions)
    drawn = unit(chance.standard_normal((rows + 5, dimensions)) + shared)
    assert recall(drawn[5:], drawn[:5]) >= LEAST_RECALL


def test_recall_at_50_of_a_models_vectors():
    texts = [line for path in sorted(DOCS.rglob("*.md")) for line in path.read_text().splitlines() if len(line) > 60]
    model = LocalEmbedder(MiniLm(), threads=2)
    passages = asyncio.run(model.embed([line[:120] for line in texts[::7][:420]], "passage"))
    queries = asyncio.run(model.embed(texts[5::90][:20], "query"))
    asyncio.run(model.close())
    assert len(passages) > 8 * ASKED and recall(passages, queries) >= LEAST_RECALL


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([8, 384]), st.floats(0.01, 1))
def test_rounding_changes_no_cosine_by_more_than_thresholds_allow_for(seed: int, dimensions: int, share: float):
    chance = np.random.default_rng(seed)
    drawn = chance.standard_normal((200, dimensions)) * (chance.random((200, dimensions)) < share)
    drawn[:, 0] += 1e-3  # no vector is all zeros
    passages = unit(drawn)
    errors = scanned(passages).nearness(passages[0], len(passages)) - passages @ passages[0]
    assert np.abs(errors).max() < ROUNDING


@pytest.fixture
def all_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """All with a vector are found by meaning."""
    monkeypatch.setattr(search_store, "FLOOR", -1.0)


def test_a_score_is_made_of_the_stores_own_vector(all_near: None):
    store = SearchStore()
    store.put_all("b", [turn(1, "green bike"), turn(2, "blue car")])
    embed_all(store, "b")
    (hit, *_) = engine_of(store, True).search(asked("green bike", words=False)).hits
    stored = store._vectors["b"][0][1].vector.astype(np.float64)
    assert hit.cosine == (stored * vector_of("green bike").astype(np.float64)).sum()


def test_a_line_whose_vector_has_left_the_store_is_not_found_by_meaning(all_near: None):
    store = SearchStore()
    store.put_all("b", [turn(1, "green bike"), turn(2, "blue car")])
    embed_all(store, "b")
    engine = engine_of(store, True)
    engine.search(asked("green bike"))
    del store._vectors["b"][0]
    assert ids(engine.search(asked("green bike", words=False))) == ["t2"]
