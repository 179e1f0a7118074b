"""How fast the local embedder is: a part of bench_companion.py.

Times depend on what else the machine does, so each is the best of some rounds; the processor's time stands beside, which
depends less on it.
"""

import asyncio
import os
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench_lines import IDENTITY, SearchClient, fill, fill_lines, free_port, percentile
from engram_host.companion.embedding.embedding_service import GRAPHS
from engram_host.companion.embedding.indexer import write_index
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.embedding.minilm import MiniLm
from engram_host.companion.store import open_store
from server_process import CompanionProcess

PASSAGES, PASSAGE_WORDS = 256, 25
QUERIES, QUERY_WORDS = 60, 15
ROUNDS = 7
BACKFILL_LINES = 4000
BOARD_TURNS = 1000
QUIET_SEARCHES = 200

Figures = dict[str, float]

_WORDS = """
the a my our his her we they and but because while after before in on under with without of boiler kitchen garden bike window
school doctor Tuesday May yesterday tomorrow always never bought sold repaired forgot painted likes asked told bring water
bread coffee train ticket number address birthday sister brother neighbour cat dog red old small broken
"""


def sentence(numbers: random.Random, count: int = PASSAGE_WORDS) -> str:
    """Frequent English words, each of which is one token of the model."""
    return " ".join(numbers.choice(_WORDS.split()) for _ in range(count))


@dataclass
class _Best:
    """The least wall time and the least time of the processor of some rounds, in seconds."""

    wall: float = float("inf")
    processor: float = float("inf")

    def keep(self, wall: float, processor: float) -> None:
        self.wall, self.processor = min(self.wall, wall), min(self.processor, processor)


async def _speed(folder: Path) -> Figures:
    """Passages a second with a thread for each core, and the median of a query; the graph is built in `folder`."""
    numbers = random.Random(5)
    passages = [sentence(numbers) for _ in range(PASSAGES)]
    queries = [sentence(numbers, QUERY_WORDS) for _ in range(QUERIES)]
    embedder = LocalEmbedder(MiniLm(), os.cpu_count() or 1, folder)
    await embedder.ready()
    many, one = _Best(), _Best()
    for _ in range(ROUNDS):
        began = time.perf_counter(), time.process_time()
        await embedder.embed(passages, "passage")
        many.keep(time.perf_counter() - began[0], time.process_time() - began[1])
        waited: list[float] = []
        processor = time.process_time()
        for query in queries:
            start = time.perf_counter()
            await embedder.embed([query], "query")
            waited.append(time.perf_counter() - start)
        one.keep(percentile(waited, 0.5), (time.process_time() - processor) / QUERIES)
    await embedder.close()
    return {
        "query_p50_ms": 1000 * one.wall,
        "query_cpu_ms": 1000 * one.processor,
        "passages_per_s": PASSAGES / many.wall,
        "passages_per_cpu_s": PASSAGES / many.processor,
    }


def _backfill(folder: Path) -> Figures:
    """Lines that are given vectors in a second while one client searches without a pause; searches then, and after it."""
    store = open_store(f"sqlite:///{folder / 'companion.db'}")
    fill(store, "device-0", BOARD_TURNS, 1)
    write_index(store.values, IDENTITY, "")
    fill_lines(store, "late", BACKFILL_LINES, 2, sentence)
    store.close()
    variables = {"EMBEDDING_PROVIDER": "minilm"}
    with CompanionProcess(folder, free_port(), variables=variables) as companion:
        client = SearchClient(companion, random.Random(3))
        client.wait_for_embedder()
        client.ask("device-0")  # the first search also reads the board
        busy: list[tuple[float, float]] = []
        began, first = time.perf_counter(), client.lines_left()
        while client.lines_left():
            busy.extend(client.ask("device-0") for _ in range(5))
        seconds = time.perf_counter() - began
        quiet = [client.ask("device-0") for _ in range(QUIET_SEARCHES)]
    return {"backfill_per_s": first / seconds, **_of_searches("busy", busy), **_of_searches("quiet", quiet)}


def _of_searches(name: str, asked: list[tuple[float, float]]) -> Figures:
    """Of searches with the query's embedding, and of that alone."""
    searches, embedded = [took + embed for took, embed in asked], [embed for _, embed in asked]
    return {
        f"{name}_search_p50_ms": percentile(searches, 0.5),
        f"{name}_search_p95_ms": percentile(searches, 0.95),
        f"{name}_embed_p50_ms": percentile(embedded, 0.5),
        f"{name}_embed_p95_ms": percentile(embedded, 0.95),
    }


def measure_embedder() -> Figures:
    """Measure MiniLM."""
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as home:
        figures = asyncio.run(_speed(Path(home) / GRAPHS)) | _backfill(Path(home))
    return {key: round(value, 2) for key, value in figures.items()}
