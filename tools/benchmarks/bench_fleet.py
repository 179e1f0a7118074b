#!/usr/bin/env python3
"""What a search of a whole fleet takes: time, time of the processor, and memory.

    bench_fleet.py [BOARDS]        1000 by default, with 1,000 turns each, which takes some minutes to fill

The boards are put into SQLite, with vectors that are drawn by chance. Then all of them are searched in this process, without
HTTP and the embedding of the query: first without any index, which makes their files, then ten times. Prints a table;
build/bench/fleet.json has the same. OPENBLAS_NUM_THREADS=1 keeps the waiting of idle threads out of the processor's time.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[2] / name) for name in ("host", "firmware", "tools/setup"))

import numpy as np

from bench_lines import IDENTITY, fill, percentile, words
from engram.memory.access import OWNER
from engram_host.companion.search.engine import QueryVector, SearchEngine
from engram_host.companion.search.fleet import FleetProgress
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.indexes.kept import KeptIndexes
from engram_host.companion.search.request import MOST_HITS, MOST_OFFSET, SearchRequest
from engram_host.companion.store import CompanionStore, open_store

OUT = Path(__file__).resolve().parents[2] / "build" / "bench" / "fleet.json"

BOARDS, TURNS = 1000, 1000
SEARCHES = 10
LIMIT = 10
_FILE_BYTES = 4 << 30

Figures = dict[str, float]


class FleetSearches:
    """Searches of all boards of a store, each for words and a vector drawn by chance."""

    def __init__(self, store: CompanionStore, cache: IndexCache):
        self._store = store
        self._engine = SearchEngine(store, cache, self._embed)
        self._words = random.Random(7)
        self._chance = np.random.default_rng(7)

    def measure(self, what: str, times: int, limit: int = LIMIT, offset: int = 0) -> Figures:
        """The median time of some searches, in all and of the processor."""
        took: list[tuple[float, float]] = []
        for _ in range(times):
            query = words(self._words)[:200]
            began, spent = time.perf_counter(), time.process_time()
            devices = list(self._store.devices())
            names = tuple(device.name for device in devices[:1])
            request = SearchRequest(query, names, OWNER, int(time.time()), limit=limit, offset=offset)
            self._engine.search_fleet(request, devices, FleetProgress())
            took.append((time.perf_counter() - began, time.process_time() - spent))
        wall, cpu = zip(*took, strict=True)
        return {f"{what}_s": percentile(list(wall), 0.5), f"{what}_cpu_s": percentile(list(cpu), 0.5)}

    def _embed(self, _query: str) -> QueryVector:
        vector = self._chance.standard_normal(IDENTITY.dimensions, dtype=np.float32)
        vector /= np.linalg.norm(vector)
        return QueryVector(IDENTITY, vector)


def measure(folder: Path, boards: int) -> Figures:
    """The figures of a fleet in a new database."""
    with closing(open_store(f"sqlite:///{folder}/companion.db")) as store:
        for number in range(boards):
            fill(store, f"board-{number}", TURNS, number)
        before = peak_memory()
        cache = IndexCache(store, kept=KeptIndexes(folder / "indexes", store, _FILE_BYTES))
        searches = FleetSearches(store, cache)
        figures = searches.measure("cold", 1)
        cache.wait_for_files()
        figures |= searches.measure("warm", SEARCHES)
        figures |= searches.measure("tenth_page", SEARCHES, offset=9 * LIMIT)
        figures |= searches.measure("last_page", 3, MOST_HITS, MOST_OFFSET)
        cache.close()
        return {"boards": boards} | figures | {"index_mb": cache.nbytes / 1e6, "peak_growth_mb": peak_memory() - before}


def peak_memory() -> float:
    """The most memory in MB that this process has had, pages of mapped files among it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main(arguments: list[str]) -> int:
    """Measure, print a table, and keep the figures."""
    parser = argparse.ArgumentParser(description="Measure searches of a whole fleet of boards.")
    parser.add_argument("boards", nargs="?", type=int, default=BOARDS, metavar="BOARDS", help=f"by default {BOARDS}")
    boards = parser.parse_args(arguments).boards
    if boards < 1:
        parser.error("BOARDS must be 1 or more")
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
        figures = {key: round(value, 3) for key, value in measure(Path(folder), boards).items()}
    for key, value in figures.items():
        print(f"{key:20}{value:>12}")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=1) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
