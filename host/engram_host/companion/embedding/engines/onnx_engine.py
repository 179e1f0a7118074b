"""Runs a model in onnxruntime, on a graph that is built from the model's weights once (graph.py, graph_files.py).

A session runs in the thread that calls it and has no threads of its own: a query's thread and those of passages share one
session and never wait for each other.
"""

import hashlib
import logging
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from engram_host.companion.embedding.engines.engine import Encoder, Engine, ModelParts, NumpyEngine, Precision
from engram_host.companion.embedding.engines.graph_files import GRAPH_VERSION, GraphFiles
from engram_host.companion.embedding.transformer import position_table
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.vector_types import Vector
from engram_host.extras import install_command

_log = logging.getLogger("engram.embedding")

_PACKAGES = ("onnxruntime", "onnx")
_FIRST_REFUSED = (1, 28)
"""onnxruntime 1.29 and newer write telemetry files when they are imported; 1.28 was not tried."""

_ERRORS_ONLY = 3

_PRECISIONS: dict[Precision, str] = {"full": "full precision", "int8": "8 bits"}


def missing_onnx() -> str:
    """Why onnxruntime cannot be used, "" if it can; nothing is imported."""
    try:
        version, _ = (metadata.version(package) for package in _PACKAGES)
    except metadata.PackageNotFoundError as missing:
        return f"the package {missing.name} is not installed: {install_command('onnx')}."
    if tuple(int(part) for part in version.split(".")[:2]) >= _FIRST_REFUSED:
        install = install_command("onnx")
        return f"onnxruntime {version} is not used, since versions after 1.27 may write telemetry files: {install}."
    return ""


class OnnxEngine:
    """onnxruntime on the processor."""

    def __init__(self, folder: Path | None, precision: Precision):
        """Graphs are kept in `folder`, or built at each start if it is None."""
        self._files = GraphFiles(folder)
        self._precision: Precision = precision

    @property
    def name(self) -> str:
        """See Engine."""
        return f"onnxruntime in {_PRECISIONS[self._precision]}"

    def encoder(self, model: str, parts: ModelParts) -> Encoder:
        """See Engine. EmbedderRefused if onnxruntime is missing or cannot run the graph."""
        problem = missing_onnx()
        if problem:
            raise EmbedderRefused(problem)
        key = hashlib.sha256(f"{parts.digest} {parts.heads} {GRAPH_VERSION}".encode()).hexdigest()[:16]
        graph = self._files.open(f"{model}-{self._precision}", key, lambda: self._build(parts))
        return OnnxEncoder(graph, parts.weights)

    def _build(self, parts: ModelParts) -> bytes:
        from engram_host.companion.embedding.engines.graph import build_graph  # onnx is needed for this only

        return build_graph(parts.weights, parts.heads, self._precision)


class OnnxEncoder:
    """See Encoder."""

    def __init__(self, graph: bytes, weights: Any):
        """`weights` has the vectors of words and of places. EmbedderRefused."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # it plans for one shape, and nearly each batch has another
        options.log_severity_level = _ERRORS_ONLY
        # The graph has the operators that are wanted: the optimizer would fuse Gelu into one that is half as fast.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no base class of their own
            raise EmbedderRefused(f"onnxruntime does not run the local model ({error}).") from error
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = position_table(weights)

    def __call__(self, texts: Sequence[Sequence[int]]) -> Vector:
        lengths = np.array([len(text) for text in texts], np.int32)
        longest = int(lengths.max())
        ids = np.zeros((len(texts), longest), np.intp)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text)] = text
        hidden = self._words[ids.reshape(-1)].reshape(len(texts), longest, -1) + self._places[:longest]
        is_token = np.arange(longest) < lengths[:, None]
        shares = (is_token / lengths[:, None]).astype(np.float32)[:, None]
        (vectors,) = self._session.run(None, {"hidden": hidden, "lengths": lengths, "shares": shares})
        return np.asarray(vectors, np.float32)


class FirstUsableEngine:
    """onnxruntime, or numpy where that is missing or fails."""

    def __init__(self, folder: Path | None, precision: Precision):
        """See OnnxEngine."""
        self._engine: Engine = NumpyEngine() if missing_onnx() else OnnxEngine(folder, precision)

    @property
    def name(self) -> str:
        """See Engine."""
        return self._engine.name

    def encoder(self, model: str, parts: ModelParts) -> Encoder:
        """See Engine."""
        try:
            return self._engine.encoder(model, parts)
        except EmbedderRefused as refused:
            _log.warning("numpy runs the local model, since %s", refused)
            self._engine = NumpyEngine()
            return self._engine.encoder(model, parts)


def make_engine(name: str, folder: Path | None, precision: str) -> Engine:
    """The engine of the settings `embedding.engine` and `embedding.precision`; graphs are kept in `folder`, if there is one."""
    if name == "numpy":
        return NumpyEngine()
    onnx_precision: Precision = "int8" if precision == "int8" else "full"
    return OnnxEngine(folder, onnx_precision) if name == "onnx" else FirstUsableEngine(folder, onnx_precision)
