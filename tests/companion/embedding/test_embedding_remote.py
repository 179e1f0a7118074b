"""Remote embedders against a service that checks every request, and that fails in all the ways that services do."""

import asyncio
import gc
import logging
import warnings
from collections.abc import Iterator

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedding_service import KEY, MODEL, WIDTH, EmbeddingService, direction
from engram_host.companion.embedding import remote
from engram_host.companion.embedding.remote import RemoteEmbedder
from engram_host.companion.errors import EmbedderError, EmbedderRefused, EmbedderUnavailable
from engram_host.companion.settings import EmbeddingSettings
from official_clients import openai
from one_case import in_one_case
from waiting import SECONDS

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module", autouse=True)
def _others_garbage() -> None:
    """What other tests of the worker have left unclosed goes before, so that it is not found here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture
def peer() -> Iterator[EmbeddingService]:
    with EmbeddingService() as running:
        yield running


class Waits(list):
    """Stands for asyncio.sleep: notes how long, and does not wait."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def embed(embedder, texts, kind="passage"):
    async def work():
        try:
            return await embedder.embed(texts, kind)
        finally:
            await embedder.close()

    return asyncio.run(work())


def remote_embedder(peer, key=KEY, waits=None, **more) -> RemoteEmbedder:
    asked = {"base_url": peer.url, "api_key": key, "model_name": MODEL, "timeout_seconds": int(SECONDS), **more}
    return RemoteEmbedder(EmbeddingSettings(**asked), waits if waits is not None else Waits())


TEXTS = ["one", "two", "three", "four", "five"]


@in_one_case("batch_size", [1, 2, 64])
def test_each_text_gets_its_own_vector_of_length_1(peer, batch_size):
    vectors = embed(remote_embedder(peer, batch_size=batch_size), TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [direction(text) for text in TEXTS], atol=1e-6)


def test_no_request_has_more_texts_than_the_batch_size(peer):
    embed(remote_embedder(peer, batch_size=2), TEXTS)
    assert [request["input"] for request in peer.requests] == [TEXTS[:2], TEXTS[2:4], TEXTS[4:]]


def test_dimensions_are_sent_only_if_that_is_set(peer):
    embed(remote_embedder(peer, dimensions=WIDTH), ["a"])
    assert embed(remote_embedder(peer, dimensions=4, use_dimensions=True), ["a"]).shape == (1, 4)
    assert [request.get("dimensions") for request in peer.requests] == [None, 4]


def test_dimensions_are_learnt_from_the_first_answer(peer):
    embedder = remote_embedder(peer)
    embed(embedder, ["a"])
    assert (embedder.model, embedder.dimensions) == (MODEL, WIDTH)


def test_being_ready_asks_once_and_sends_nothing_of_anybody(peer):
    async def twice():
        embedder = remote_embedder(peer)
        await embedder.ready()
        await embedder.ready()
        await embedder.close()

    asyncio.run(twice())
    assert [request["input"] for request in peer.requests] == [["ready"]]


@settings(max_examples=10)
@given(texts=st.lists(st.text(st.characters(exclude_categories=())), max_size=5))
def test_any_text_can_be_sent(texts):
    with EmbeddingService() as peer:
        assert len(embed(remote_embedder(peer), texts)) == len(texts)


@in_one_case("fault", [408, 425, 429, 500, 502, 503, 529, "cut"])
def test_what_may_pass_is_tried_again(peer, fault):
    before = len(peer.requests)
    peer.faults.append(fault)
    np.testing.assert_allclose(embed(remote_embedder(peer), ["a"]), [direction("a")], atol=1e-6)
    assert len(peer.requests) == before + 2


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(peer, monkeypatch):
    peer.faults.append("slow")
    monkeypatch.setattr(remote, "RETRIES", 99)
    asked = remote_embedder(peer, timeout_seconds=0.5)
    np.testing.assert_allclose(embed(asked, ["a"]), [direction("a")], atol=1e-6)
    assert len(peer.requests) >= 2


def test_a_text_that_is_slow_once_is_asked_for_again_and_not_cut(peer):
    peer.faults.append("slow")
    long = "word " * 60
    np.testing.assert_allclose(embed(remote_embedder(peer, timeout_seconds=0.5), [long]), [direction(long)], atol=1e-6)
    assert [request["input"] for request in peer.requests] == [[long], ["ready"], [long]]


