"""Embedders that compute on this machine: no key, no internet.

What differs between two models, LocalModel says: its name, its files, its tokens. The rest is the same for all: threads,
batches, and the checks. The model is loaded at the first use, in a thread of its own.
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

from engram_host.companion.embedding.embedder import Kind, encodable, normalize
from engram_host.companion.embedding.local_model import LocalModel, ModelParts
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.vector_types import Vector
from engram_host.extras import missing_package

if TYPE_CHECKING:
    from engram_host.companion.embedding.encoder import Encoder

_log = logging.getLogger("engram.embedding")

MOST_CHARACTERS = 16384
"""Characters that are cut into word pieces: bounds the work on a text whose beginning is all that the model reads."""

_BATCH_TOKENS = 512
"""Tokens that go through the model at once: bounds what a batch takes, about 10 MB, and keeps it near the cache."""


_NICENESS = 10
"""Of the threads that embed passages: a search gets the processor before them."""


class LocalEmbedder:
    """A local model in worker threads; it is loaded at the first use."""

    def __init__(self, model: LocalModel, threads: int = 1, graphs: Path | None = None):
        """`threads`: batches of passages that are computed at a time, one for each core at most; a query never waits for them.
        `graphs` is the folder that keeps the model's graph; without one it is built at each start.
        """
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
        """The model's name."""
        return self._model.name

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return self._model.dimensions

    async def ready(self) -> None:
        """Load the model; EmbedderRefused if it is not installed, or is not the expected one."""
        await asyncio.get_running_loop().run_in_executor(self._queries, self._load)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        """See Embedder."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        loop = asyncio.get_running_loop()
        pool = self._queries if kind == "query" else self._passages
        pieces = await loop.run_in_executor(pool, self._tokens, texts, kind)
        order = sorted(range(len(pieces)), key=lambda index: len(pieces[index]))
        batches = list(_batches(order, pieces))
        free = asyncio.Semaphore(self._threads)  # of one call no more wait in the pool: a short call passes a long one

        async def encode(batch: list[int]) -> Vector:
            async with free:
                return await loop.run_in_executor(pool, self._vectors, [pieces[index] for index in batch])

        parts = await asyncio.gather(*map(encode, batches))
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for batch, part in zip(batches, parts, strict=True):
            vectors[batch] = part
        return normalize(vectors, len(texts), self.dimensions, "the local model")

    async def close(self) -> None:
        """Let the threads and the model go."""
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
        """Where the model's files are, which have been checked; a refusal is logged once, and raised at each attempt."""
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
    """Give this thread less of the processor than others, where the system has priorities of threads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _batches(order: Sequence[int], pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """`order`, from the shortest to the longest, in runs of at most _BATCH_TOKENS tokens if each is padded to the longest; a
    longer text would be a run of its own.
    """
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * len(pieces[index]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    yield batch
