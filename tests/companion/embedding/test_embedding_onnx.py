"""Local models on onnxruntime: ranks of full precision are numpy's, 8 bits are near, and nothing is written or sent."""

import asyncio
import os
import random
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.engines import onnx_engine
from engram_host.companion.embedding.engines.engine import Engine, NumpyEngine, Precision
from engram_host.companion.embedding.engines.onnx_engine import OnnxEngine, make_engine, missing_onnx
from engram_host.companion.embedding.local_embedder import LocalEmbedder, LocalModel
from engram_host.companion.embedding.minilm import MiniLm
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.vector_types import Vector
from extent import extent
from one_case import in_one_case

MODELS = (MiniLm, MultilingualE5)
PRECISIONS: tuple[Precision, ...] = ("full", "int8")

EPSILON = 2e-5
"""Two scores that differ by more than this have the same order in both engines."""

SUBJECTS = ["my sister", "the plumber", "our neighbour", "Dr Weber", "the cat", "a colleague", "Ann", "the old boiler"]
VERBS = ["repaired", "sold", "forgot", "painted", "likes", "brought back", "is afraid of", "talked about"]
OBJECTS = ["the red bicycle", "a kettle", "the garden fence", "bus number four", "Chinese tea", "the wedding", "电影"]
TIMES = ["", "last Tuesday", "before the storm", "in May", "while the children were asleep and nobody else was home"]


def sentences(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(map(chance.choice, (SUBJECTS, VERBS, OBJECTS, TIMES))).strip() for _ in range(count)]


def embedder_of(model: type[LocalModel], engine: Engine) -> LocalEmbedder:
    return LocalEmbedder(model(), 2, engine)


