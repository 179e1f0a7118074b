"""The vector side as a whole: the embedder of the settings, and the background work that gives each line its vector."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engram import log_line
from engram_host.companion.embedding.embedder import CachedEmbedder, Embedder, FallbackEmbedder, NoEmbedder
from engram_host.companion.embedding.index_state import read_index
from engram_host.companion.embedding.indexer import EmbeddingIndexer
from engram_host.companion.entries.embedding_text import KEY_VERSION, embedding_text
from engram_host.companion.errors import EmbedderError, EmbedderUnavailable
from engram_host.companion.processes.leases import Lease
from engram_host.companion.search.engine import QueryVector
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.values import ValueTable
from engram_host.companion.store.vectors import VectorTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor
from engram_host.companion.types import Change, Device
from engram_host.companion.vector_types import Identity

if TYPE_CHECKING:
    from engram_host.companion.embedding.batch import BatchJobs
    from engram_host.companion.embedding.remote import OpenAiEmbedder
    from engram_host.companion.remote_service import RemoteService


GRAPHS = "graphs"
"""The folder in the companion's own for the graphs of local models."""

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
GEMINI_MODEL = "gemini-embedding-001"
REMOTE = ("openai", "gemini")
"""Providers that are asked over the network; what other names mean is in local_models.py."""


def make_embedder(
    settings: EmbeddingSettings,
    *,
    values: ValueTable,
    vectors: VectorTable,
    key_version: int,
    graphs: Path | None = None,
) -> CachedEmbedder | FallbackEmbedder | NoEmbedder:
    """The embedder of these settings, for an index of texts of `key_version`. Nothing is loaded or asked yet.

    `graphs` is the folder for the graphs of local models; without one they are built at each start.
    StoreUnavailable if the store cannot say what the index was made with.
    """
    provider = _provider(settings)
    if provider == "none":
        return NoEmbedder()
    links: list[Embedder] = [_remote(settings, provider)] if provider in REMOTE else []
    names = _local_names(settings, provider)
    if names:
        # numpy is loaded only where a vector is made.
        from engram_host.companion.embedding.local_models import local_embedders

        links += local_embedders(names, settings.threads, graphs)
    made = read_index(values).made
    chain = FallbackEmbedder(
        links,
        (made.model, made.dimensions) if made else None,
        cooldown_seconds=settings.cooldown_seconds,
        rebuild=settings.rebuild,
        rebuild_after_seconds=settings.rebuild_after_seconds,
    )
    return CachedEmbedder(chain, vectors, key_version, queries=settings.cache_size) if settings.cache else chain


def _provider(settings: EmbeddingSettings) -> str:
    if settings.provider != "auto":
        return settings.provider
    if not settings.is_remote_set:
        return "local"
    is_gemini = settings.model_name.startswith("gemini-") or settings.base_url.startswith(GEMINI_URL)
    return "gemini" if is_gemini and not settings.base_url.rstrip("/").endswith("/openai") else "openai"


def _local_names(settings: EmbeddingSettings, provider: str) -> list[str]:
    """What is computed on this machine, in the order in which it is wanted: of local_models.py, or "local" for its choice."""
    own = [provider] if provider not in REMOTE else []
    if provider == "minilm" or settings.fallback in ("none", *own):
        return own
    return [*own, settings.fallback]


def _remote(settings: EmbeddingSettings, provider: str) -> Embedder:
    if provider == "gemini":
        from engram_host.companion.embedding.remote import GeminiEmbedder

        return GeminiEmbedder(
            _service(settings, GEMINI_URL, "x-goog-api-key", settings.api_key),
            settings.model_name or GEMINI_MODEL,
            settings.dimensions,
            use_dimensions=settings.use_dimensions,
            batch_size=settings.batch_size,
            input_characters=settings.input_characters,
        )
    return _openai(settings)


def make_jobs(settings: EmbeddingSettings, values: ValueTable) -> "BatchJobs | None":
    """Batch jobs for large back-fills, None unless they are set and the remote service is OpenAI's or like it."""
    if not settings.batch_jobs or _provider(settings) != "openai":
        return None
    from engram_host.companion.embedding.batch import BatchJobs

    return BatchJobs(_openai(settings), values)


def _openai(settings: EmbeddingSettings) -> "OpenAiEmbedder":
    from engram_host.companion.embedding.remote import OpenAiEmbedder

    key = settings.api_key and f"Bearer {settings.api_key}"
    return OpenAiEmbedder(
        _service(settings, OPENAI_URL, "Authorization", key),
        settings.model_name or OPENAI_MODEL,
        settings.dimensions,
        use_dimensions=settings.use_dimensions,
        use_base64=settings.use_base64,
        batch_size=settings.batch_size,
        input_characters=settings.input_characters,
    )


def _service(settings: EmbeddingSettings, url: str, header: str, key: str) -> "RemoteService":
    """The remote service of these settings; `url` if they name none."""
    from engram_host.companion.embedding.remote import ERRORS
    from engram_host.companion.remote_service import RemoteService

    return RemoteService(
        settings.base_url or url,
        ({header: key} if key else {}) | settings.header_fields(),
        ERRORS,
        retries=settings.retries,
        timeout_seconds=settings.timeout_seconds,
        connect_seconds=settings.connect_seconds,
    )


# --- the service


_log = logging.getLogger("engram.meaning")

OFF = "off: embedding.provider is none"

LONGEST_PAUSE = 300.0
"""Seconds until lines are embedded again after an error that nobody foresaw: each attempt may be one that is paid for."""

