"""Embedders that compute on this machine: no key, no internet.

What differs between two models, LocalModel says: its name, its files, how it cuts a text. What runs it is an Engine. The rest
is the same for all: threads, batches, and the checks. The model is loaded at the first use, in a thread of its own.
"""

import asyncio
import contextlib
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from engram_host.companion.embedding.embedder import Kind, encodable, normalize
from engram_host.companion.embedding.engines.engine import Encoder, Engine, ModelParts, NumpyEngine
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.vector_types import Vector

_log = logging.getLogger("engram.embedding")

MOST_CHARACTERS = 16384
"""Characters that are cut into word pieces: bounds the work on a text whose beginning is all that the model reads."""

_BATCH_TOKENS = 512
"""Tokens that go through the model at once: bounds what a batch takes, about 10 MB, and keeps it near the cache."""


_NICENESS = 10
"""Of the threads that embed passages: a search gets the processor before them."""


@dataclass(frozen=True)
class _LoadedModel:
    """A model that can be asked."""

    tokens: Callable[[str, Kind], list[int]]
    encode: Encoder


class LocalModel(Protocol):
    """A model whose files are on this machine."""

    name: str
    dimensions: int

    def folder(self) -> Path:
        """Where its files are, not checked; EmbedderRefused if they are not installed."""
        ...

    def check(self, folder: Path) -> None:
        """Read the files to their end; EmbedderRefused if one is not the expected one."""
        ...

    def load(self, folder: Path) -> ModelParts:
        """Read them; EmbedderRefused if they are not whole."""
        ...


def find_model(package: str, names: Sequence[str], install: str, inner: str = "") -> Path:
    """Where a package that is never imported keeps the files `names`; EmbedderRefused, saying `install`, if it does not."""
    found = importlib.util.find_spec(package)
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / inner
        if all((folder / name).is_file() for name in names):
            return folder
    raise EmbedderRefused(f"the local embedding model is not installed: {install}.")


def is_installed(model: LocalModel) -> bool:
    """Whether the model's files are there; not whether they are the right ones."""
    try:
        model.folder()
    except EmbedderRefused:
        return False
    return True


class LocalEmbedder:
    """A local model in worker threads; it is loaded at the first use."""

    def __init__(self, model: LocalModel, threads: int = 1, engine: Engine | None = None):
        """`threads`: batches of passages that are computed at a time, one for each core at most; a query never waits for them.
        Without `engine` numpy runs the model.
        """
        self._model = model
        self._engine = engine or NumpyEngine()
        self._threads = min(threads, os.cpu_count() or 1)
        self._passages = ThreadPoolExecutor(self._threads, "embed-passages", _give_way)
        self._queries = ThreadPoolExecutor(1, "embed-query")
        self._loading = threading.Lock()
        self._loaded: _LoadedModel | None = None
        self._is_refusal_logged = False

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def engine(self) -> str:
        """What runs the model, for a person."""
        return self._engine.name

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

    def _load(self) -> _LoadedModel:
        with self._loading:
            if self._loaded is None:
                parts = self._model.load(self._checked_folder())
                self._loaded = _LoadedModel(parts.tokens, self._engine.encoder(self.model, parts))
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
        tokens = self._load().tokens
        return [tokens(encodable(text[:MOST_CHARACTERS]), kind) for text in texts]

    def _vectors(self, pieces: Sequence[Sequence[int]]) -> Vector:
        return self._load().encode(pieces)


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
