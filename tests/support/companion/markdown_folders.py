"""Markdown folders for tests: places, indexers and the folders of a companion, without its other parts."""

import threading
from collections.abc import Callable
from pathlib import Path

from engram_host.companion.folder_settings import FoldersSettings
from engram_host.companion.folders.indexer import FolderIndexer, FolderProgress
from engram_host.companion.folders.sources import FolderSource, folder_sources, list_files
from engram_host.companion.store import CompanionStore


def settings_of(*paths: object, **more: object) -> FoldersSettings:
    """The settings of some folders."""
    return FoldersSettings(paths=tuple(str(path) if isinstance(path, Path) else path for path in paths), **more)  # pyright: ignore


def place_of(root: Path, **more: object) -> FolderSource:
    """A folder of which all is read."""
    return folder_sources(settings_of({"path": str(root), **more}), "test")[0]


def read_into(
    store: CompanionStore,
    place: FolderSource,
    settings: FoldersSettings | None = None,
    look: Callable[[FolderProgress], None] = lambda progress: None,
) -> FolderProgress:
    """Bring a store to what is in a folder; how that went, which look() is shown meanwhile."""
    settings = settings or settings_of(place.root)
    progress = FolderProgress()
    listing = list_files(place, settings.most_files)
    assert listing is not None
    indexer = FolderIndexer(store.folders, settings, threading.Event())
    assert indexer.bring_up_to_date(place, listing, progress, lambda: look(progress))
    return progress


def write(root: Path, files: dict[str, str | bytes]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
