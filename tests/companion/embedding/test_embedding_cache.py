"""The cache: no text is embedded twice, and nothing of one model is taken for another's."""

import asyncio

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from embedding_service import direction
from engram_host.companion.embedding.embedder import CachedEmbedder
from engram_host.companion.store.vectors import Identity, text_digest


class Counting:
    """An embedder that notes what it was asked."""

    def __init__(self):
        self.model = "little"
        self.dimensions = 8
        self.asked: list[str] = []

    async def ready(self):
        pass

    async def embed(self, texts, kind):
        self.asked.extend(texts)
        return np.array([direction(text, self.model + kind) for text in texts], np.float32)

    async def close(self):
        pass


class Kept:
    """What the cache needs of a store."""

    def __init__(self):
        self.vectors = {}

    def cached(self, identity, digests):
        return {one: self.vectors[identity, one] for one in digests if (identity, one) in self.vectors}


def make(queries=3):
    inner, store = Counting(), Kept()
    return CachedEmbedder(inner, store, 7, queries=queries), inner, store


def embed(cached, texts, kind):
    return asyncio.run(cached.embed(texts, kind))


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["query", "passage"]), st.lists(st.sampled_from("abcde"), max_size=6)), max_size=8
    )
)
def test_answers_are_those_of_the_embedder(calls):
    cached, inner, _ = make()
    for kind, texts in calls:
        expected = [direction(text, "little" + kind) for text in texts]
        before = len(inner.asked)
        np.testing.assert_allclose(embed(cached, texts, kind), np.array(expected).reshape(len(texts), 8), atol=1e-6)
        assert len(inner.asked) - before <= len(set(texts))
        assert len(cached._queries) <= 3


def test_a_passage_that_the_store_has_is_not_embedded():
    cached, inner, store = make()
    store.vectors[Identity("little", 8, 7), text_digest("a")] = direction("a")
    np.testing.assert_allclose(embed(cached, ["a"], "passage"), [direction("a")], atol=1e-6)
    assert not inner.asked


def test_the_query_that_was_used_longest_ago_leaves():
    cached, inner, _ = make(queries=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embed(cached, [text], "query")
    assert inner.asked == ["a", "b", "c", "b"]


def test_another_model_does_not_get_the_old_ones_vectors():
    cached, inner, _ = make()
    embed(cached, ["a"], "query")
    inner.model = "big"
    np.testing.assert_allclose(embed(cached, ["a"], "query"), [direction("a", "bigquery")], atol=1e-6)
