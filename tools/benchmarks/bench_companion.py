#!/usr/bin/env python3
"""What the companion does in a second and takes in memory, on SQLite and on PostgreSQL, and how fast its embedder is.

    bench_companion.py [sqlite] [postgres] [embedder]        all by default
    bench_companion.py size [LINES ...]                      PostgreSQL by the lines that it has (bench_store_size.py)

The companion is a process of its own, asked over HTTP; boards are the firmware's own code in another process, over mosquitto.
First 100 boards of 1,000 turns and two of 100,000 are put
into the database, with vectors that are drawn by chance, since no figure here depends on what they mean; queries are
embedded by the local model. Then searches, boards of which each sends much, and 1,000 boards with 20 new turns each. Prints a
table; build/bench/companion.json has the same. Times are of this machine, whose cores the clients share.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).resolve().parents[2] / name) for name in ("host", "firmware", "tools/setup"))

import httpx
import psutil

import bench_store_size
import debian
import get_mosquitto
from bench_embedder import measure_embedder
from bench_lines import IDENTITY, SearchClient, fill, free_port, percentile
from engram_host.companion.embedding.indexer import write_index
from engram_host.companion.search.request import MOST_DEVICES
from engram_host.companion.store import open_store
from postgres_process import PostgresProcess
from server_process import CompanionProcess, Mosquitto, ServerFailed

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "bench" / "companion.json"

DATABASES = ("sqlite", "postgres")
EMBEDDER = "embedder"
"""Names the part that needs no database of its own: each engine of the local embedder, and searches during a backfill."""

PARTS = (*DATABASES, EMBEDDER)

DEVICES, TURNS = 100, 1000
BIG_TURNS = 100_000
SEARCHES = 300
BIG_SEARCHES = 60
WAITING, IN_TURN = 4, 10
INGEST_BOARDS, INGEST_TURNS = 20, 2000
FLEET, FLEET_TURNS = 1000, 20

KEYS = (
    "search_p50_ms", "search_p95_ms", "big_search_p50_ms", "big_search_p95_ms", "embed_p50_ms", "ingest_per_s",
    "boards_lost", "boards_doubled", "fleet_seconds", "rss_mb", "rss_growth_mb", "start_s", "cold_search_ms",
    "big_cold_search_ms", "first_search_ms", "big_first_search_ms", "big_in_turn_ms", "waiting_mb", "several_boards_ms",
    "database_mb",
)  # fmt: skip
"""In the order of the table; docs/design/companion.md says what each is."""

Figures = dict[str, float]
_PAUSE = 0.01


class Bench:
    """Measures one companion."""

    def __init__(self, companion: CompanionProcess, tell: Callable[[str], None]):
        self.companion = companion
        self.figures: Figures = {}
        self._tell = tell
        self._numbers = random.Random(3)
        self._client = SearchClient(companion, self._numbers)

    def wait_for_embedder(self) -> None:
        """Wait until queries can be embedded; ServerFailed."""
        self._client.wait_for_embedder()

    def rss(self) -> float:
        """Megabytes of memory that the companion has now."""
        return psutil.Process(self.companion.pid).memory_info().rss / 1e6

    def most_rss(self) -> float:
        """Megabytes of memory that it had at most."""
        for line in Path(f"/proc/{self.companion.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
        return self.rss()

    def searches(self) -> None:
        """Searches on small boards and on the big one, warm."""
        cold = [self._client.ask(f"device-{number}")[0] for number in range(DEVICES)]
        asked = [self._client.ask(f"device-{self._numbers.randrange(DEVICES)}") for _ in range(SEARCHES)]
        took = [each for each, _ in asked]
        self.figures["cold_search_ms"] = percentile(cold, 0.5)
        self.figures["search_p50_ms"], self.figures["search_p95_ms"] = percentile(took, 0.5), percentile(took, 0.95)
        self.figures["embed_p50_ms"] = percentile([embed for _, embed in asked], 0.5)
        self._tell("searches on small boards are done")
        self.figures["big_cold_search_ms"] = self._client.ask("big")[0]
        took = [self._client.ask("big")[0] for _ in range(BIG_SEARCHES)]
        self.figures["big_search_p50_ms"] = percentile(took, 0.5)
        self.figures["big_search_p95_ms"] = percentile(took, 0.95)
        self._tell("searches on the big board are done")

    def many(self) -> None:
        """Several who wait for one cold index, two big boards in turn, and searches of several boards."""
        before = self.rss()
        with ThreadPoolExecutor(WAITING) as asking:
            list(asking.map(lambda _: self._client.ask("big2"), range(WAITING)))
        self.figures["waiting_mb"] = self.most_rss() - before
        self.figures["big_in_turn_ms"] = max(self._client.ask(name)[0] for name in ("big", "big2") * IN_TURN)
        several = [f"device-{number}" for number in range(MOST_DEVICES)]
        self.figures["several_boards_ms"] = percentile([self._client.ask(*several)[0] for _ in range(IN_TURN)], 0.5)
        self._tell("searches on two big boards and on several boards are done")

    def first(self) -> None:
        """First searches after a start, which makes indexes in the background."""
        self.wait_for_embedder()
        first = [self._client.ask(f"device-{number}")[0] for number in range(DEVICES)]
        self.figures["first_search_ms"] = percentile(first, 0.5)
        self.figures["big_first_search_ms"] = self._client.ask("big")[0]

    def boards(self, count: int, each: int, folder: Path) -> dict[str, Any]:
        """Let boards send; what they measured."""
        command = [sys.executable, str(Path(__file__).with_name("bench_boards.py")), self.companion.mqtt_url]
        done = subprocess.run(
            [*command, str(count), str(each), str(folder)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"the boards failed:\n{done.stdout}{done.stderr}\n{self.companion.printed()}")
        return json.loads(done.stdout.splitlines()[-1])

    def ingest(self, folder: Path) -> None:
        """Few boards that send much."""
        told = self.boards(INGEST_BOARDS, INGEST_TURNS, folder / "ingest")
        self.figures["ingest_per_s"] = told["turns"] / told["seconds"]
        self._tell("the few boards that send much are done")

    def fleet(self, folder: Path) -> None:
        """Many boards that send a little, twice: memory must not grow from one time to the other."""
        first = self.boards(FLEET, FLEET_TURNS, folder / "fleet")
        before = self.rss()
        self.boards(FLEET, FLEET_TURNS, folder / "fleet")
        self.figures["fleet_seconds"] = first["seconds"]
        self.figures["rss_growth_mb"] = self.rss() - before
        lost = doubled = 0
        for number in range(FLEET):
            lines = [line["seq"] for line in self.companion.lines(f"fleet-{number:04d}", "journal") if "text" in line]
            lost += 2 * FLEET_TURNS - len(set(lines))
            doubled += len(lines) - len(set(lines))
        self.figures["boards_lost"], self.figures["boards_doubled"] = lost, doubled
        self._tell("the many boards that send a little are done")

    def start(self) -> None:
        """How long a start takes until the first answer, with all files in the system's cache."""
        self.companion.stop()
        began = time.perf_counter()
        self.companion.begin()
        while True:
            try:
                answer = self.companion.client.post("/v1/search", json={"query": "window", "devices": ["device-1"]})
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code == 200:
                break
            time.sleep(_PAUSE)
        self.figures["start_s"] = time.perf_counter() - began


