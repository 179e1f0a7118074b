"""Makes the embedder that settings ask for."""

from typing import TYPE_CHECKING

from engram_host.companion.embedding.base import Embedder
from engram_host.companion.embedding.cache import CachedEmbedder
from engram_host.companion.embedding.fallback import FallbackEmbedder
from engram_host.companion.embedding.index_state import read_index
from engram_host.companion.embedding.none import NoEmbedder
from engram_host.companion.embedding.settings import EmbeddingSettings
from engram_host.companion.store.base import Store

if TYPE_CHECKING:  # each embedder brings libraries that take time to load: a companion loads those of its own
    from engram_host.companion.embedding.batch import BatchJobs
    from engram_host.companion.embedding.http_client import RemoteService
    from engram_host.companion.embedding.remote import OpenAiEmbedder

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
GEMINI_MODEL = "gemini-embedding-001"


def make_embedder(
    settings: EmbeddingSettings, store: Store, key_version: int
) -> CachedEmbedder | FallbackEmbedder | NoEmbedder:
    """The embedder of these settings, for an index of texts of `key_version`. Nothing is loaded or asked yet.

    StoreUnavailable if the store cannot say what the index was made with.
    """
    provider = _provider(settings)
    if provider == "none":
        return NoEmbedder()
    links: list[Embedder] = [_remote(settings, provider)] if provider != "minilm" else [_local(settings)]
    if provider != "minilm" and settings.fallback == "minilm":
        links.append(_local(settings))
    made = read_index(store).made
    chain = FallbackEmbedder(
        links,
        (made.model, made.dimensions) if made else None,
        cooldown_seconds=settings.cooldown_seconds,
        rebuild=settings.rebuild,
        rebuild_after_seconds=settings.rebuild_after_seconds,
    )
    return CachedEmbedder(chain, store, key_version, queries=settings.cache_size) if settings.cache else chain


def _provider(settings: EmbeddingSettings) -> str:
    if settings.provider != "auto":
        return settings.provider
    if not settings.is_remote_set:
        return "minilm"
    is_gemini = settings.model_name.startswith("gemini-") or settings.base_url.startswith(GEMINI_URL)
    return "gemini" if is_gemini and not settings.base_url.rstrip("/").endswith("/openai") else "openai"


def _local(settings: EmbeddingSettings) -> Embedder:
    from engram_host.companion.embedding.minilm import MiniLm

    return MiniLm(settings.threads)


def _remote(settings: EmbeddingSettings, provider: str) -> Embedder:
    if provider == "gemini":
        from engram_host.companion.embedding.gemini import GeminiEmbedder

        return GeminiEmbedder(
            _service(settings, GEMINI_URL, "x-goog-api-key", settings.api_key),
            settings.model_name or GEMINI_MODEL,
            settings.dimensions,
            use_dimensions=settings.use_dimensions,
            batch_size=settings.batch_size,
            input_characters=settings.input_characters,
        )
    return _openai(settings)


def make_jobs(settings: EmbeddingSettings, store: Store) -> "BatchJobs | None":
    """Batch jobs for large back-fills, None unless they are set and the remote service is OpenAI's or like it."""
    if not settings.batch_jobs or _provider(settings) != "openai":
        return None
    from engram_host.companion.embedding.batch import BatchJobs

    return BatchJobs(_openai(settings), store)


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
    from engram_host.companion.embedding.http_client import RemoteService

    return RemoteService(
        settings.base_url or url,
        ({header: key} if key else {}) | settings.header_fields(),
        retries=settings.retries,
        timeout_seconds=settings.timeout_seconds,
        connect_seconds=settings.connect_seconds,
    )
