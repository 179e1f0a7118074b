"""Reads a folder of Markdown as a process of its own, so that its memory is of this alone: how much that took, as JSON."""

import json
import sys
from pathlib import Path

import psutil

from engram_host.companion.store import choose_store
from markdown_folders import place_of, read_into, settings_of


def main(root: Path, database: Path, files: int) -> None:
    """Write what is done of how many files, the passages, and the memory in bytes: at a tenth of the files, and at most."""
    store = choose_store(f"sqlite:///{database}")
    store.open()
    taken: list[tuple[int, int]] = []
    process = psutil.Process()
    settings = settings_of(root, chunk_tokens=1000, overlap_tokens=0)
    progress = read_into(
        store, place_of(root), settings, lambda shown: taken.append((shown.done, process.memory_info().rss))
    )
    store.close()
    early = max(rss for done, rss in taken if done <= files // 10)
    result = {"done": progress.done, "total": progress.total, "passages": progress.passages}
    json.dump({**result, "early": early, "most": max(rss for _, rss in taken)}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