def gather_statistics(url: str) -> None:
    """What autovacuum does within a minute: without statistics, plans depend on whether it came before the searches."""
    import psycopg  # an extra, which only PostgreSQL needs

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def measure(name: str, folder: Path, tell: Callable[[str], None]) -> Figures:
    """All figures of one database."""
    with ExitStack() as stack:
        url = f"sqlite:///{folder / 'companion' / 'companion.db'}"
        mqtt_url = stack.enter_context(Mosquitto(free_port())).url
        if name == "postgres":
            url = stack.enter_context(PostgresProcess()).url
        (folder / "companion").mkdir()
        store = open_store(url)
        for number in range(DEVICES):
            fill(store, f"device-{number}", TURNS, number + 1)
        for number, big in enumerate(("big", "big2"), start=1):
            fill(store, big, BIG_TURNS, DEVICES + number)
        write_index(store.values, IDENTITY, "")
        store.close()
        if name == "postgres":
            gather_statistics(url)
        tell(f"{DEVICES * TURNS + 2 * BIG_TURNS} turns are in the database")
        variables = {"EMBEDDING_PROVIDER": "minilm"} | ({"ENGRAM_STORE_URL": url} if name == "postgres" else {})
        companion = CompanionProcess(folder / "companion", free_port(), mqtt_url=mqtt_url, variables=variables)
        stack.enter_context(companion)
        bench = Bench(companion, tell)
        bench.wait_for_embedder()
        bench.searches()
        bench.many()
        bench.ingest(folder)
        bench.fleet(folder)
        bench.figures["rss_mb"] = bench.most_rss()
        bench.start()
        bench.first()
        companion.kill()
        database = sum(path.stat().st_size for path in (folder / "companion").glob("companion.db*"))
        bench.figures["database_mb"] = database / 1e6 if name == "sqlite" else 0.0
        return bench.figures


def print_table(results: dict[str, Figures], keys: Sequence[str]) -> None:
    """A row for each key, a column for each database or engine."""
    print(f"{'':20}" + "".join(f"{name:>12}" for name in results))
    for key in keys:
        print(f"{key:20}" + "".join(f"{figures[key]:>12}" for figures in results.values()))


def main(arguments: list[str]) -> int:
    """Measure, print a table, and keep the figures; status 1 with a sentence where a server does not start."""
    if arguments[:1] == ["size"]:
        return bench_store_size.main(arguments[1:])
    parser = argparse.ArgumentParser(
        description="Measure the companion: searches, boards, memory. It takes some minutes."
    )
    parser.add_argument("databases", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.databases if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}: name {', '.join(PARTS)}")
    chosen = given.databases or list(PARTS)
    try:
        get_mosquitto.ensure()
        results = measure_all([name for name in chosen if name != EMBEDDER])
        embedder = {EMBEDDER: measure_embedder()} if EMBEDDER in chosen else {}
    except (debian.Unavailable, ServerFailed) as problem:
        print(f"bench_companion: {problem}", file=sys.stderr)
        return 1
    print_table(results, KEYS if results else ())
    if embedder:
        print_table(embedder, list(embedder[EMBEDDER]))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(OUT.read_text()) if OUT.exists() else {}
    OUT.write_text(json.dumps(old | results | embedder, indent=1) + "\n", encoding="ascii")
    return 0


def measure_all(names: list[str]) -> dict[str, Figures]:
    """The figures of each of these databases; says on the way what is done."""
    results: dict[str, Figures] = {}
    for name in names:

        def tell(line: str, name: str = name) -> None:
            print(f"{name}: {line}", file=sys.stderr, flush=True)

        with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
            results[name] = {key: round(value, 2) for key, value in measure(name, Path(folder), tell).items()}
    return results


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
