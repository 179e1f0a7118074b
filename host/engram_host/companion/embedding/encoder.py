"""Runs a local model in onnxruntime, on a graph that is built from the model's weights once.

A session runs in the thread that calls it and has no threads of its own: a query's thread and those
of passages share one session and never wait for each other.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnxruntime

from engram_host.companion.embedding.local_model import ModelParts, RowsOnDisk
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.store.vectors import Vector

_log = logging.getLogger("engram.embedding")

_GRAPH_VERSION = 2
"""Version of the graphs; increase it with each change of bert_graph.py."""

_ERRORS_ONLY = 3


class Encoder:
    def __init__(self, graph: Path | bytes, words: RowsOnDisk):
        """`words` has the words' vectors. Raises EmbedderRefused if onnxruntime refuses the graph."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # it plans for one shape, but batches differ
        options.log_severity_level = _ERRORS_ONLY
        # No optimizer: it would fuse Gelu into an operator that is half as fast.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no base class of their own
            raise EmbedderRefused(f"onnxruntime does not run the local model ({error}).") from error
        self._words = words

    def __call__(self, texts: Sequence[Sequence[int]]) -> Vector:
        """Return a vector for each text, not normalized; each needs at least one token."""
        lengths = np.array([len(text) for text in texts], np.int32)
        longest = int(lengths.max())
        ids = np.zeros((len(texts), longest), np.intp)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text)] = text
        words = self._words[ids.reshape(-1)].reshape(len(texts), longest, -1)
        is_token = np.arange(longest) < lengths[:, None]
        shares = (is_token / lengths[:, None]).astype(np.float32)[:, None]
        (vectors,) = self._session.run(None, {"words": words, "lengths": lengths, "shares": shares})
        return np.asarray(vectors, np.float32)


def open_encoder(name: str, parts: ModelParts, folder: Path | None) -> Encoder:
    path = folder / f"{name}-{_GRAPH_VERSION}-{parts.digest[:12]}.onnx" if folder else None
    if path and path.exists():
        with suppress(EmbedderRefused):  # damaged: build the graph again
            return Encoder(path, parts.words)
    # Only this needs the package onnx.
    from engram_host.companion.embedding.bert_graph import build_graph

    graph = build_graph(parts)
    encoder = Encoder(graph, parts.words)
    if path:
        try:
            _keep(graph, path, name)
        except OSError as error:
            _log.warning("the graph %s cannot be kept (%s), so it is built at each start", path, error.strerror)
    return encoder


def _keep(graph: bytes, path: Path, name: str) -> None:
    """Write a graph, replacing the model's former ones; raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_bytes(graph)
    draft.replace(path)
    for former in path.parent.glob(f"{name}-*"):
        if former != path:
            former.unlink(missing_ok=True)