# Some models take texts that have nothing to do with each other to be .05 near to each other, others .8. A search compares with
# that, so that a cosine says the same whatever the model is, in a memory of a few entries as well.

UNRELATED = (
    "The train to the coast leaves at nine from platform four.",
    "My cousin plays the trumpet in a school band.",
    "Add two spoons of flour and stir until it thickens.",
    "The landlord wants the rent on the first of each month.",
    "A red kite circled over the field behind the barn.",
    "She failed her driving test because of the roundabout.",
    "The printer on the second floor is out of toner.",
    "We painted the fence green last summer.",
    "His knee still hurts when he climbs stairs.",
    "The museum shows Roman coins until October.",
    "El perro del vecino ladra toda la noche.",
    "这家银行周末不开门。",
)
"""Sentences of twelve matters."""


async def unrelated_cosine(embedder: Embedder) -> float:
    """The median cosine of two of UNRELATED; EmbedderError."""
    vectors = (await embedder.embed(UNRELATED, "passage")).astype(np.float64)
    cosines = vectors @ vectors.T
    return float(np.median(cosines[np.triu_indices(len(UNRELATED), 1)]))


class EmbeddingService:
    """The embedder of one companion, and its index of vectors."""

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
        """`graphs` as in make_embedder(), `lease` as in EmbeddingIndexer.

        `failed("index")` and `failed("query")` are called when no vector was made; from the
        loop's thread.
        """
        self._embedder = make_embedder(settings, values=values, vectors=vectors, key_version=KEY_VERSION, graphs=graphs)
        self._is_off = isinstance(self._embedder, NoEmbedder)
        self._jobs = make_jobs(settings, values)
        self._backlog = EmbeddingIndexer(
            boards=boards,
            values=values,
            vectors=vectors,
            embedder=self._embedder,
            text_of=text_of_change,
            key_version=KEY_VERSION,
            jobs=self._jobs,
            jobs_least=settings.batch_least,
            failed=lambda: failed("index"),
            lease=lease,
        )
        self._failed = failed
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None
        self._unrelated: tuple[Identity, float] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to embed what has no vector yet."""
        self._loop = asyncio.get_running_loop()
        if not self._is_off:
            self._task = self._supervisor.start("embedding", self._backlog.run, longest_pause=LONGEST_PAUSE)

    async def stop(self) -> None:
        """End that work; what was embedded stays."""
        if self._task:
            await self._task.stop()
            await self._backlog.stop()
        await self._embedder.close()
        if self._jobs:
            await self._jobs.close()

    def wake(self) -> None:
        """There are new lines."""
        self._backlog.wake()

    @property
    def identity(self) -> Identity | None:
        """What made the vectors that searches use now; None while they go by words only."""
        return self._backlog.identity

    @property
    def changes_left(self) -> int:
        """Changes of lines that are to be looked at yet."""
        progress = self._backlog.progress
        return 0 if self._is_off else progress.total - progress.done

    @property
    def problem(self) -> str:
        """What does not work, or why searches go by words only; "" if all is well, and while the embedder starts."""
        if self._is_off or self._backlog.is_starting:
            return ""
        return self._backlog.trouble or self._embedder.reason or self._backlog.refusal or self._backlog.paused

    def status_line(self) -> str:
        """How it stands, for a person."""
        if self._is_off:
            return OFF
        identity = self._backlog.identity
        if identity is None:
            return self._backlog.paused
        progress = self._backlog.progress
        left = progress.total - progress.done
        return f"{identity.model}, {left} of {progress.total} lines to look at" if left else identity.model

    async def vector_of(self, query: str, seconds: float) -> QueryVector:
        """The vector of a query within a time limit; EmbedderError."""
        try:
            return await self._vector_of(query, seconds)
        except EmbedderError:
            if not self._is_off:
                self._failed("query")
            raise

    async def _vector_of(self, query: str, seconds: float) -> QueryVector:
        identity = self._identity()
        try:
            async with asyncio.timeout(seconds):
                vectors = await self._embedder.embed([query], "query")
                unrelated = await self._unrelated_cosine(identity)
        except TimeoutError:
            raise EmbedderUnavailable(f"{identity.model} did not answer within {seconds:g} s.") from None
        if self._backlog.identity != identity:
            raise EmbedderUnavailable(self._backlog.paused)
        return QueryVector(identity, vectors[0], unrelated)

    async def _unrelated_cosine(self, identity: Identity) -> float:
        if self._unrelated is None or self._unrelated[0] != identity:
            self._unrelated = identity, await unrelated_cosine(self._embedder)
        return self._unrelated[1]

    def _identity(self) -> Identity:
        """What searches may be made with now; EmbedderUnavailable."""
        identity = self._backlog.identity
        if identity is None:
            raise EmbedderUnavailable(OFF + "." if self._is_off else self._backlog.paused)
        return identity

    def query_vector(self, query: str, seconds: float) -> QueryVector:
        """As vector_of(), to be called from another thread than the loop's."""
        if self._loop is None:
            raise EmbedderUnavailable("the embedder has not started yet.")
        return asyncio.run_coroutine_threadsafe(self.vector_of(query, seconds), self._loop).result()


def text_of_change(device: Device, change: Change) -> str:
    """The text of a line that is embedded, "" if it has none."""
    if change.line is None:
        return ""
    try:
        return embedding_text(change.log, log_line.decode(change.line), device.zone.standard)
    except ValueError:
        _log.error("%s: line %d of %s cannot be read", device.name, change.seq, change.log)
        return ""
