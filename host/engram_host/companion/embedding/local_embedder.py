"""Embedders on this machine: no key, no internet.

A LocalModel has a model's name, files and tokens. Threads, batches and checks are the same for all models. The model is
loaded at the first use, in its own thread.
"""

import asyncio
import contextlib
import logging
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engram_host.companion.embedding.e5 import MultilingualE5
from engram_host.companion.embedding.embedder import Embedder, Kind, encodable, normalize
from engram_host.companion.embedding.local_model import LocalModel, ModelParts
from engram_host.companion.embedding.minilm import MiniLm
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.store.vectors import Vector
from engram_host.extras import missing_package

if TYPE_CHECKING:
    from engram_host.companion.embedding.encoder import Encoder

_log = logging.getLogger("engram.embedding")

MOST_CHARACTERS = 16384

_BATCH_TOKENS = 256
"""Tokens per run: bounds its memory to about 8 MB, near the cache's size."""


_NICENESS = 10
"""Priority of the threads for passages: searches go first."""


class LocalEmbedder:
    """A local model in worker threads; it is loaded at the first use."""

    def __init__(self, model: LocalModel, threads: int = 1, graphs: Path | None = None):
        """`threads` is the number of concurrent batches of passages; a query never waits for them."""
        self._model = model
        self._graphs = graphs
        self._threads = min(threads, os.cpu_count() or 1)
        self._passages = ThreadPoolExecutor(self._threads, "embed-passages", _give_way)
        self._queries = ThreadPoolExecutor(1, "embed-query")
        self._loading = threading.Lock()
        self._loaded: tuple[ModelParts, Encoder] | None = None
        self._is_refusal_logged = False

    @property
    def model(self) -> str:
        return self._model.name

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    async def ready(self) -> None:
        """Load the model; raises EmbedderRefused if it is missing or not the expected one."""
        await asyncio.get_running_loop().run_in_executor(self._queries, self._load)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        loop = asyncio.get_running_loop()
        pool = self._queries if kind == "query" else self._passages
        pieces = await loop.run_in_executor(pool, self._tokens, texts, kind)
        order = sorted(range(len(pieces)), key=lambda index: len(pieces[index]))
        batches = list(_batches(order, pieces))
        free = asyncio.Semaphore(
            self._threads
        )  # limits a call's queued batches, so that a short call overtakes a long one

        async def encode(batch: list[int]) -> Vector:
            async with free:
                return await loop.run_in_executor(pool, self._vectors, [pieces[index] for index in batch])

        parts = await asyncio.gather(*map(encode, batches))
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for batch, part in zip(batches, parts, strict=True):
            vectors[batch] = part
        return normalize(vectors, len(texts), self.dimensions, "the local model")

    async def close(self) -> None:
        for pool in (self._passages, self._queries):
            pool.shutdown(wait=False, cancel_futures=True)
        self._loaded = None

    def _load(self) -> "tuple[ModelParts, Encoder]":
        with self._loading:
            if self._loaded is None:
                folder = self._checked_folder()
                try:
                    from engram_host.companion.embedding.encoder import open_encoder

                    parts = self._model.load(folder)
                    self._loaded = parts, open_encoder(self.model, parts, self._graphs)
                except ImportError as missing:
                    raise EmbedderRefused(missing_package(missing.name)) from None
            return self._loaded

    def _checked_folder(self) -> Path:
        """Return the checked folder of the model; logs a refusal once, raises it each time."""
        try:
            folder = self._model.folder()
            self._model.check(folder)
        except EmbedderRefused as refused:
            if not self._is_refusal_logged:
                _log.warning("%s", refused)
            self._is_refusal_logged = True
            raise
        return folder

    def _tokens(self, texts: Sequence[str], kind: Kind) -> list[list[int]]:
        parts, _ = self._load()
        return [parts.tokens(encodable(text[:MOST_CHARACTERS]), kind) for text in texts]

    def _vectors(self, pieces: Sequence[Sequence[int]]) -> Vector:
        _, encode = self._load()
        return encode(pieces)


def _give_way() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _batches(order: Sequence[int], pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Split `order`, shortest first, into runs of at most _BATCH_TOKENS padded tokens."""
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * len(pieces[index]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    yield batch


# --- the models by their names in settings


LOCAL = "local"

_MODELS: dict[str, type[LocalModel]] = {"minilm": MiniLm, "e5": MultilingualE5}
"""Models, the more accurate ones first (docs/design/retrieval.md)."""


def local_models(name: str) -> list[LocalModel]:
    """Return the named models; of "local" the installed ones, best first, or the best."""
    if name != LOCAL:
        return [_MODELS[name]()]
    every = [model() for model in _MODELS.values()]
    return [model for model in every if model.is_installed] or every[:1]


def local_embedders(names: Sequence[str], threads: int, graphs: Path | None) -> list[Embedder]:
    """Return an embedder for each named model, without repeats."""
    models = {model.name: model for name in names for model in local_models(name)}
    return [LocalEmbedder(model, threads, graphs) for model in models.values()]
