"""The store of a companion that runs, opened beside it; and services on a store, without a companion."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.media.service import MediaFiles, MediaService
from engram_host.companion.replication.protocol import Replication
from engram_host.companion.search_service import SearchService
from engram_host.companion.settings import EmbeddingSettings, MediaSettings, SearchSettings, media_limits
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.supervisor import Supervisor


@contextmanager
def opened_store(home: Path, name: str = "companion.db") -> Iterator[CompanionStore]:
    """The SQLite store of the companion in a folder."""
    with closing(choose_store(f"sqlite:///{home / name}")) as store:
        store.open()
        yield store


def replication_of(store: CompanionStore, supervisor: Supervisor | None = None, **more: Any) -> Replication:
    return Replication(
        replication=store.replication,
        notes=store.notes,
        senses=store.senses,
        status=store.status,
        taken=lambda: None,
        supervisor=supervisor or Supervisor(),
        **more,
    )


def embedding_of(
    store: CompanionStore, provider: str = "none", supervisor: Supervisor | None = None
) -> EmbeddingService:
    return EmbeddingService(
        boards=store.boards,
        values=store.values,
        vectors=store.vectors,
        settings=EmbeddingSettings(provider=provider),
        supervisor=supervisor or Supervisor(),
    )


def search_of(store: CompanionStore, settings: SearchSettings, meaning: EmbeddingService, **more: Any) -> SearchService:
    return SearchService(
        boards=store.boards,
        notes=store.notes,
        passages=store.folders,
        values=store.values,
        vectors=store.vectors,
        settings=settings,
        meaning=meaning,
        **more,
    )


def media_of(store: CompanionStore, home: Path, **more: Any) -> MediaService:
    limits = more.pop("limits", None) or media_limits(MediaSettings())
    return MediaService(boards=store.boards, media=store.media, files=MediaFiles(home), limits=limits, **more)
