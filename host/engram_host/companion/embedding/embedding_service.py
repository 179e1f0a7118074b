"""The embedder of the settings, and the background task that embeds new lines."""

import asyncio
import logging
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np

from engram import log_line
from engram_host.companion.embedding.embedder import CachedEmbedder, Embedder, FallbackEmbedder, NoEmbedder
from engram_host.companion.embedding.indexer import EmbeddingIndexer, read_index
from engram_host.companion.entries.lines import KEY_VERSION, embedding_text
from engram_host.companion.errors import EmbedderError, EmbedderUnavailable
from engram_host.companion.search.view import QueryVector
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.processes import Lease
from engram_host.companion.store.values import ValueTable
from engram_host.companion.store.vectors import Identity, Vector, VectorTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.types import Change, Device

GRAPHS = "graphs"


def make_embedder(
    settings: EmbeddingSettings,
    *,
    values: ValueTable,
    vectors: VectorTable,
    key_version: int,
    graphs: Path | None = None,
) -> CachedEmbedder | FallbackEmbedder | NoEmbedder:
    provider = settings.provider
    if provider == "none":
        return NoEmbedder()
    if provider == "auto":
        provider = "openai" if settings.is_remote_set else "local"
    is_remote = provider == "openai"
    links: list[Embedder] = []
    if is_remote:
        # Only this needs an HTTP client.
        from engram_host.companion.embedding.remote import RemoteEmbedder

        links.append(RemoteEmbedder(settings))
    names = _local_names(settings, "" if is_remote else provider)
    if names:
        # numpy is loaded only where a vector is made.
        from engram_host.companion.embedding.local_embedder import local_embedders

        links += local_embedders(names, settings.threads, graphs)
    made = read_index(values).made
    chain = FallbackEmbedder(links, settings, (made.model, made.dimensions) if made else None)
    return CachedEmbedder(chain, vectors, key_version, queries=settings.cache_size) if settings.cache else chain


def _local_names(settings: EmbeddingSettings, local: str) -> list[str]:
    own = [local] if local else []
    if local == "minilm" or settings.fallback in ("none", local):
        return own
    return [*own, settings.fallback]


# --- the service


_log = logging.getLogger("engram.meaning")

OFF = "off: embedding.provider is none"

LONGEST_PAUSE = 300.0
"""Longest pause in seconds after an unknown error: each attempt may cost money."""

# What a model finds near in a language that it does not know says nothing, and unrelated texts have a cosine of .05 with
# some models, .8 with others. So a query is compared with sentences that have nothing to do with it, of its language too.

UNRELATED = (resources.files("engram_host.companion.embedding") / "unrelated.txt").read_text("utf-8").splitlines()

_NEAREST = 3
"""Place of the unrelated sentence whose cosine is a query's floor: one or two may be of its subject by chance."""


class EmbeddingService:
    def __init__(
        self,
        *,
        boards: BoardTable,
        values: ValueTable,
        vectors: VectorTable,
        settings: EmbeddingSettings,
        supervisor: Supervisor,
        failed: Callable[[str], None] = lambda work: None,
        graphs: Path | None = None,
        lease: Lease | None = None,
    ):
        """`failed("index")` or `failed("query")` is called in the loop if no vector was made."""
        self._embedder = make_embedder(settings, values=values, vectors=vectors, key_version=KEY_VERSION, graphs=graphs)
        self._is_off = isinstance(self._embedder, NoEmbedder)
        self._backlog = EmbeddingIndexer(
            boards=boards,
            values=values,
            vectors=vectors,
            embedder=self._embedder,
            text_of=text_of_change,
            key_version=KEY_VERSION,
            prepare=self._embed_unrelated,
            failed=lambda: failed("index"),
            lease=lease,
        )
        self.wake = self._backlog.wake
        self._failed = failed
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None
        self._unrelated: Vector = np.empty((0, 0), np.float32)

    def start(self) -> None:
        if not self._is_off:
            self._task = self._supervisor.start("embedding", self._backlog.run, longest_pause=LONGEST_PAUSE)

    async def stop(self) -> None:
        if self._task:
            await self._task.stop()
            self._backlog.stop()
        await self._embedder.close()

    @property
    def identity(self) -> Identity | None:
        """Identity of the vectors for searches; None while searches use words only."""
        return self._backlog.identity

    @property
    def changes_left(self) -> int:
        """Number of changed lines not yet checked."""
        return self._backlog.left

    @property
    def problem(self) -> str:
        """Reason for searches by words only, "" if all is well or still starting."""
        if self._is_off or self._backlog.is_starting:
            return ""
        return self._backlog.trouble or self._embedder.reason or self._backlog.refusal or self._backlog.paused

    def status_line(self) -> str:
        if self._is_off:
            return OFF
        identity, left = self._backlog.identity, self._backlog.left
        state = identity.model if identity else self._backlog.paused
        return f"{state.rstrip('.')}, {left} of {self._backlog.total} lines to look at" if left else state

    async def vector_of(self, query: str, seconds: float) -> QueryVector:
        """Return the vector of a query within a timeout; raises EmbedderError."""
        if self._is_off:
            raise EmbedderUnavailable(OFF + ".")
        try:
            identity = self._backlog.identity
            if identity is None:
                raise EmbedderUnavailable(self._backlog.paused)
            async with asyncio.timeout(seconds):
                vectors = await self._embedder.embed([query], "query")
            if self._backlog.identity != identity:
                raise EmbedderUnavailable(self._backlog.paused)
        except TimeoutError:
            self._failed("query")
            raise EmbedderUnavailable(f"{self._embedder.model} did not answer within {seconds:g} s.") from None
        except EmbedderError:
            self._failed("query")
            raise
        return QueryVector(identity, vectors[0], float(np.sort(self._unrelated @ vectors[0])[-_NEAREST]))

    async def _embed_unrelated(self) -> None:
        """Embed UNRELATED, once for all queries of an identity; raises EmbedderError."""
        self._unrelated = await self._embedder.embed(UNRELATED, "passage")


def text_of_change(device: Device, change: Change) -> str:
    if change.line is None:
        return ""
    try:
        return embedding_text(change.log, log_line.decode(change.line), device.zone.standard)
    except ValueError:
        _log.error("%s: line %d of %s cannot be read", device.name, change.seq, change.log)
        return ""