def test_a_batch_that_takes_too_long_is_halved_and_later_ones_begin_smaller(peer, monkeypatch):
    monkeypatch.setattr(remote, "QUICK_SHARE", 0)
    peer.most_in_time = 2
    embedder = remote_embedder(peer, timeout_seconds=0.5)
    np.testing.assert_allclose(embed(embedder, TEXTS), [direction(text) for text in TEXTS], atol=1e-6)
    embed(embedder, TEXTS)
    assert [len(request["input"]) for request in peer.requests] == [5, 1, 2, 3, 1, 1, 2, 2, 2, 1]


def test_a_service_that_answers_nothing_is_not_asked_for_halves(peer):
    peer.most_in_time = 0
    with pytest.raises(EmbedderUnavailable, match="did not answer in time"):
        embed(remote_embedder(peer, timeout_seconds=0.5), TEXTS)
    assert [len(request["input"]) for request in peer.requests] == [5, 1, 1, 1, 1]


@in_one_case("status", [400, 500])
def test_a_text_beyond_the_service_is_cut_and_the_others_stay_whole(peer, status, caplog):
    caplog.set_level(logging.INFO, "engram.embedding")
    peer.longest = status, 600
    long = "word " * 400
    vectors = embed(remote_embedder(peer), ["a", long, "b"])
    wanted = ["a", long[:500], "b"]
    np.testing.assert_allclose(vectors, [direction(text) for text in wanted], atol=1e-6)
    assert "cut a text of 1000 characters to 500" in caplog.text


def test_a_service_that_says_how_long_to_wait_is_heeded(peer):
    peer.faults.append((429, {"Retry-After": "7"}))
    waits = Waits()
    embed(remote_embedder(peer, waits=waits), ["a"])
    assert waits == [7]


def test_a_service_that_wants_a_long_wait_is_left_alone(peer):
    peer.faults.append((429, {"Retry-After": "3600"}))
    with pytest.raises(EmbedderUnavailable, match="429"):
        embed(remote_embedder(peer), ["a"])
    assert len(peer.requests) == 1


@in_one_case("kind, attempts", [("passage", 4), ("query", 2)])
def test_attempts_end_sooner_for_a_query(peer, kind, attempts):
    before = len(peer.requests)
    peer.faults.extend([500] * attempts)
    with pytest.raises(EmbedderUnavailable, match="500"):
        embed(remote_embedder(peer), ["a"], kind)
    assert len(peer.requests) == before + attempts


@in_one_case("fault", ["few", "wide", "nan", "zero", "words", "twice"])
def test_a_wrong_answer_is_refused_whole(peer, fault):
    peer.faults.append(fault)
    with pytest.raises(EmbedderRefused):
        embed(remote_embedder(peer, dimensions=WIDTH), ["a", "b"])


@in_one_case("status", [301, 400, 401, 403, 404, 413, 422])
def test_what_cannot_pass_is_tried_once_and_keeps_its_status(peer, status):
    before = len(peer.requests)
    peer.faults.append(status)
    with pytest.raises(EmbedderRefused) as caught:
        embed(remote_embedder(peer), ["a"])
    assert (caught.value.status, len(peer.requests)) == (status, before + 1)


def test_a_service_that_is_not_there_is_unavailable():
    embedder = RemoteEmbedder(EmbeddingSettings(base_url="http://127.0.0.1:9/v1"), Waits())
    with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1 cannot be reached"):
        embed(embedder, ["a"])


@in_one_case("fault", [400, 401, 429, 500, "words", "cut"])
def test_the_key_is_in_no_error_and_no_log(peer, fault, caplog):
    peer.faults.clear()
    peer.faults.extend([fault] * 9)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(EmbedderError) as caught:
        embed(remote_embedder(peer), ["a"])
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    told = "".join(f"{one}{one!r}{getattr(one, '__dict__', '')}" for one in chain)
    assert KEY not in told
    assert KEY not in caplog.text


def test_requests_are_those_of_the_official_client(peer):
    embed(remote_embedder(peer, dimensions=4, use_dimensions=True), ["a", "b"])
    http_client = httpx.Client()
    # Where httpx2 is there, the client's types name that one; it takes either.
    client = openai.OpenAI(api_key=KEY, base_url=peer.url, http_client=http_client)  # pyright: ignore[reportArgumentType]
    client.embeddings.create(model=MODEL, input=["a", "b"], dimensions=4, encoding_format="float")
    client.close()
    ours, official = peer.requests[-2:]
    assert ours == official
