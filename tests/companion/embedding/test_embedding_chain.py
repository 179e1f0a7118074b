"""The chain of embedders: who makes vectors when, by the invariants that embedder.py states."""

import asyncio

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engram_host.companion.embedding.embedder import FallbackEmbedder
from engram_host.companion.errors import EmbedderError, EmbedderRefused, EmbedderUnavailable
from engram_host.companion.settings import EmbeddingSettings

COOLDOWN = 10.0
REBUILD_AFTER = 100.0


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Plain:
    """An embedder whose vectors say who made them; `error` is what it raises."""

    def __init__(self, model, dimensions=2, number=0):
        self.model = model
        self.dimensions = dimensions
        self.number = number
        self.error: EmbedderError | None = None
        self.asked = 0

    async def ready(self):
        self.asked += 1
        if self.error:
            raise self.error

    async def embed(self, texts, kind):
        await self.ready()
        return np.full((len(texts), self.dimensions), self.number, np.float32)

    async def close(self):
        pass


def chain_of(*embedders, made=None, **more):
    clock = Clock()
    more = {"cooldown_seconds": COOLDOWN, "rebuild_after_seconds": REBUILD_AFTER, **more}
    return FallbackEmbedder(embedders, EmbeddingSettings(**more), made, clock), clock


def ready(chain):
    asyncio.run(chain.ready())


def maker(chain):
    return int(asyncio.run(chain.embed(["a"], "query"))[0, 0])


def down(embedder):
    embedder.error = EmbedderUnavailable(f"{embedder.model} is away.")


def test_the_first_that_is_ready_is_chosen():
    first, second = Plain("big", 4, 1), Plain("little", 2, 2)
    down(first)
    chain, _ = chain_of(first, second)
    ready(chain)
    assert (chain.model, chain.dimensions, maker(chain)) == ("little", 2, 2)


def test_an_index_waits_for_its_model_whose_dimensions_are_not_known_yet():
    first, second = Plain("big", 0), Plain("little", 2)
    down(first)
    chain, _ = chain_of(first, second, made=("big", 4))
    with pytest.raises(EmbedderUnavailable):
        ready(chain)


def test_a_model_that_is_wanted_more_than_the_one_that_made_the_index_takes_over():
    chain, _ = chain_of(Plain("big", 4), Plain("little", 2), made=("little", 2))
    ready(chain)
    assert chain.model == "big"


def test_a_second_service_with_the_same_model_answers_in_its_place():
    first, second = Plain("big", 2, 1), Plain("big", 2, 2)
    chain, _ = chain_of(first, second)
    ready(chain)
    down(first)
    assert maker(chain) == 2


def test_one_that_failed_is_left_alone_for_a_while():
    first = Plain("big")
    chain, clock = chain_of(first)
    ready(chain)
    down(first)
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match="big is away"):
            maker(chain)
    assert first.asked == 2
    first.error = None
    clock.now += COOLDOWN
    maker(chain)
    assert chain.reason == ""


def test_a_text_that_is_refused_is_no_reason_to_leave_an_embedder_alone():
    first = Plain("big")
    chain, _ = chain_of(first)
    ready(chain)
    first.error = EmbedderRefused("too long.", 413)
    with pytest.raises(EmbedderRefused):
        maker(chain)
    first.error = None
    maker(chain)


def test_a_fallback_rebuilds_the_index_when_set_and_only_after_a_while():
    first = Plain("big")
    chain, clock = chain_of(first, Plain("little"), rebuild=True)
    ready(chain)
    down(first)
    with pytest.raises(EmbedderUnavailable):
        maker(chain)
    clock.now += REBUILD_AFTER - 1
    with pytest.raises(EmbedderUnavailable):
        ready(chain)
    assert chain.model == "big"
    clock.now += 1
    ready(chain)
    assert chain.model == "little"


def test_the_wanted_one_takes_over_once_it_is_back():
    first = Plain("big")
    down(first)
    chain, clock = chain_of(first, Plain("little"))
    ready(chain)
    first.error = None
    ready(chain)
    assert chain.model == "little"
    clock.now += REBUILD_AFTER
    ready(chain)
    assert chain.model == "big"


class Life(RuleBasedStateMachine):
    """Embedders come and go; whatever happens, a vector is of the identity that the chain showed before."""

    def __init__(self):
        super().__init__()
        self.embedders = [Plain("big", 4, 1), Plain("big", 4, 2), Plain("middle", 3, 3), Plain("little", 2, 4)]
        self.rebuild = False
        self.chain, self.clock = chain_of(*self.embedders)
        self.loop = asyncio.new_event_loop()

    def teardown(self):
        self.loop.close()

    @rule(
        which=st.integers(0, 3),
        error=st.sampled_from([None, EmbedderUnavailable("away."), EmbedderRefused("no.", 401)]),
    )
    def change(self, which, error):
        self.embedders[which].error = error

    @rule(seconds=st.sampled_from([1, COOLDOWN, REBUILD_AFTER]))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule(rebuild=st.booleans())
    def restart(self, rebuild):
        made = (self.chain.model, self.chain.dimensions) if self.chain.model else None
        self.rebuild = rebuild
        self.chain, self.clock = chain_of(*self.embedders, made=made, rebuild=rebuild)

    @rule()
    def get_ready(self):
        before = self.chain.model
        try:
            self.loop.run_until_complete(self.chain.ready())
        except EmbedderError as error:
            assert str(error)
            assert self.chain.model == before
        else:
            order = ["big", "middle", "little"]
            if before and not self.rebuild:
                assert order.index(self.chain.model) <= order.index(before)

    @precondition(lambda self: self.chain.model)
    @rule()
    def embed(self):
        before = (self.chain.model, self.chain.dimensions)
        try:
            vectors = self.loop.run_until_complete(self.chain.embed(["a", "b"], "query"))
        except EmbedderError as error:
            assert str(error)
        else:
            maker = self.embedders[int(vectors[0, 0]) - 1]
            assert (maker.model, maker.dimensions) == before
        assert (self.chain.model, self.chain.dimensions) == before

    @invariant()
    def the_reason_is_that_of_those_that_fail(self):
        assert self.chain.reason == " ".join(link.why for link in self.chain._links if link.why)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=30)
