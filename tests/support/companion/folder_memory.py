"""Reads a folder of Markdown as a process of its own, so that its memory is of this alone: how much that took, as JSON."""

import json
import sys
import threading
from pathlib import Path

import psutil

from engram_host.companion.folders.indexer import FolderIndexer, FolderProgress
from engram_host.companion.folders.sources import list_files
from engram_host.companion.store import choose_store
from markdown_folders import place_of, settings_of


def main(root: Path, database: Path, files: int) -> None:
    """Write what is done of how many files, the passages, and the memory in bytes: at a tenth of the files, and at most."""
    store = choose_store(f"sqlite:///{database}")
    store.open()
    place, progress = place_of(root), FolderProgress()
    taken: list[tuple[int, int]] = []
    process = psutil.Process()
    listing = list_files(place, files)
    assert listing
    FolderIndexer(store, settings_of(root, chunk_tokens=1000, overlap_tokens=0), threading.Event()).bring_up_to_date(
        place, listing, progress, lambda: taken.append((progress.done, process.memory_info().rss))
    )
    store.close()
    early = max(rss for done, rss in taken if done <= files // 10)
    result = {"done": progress.done, "total": progress.total, "passages": progress.passages}
    json.dump({**result, "early": early, "most": max(rss for _, rss in taken)}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