def embed(embedder: LocalEmbedder, texts: list[str]) -> Vector:
    return asyncio.run(embedder.embed(texts, "passage"))


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which each graph is built once."""
    return tmp_path_factory.mktemp("graphs")


@pytest.mark.shortened
@in_one_case("model", MODELS)
def test_full_precision_ranks_passages_as_numpy_does(graphs: Path, model: type[LocalModel]):
    passages, queries = sentences(extent(300, 40), 1), [f"Who {text}?" for text in sentences(extent(40, 10), 2)]
    scores = []
    for engine in (NumpyEngine(), OnnxEngine(graphs, "full")):
        embedder = embedder_of(model, engine)
        asked = asyncio.run(embedder.embed(queries, "query"))
        scores.append(asked @ embed(embedder, passages).T)
    expected, found = scores
    order = np.argsort(-found, axis=1, kind="stable")
    ranked = np.take_along_axis(expected, order, axis=1)
    # The most that a passage scores, in numpy, above the best of those that onnxruntime ranks before it.
    assert (ranked - np.minimum.accumulate(ranked, axis=1)).max() <= EPSILON


@pytest.mark.shortened
@in_one_case("model", MODELS)
def test_vectors_of_8_bits_are_near_those_of_full_precision(graphs: Path, model: type[LocalModel]):
    texts = sentences(extent(100, 40), 3)
    full, whole = (embed(embedder_of(model, OnnxEngine(graphs, precision)), texts) for precision in PRECISIONS)
    assert (full * whole).sum(axis=1).min() > 0.98


@pytest.fixture(scope="module", params=PRECISIONS)
def embedder(request: pytest.FixtureRequest, graphs: Path) -> LocalEmbedder:
    return embedder_of(MiniLm, OnnxEngine(graphs, request.param))


TEXTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=40), min_size=1, max_size=12)


@settings(max_examples=10)
@given(texts=TEXTS, data=st.data())
def test_a_vector_does_not_depend_on_the_texts_beside_it(
    embedder: LocalEmbedder, texts: list[str], data: st.DataObject
):
    order = data.draw(st.permutations(range(len(texts))))
    vectors = embed(embedder, texts)
    np.testing.assert_allclose(embed(embedder, [texts[index] for index in order]), vectors[order], atol=2e-6)


@in_one_case("text", ["", " ", "\0", "\ud800", "x" * 20_000, "汉" * 20_000, "\u200b\u00ad"])
def test_any_text_has_a_vector(embedder: LocalEmbedder, text: str):
    assert np.isfinite(embed(embedder, [text])).all()


NOTHING_WRITTEN = """
import os, sys, asyncio
from pathlib import Path
from engram_host.companion.embedding.engines.onnx_engine import OnnxEngine
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.minilm import MiniLm
embedder = LocalEmbedder(MiniLm(), 2, OnnxEngine(None, "int8"))
print(asyncio.run(embedder.embed(["a", "longer text"], "passage")).shape)
"""


def test_importing_and_running_onnxruntime_writes_no_file_and_opens_no_socket(tmp_path: Path):
    folders = {
        name: tmp_path / name
        for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "cwd")
    }
    for folder in folders.values():
        folder.mkdir()
    variables = {name: str(folder) for name, folder in folders.items() if name != "cwd"}
    path = ":".join(place for place in sys.path if place)
    done = subprocess.run(
        [sys.executable, "-c", f"{NOTHING_WRITTEN}\nprint(os.popen(f'ls -l /proc/{{os.getpid()}}/fd').read())"],
        capture_output=True,
        text=True,
        cwd=folders["cwd"],
        env={**variables, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]},
        timeout=60,
    )
    assert done.stdout.startswith("(2, 384)"), done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert "socket:" not in done.stdout


def without(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]) -> None:
    """Let only these packages be installed, in these versions."""

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)


@in_one_case("versions", [{}, {"onnxruntime": "1.27.0"}, {"onnx": "1.23.2"}])
def test_without_the_extra_numpy_is_used_or_the_command_is_named(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str]
):
    without(monkeypatch, versions)
    assert make_engine("auto", None, "full").name == "numpy"
    with pytest.raises(EmbedderRefused, match=r"pip install 'engram-mcu\[onnx\]'"):
        embed(embedder_of(MiniLm, make_engine("onnx", None, "full")), ["a"])


@in_one_case("version, is_used", [("1.22.1", True), ("1.27.9", True), ("1.28.0", False), ("2.0", False)])
def test_a_version_that_writes_telemetry_files_is_not_used(
    monkeypatch: pytest.MonkeyPatch, version: str, is_used: bool
):
    without(monkeypatch, {"onnxruntime": version, "onnx": "1.23.2"})
    assert (missing_onnx() == "") is is_used
    assert make_engine("auto", None, "full").name == ("onnxruntime in full precision" if is_used else "numpy")


def test_numpy_takes_over_where_onnxruntime_refuses_the_graph(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(OnnxEngine, "_build", lambda engine, parts: b"no graph")
    embedder = embedder_of(MiniLm, make_engine("auto", None, "full"))
    expected = embed(embedder_of(MiniLm, NumpyEngine()), ["a"])
    np.testing.assert_array_equal(embed(embedder, ["a"]), expected)
    assert embedder.engine == "numpy"


def test_a_chosen_engine_that_refuses_the_graph_is_not_replaced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(OnnxEngine, "_build", lambda engine, parts: b"no graph")
    with pytest.raises(EmbedderRefused, match="onnxruntime does not run the local model"):
        embed(embedder_of(MiniLm, make_engine("onnx", None, "full")), ["a"])


def test_a_graph_that_is_kept_is_opened_without_building_it(graphs: Path, monkeypatch: pytest.MonkeyPatch):
    expected = embed(embedder_of(MiniLm, OnnxEngine(graphs, "int8")), ["a text"])
    monkeypatch.setattr(onnx_engine.OnnxEngine, "_build", lambda engine, parts: pytest.fail("it is built again"))
    np.testing.assert_array_equal(embed(embedder_of(MiniLm, OnnxEngine(graphs, "int8")), ["a text"]), expected)
