#!/usr/bin/env python3
"""What the companion does in a second and takes in memory, on SQLite and on PostgreSQL.

    bench_companion.py [sqlite] [postgres]        both by default

The companion is a process of its own, asked over HTTP; boards are the firmware's own code in another process, over mosquitto,
and at last 100 boards over the broker inside a second companion. First 100 boards of 1,000 turns and two of 100,000 are put
into the database, with vectors that are drawn by chance, since no figure here depends on what they mean; queries are
embedded by the local model. Then searches, boards of which each sends much, and 1,000 boards with 20 new turns each. Prints a
table; build/bench/companion.json has the same. Times are of this machine, whose cores the clients share.
"""

import argparse
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.extend(str(Path(__file__).resolve().parents[2] / name) for name in ("host", "firmware", "tools/setup"))

import httpx
import numpy as np
import psutil

import debian
import get_mosquitto
from engram import log_line
from engram_host.companion.embedding.index_state import read_position, write_index, write_position
from engram_host.companion.entries.embedding_text import KEY_VERSION, embedding_text
from engram_host.companion.store import CompanionStore, open_store
from engram_host.companion.types import Hello, LineBatch, LogState, Sender, SeqRange
from engram_host.companion.vector_types import Identity, StoredVector, text_digest
from postgres_process import PostgresProcess
from server_process import START_SECONDS, CompanionProcess, Mosquitto, ServerFailed

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "bench" / "companion.json"

DATABASES = ("sqlite", "postgres")

DEVICES, TURNS = 100, 1000
BIG_TURNS = 100_000
SEARCHES = 300
BIG_SEARCHES = 60
WAITING, IN_TURN = 4, 10
INGEST_BOARDS, INGEST_TURNS = 20, 2000
FLEET, FLEET_TURNS = 1000, 20
INSIDE_FLEET = 100
"""Boards that use the broker inside: it is written in Python and takes some ms and some 100 KB for each connection."""

SESSION_TURNS = 25
IDENTITY = Identity("all-MiniLM-L6-v2", 384, KEY_VERSION)

KEYS = (
    "search_p50_ms", "search_p95_ms", "big_search_p50_ms", "big_search_p95_ms", "embed_p50_ms", "ingest_per_s",
    "boards_lost", "boards_doubled", "fleet_seconds", "rss_mb", "rss_growth_mb", "start_s", "cold_search_ms",
    "big_cold_search_ms", "kept_search_ms", "big_kept_search_ms", "big_in_turn_ms", "waiting_mb", "all_boards_ms",
    "index_files_mb", "database_mb", "inside_fleet_seconds", "inside_rss_mb",
)  # fmt: skip
"""In the order of the table; docs/design/companion.md says what each is."""

Figures = dict[str, float]
_PAUSE = 0.01
_SYLLABLES = [first + last for first in "bdfghklmnprstvw" for last in "aeiou"]


def words(numbers: random.Random) -> str:
    """A sentence of a language of 20,000 words, of which few are frequent, as in any."""
    drawn = (int(20_000 ** numbers.random()) for _ in range(numbers.randrange(6, 28)))
    return " ".join(_SYLLABLES[n % 75] + _SYLLABLES[n // 75 % 75] + _SYLLABLES[n // 5625 % 75] for n in drawn)


def turns(count: int, seed: int) -> Iterator[tuple[int, bytes]]:
    """Lines of a journal as a board writes them."""
    numbers = random.Random(seed)
    sid, previous = "s1", 0
    for seq in range(1, count + 1):
        place = (seq - 1) % SESSION_TURNS
        if not place:
            sid, previous = f"s{seq}", 0
        who = "Ann" if place % 2 else "owner"
        fields = [("seq", seq), ("sid", sid), ("role", "user"), ("who", who), ("text", words(numbers))]
        fields += [("at", 1_760_000_000 + 600 * seq), ("prev", previous), ("n", place), ("scope", "user:owner")]
        yield seq, log_line.encode(fields)
        previous = seq


def fill(store: CompanionStore, device: str, count: int, seed: int, ago: int = 1000) -> None:
    """Put a journal and vectors of a board, heard so many seconds ago, into a store, through the store's own calls."""
    heard = int(time.time()) - ago
    sender = Sender(f"board-{seed}", 1, 1)
    states = {"records": LogState(1, 1, 1, 0), "journal": LogState(1, 1, count + 1, 0)}
    store.greet(Hello(device, sender, 0, states), heard)  # pyright: ignore[reportArgumentType]
    pending: list[tuple[int, bytes]] = []
    chance = np.random.default_rng(seed)

    def put() -> None:
        span = SeqRange(device, "journal", 1, pending[0][0] - 1, pending[-1][0])
        store.store_batches([LineBatch(sender, span, list(pending))], heard)
        vectors = chance.standard_normal((len(pending), IDENTITY.dimensions), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        made = [
            StoredVector("journal", seq, text_digest(embedding_text("journal", log_line.decode(line), 0)), vector)
            for (seq, line), vector in zip(pending, vectors, strict=True)
        ]
        store.put_vectors(device, IDENTITY, made)
        pending.clear()

    for place in turns(count, seed):
        pending.append(place)
        if len(pending) == 1000:
            put()
    if pending:
        put()
    position = read_position(store, device, IDENTITY)
    position.extend_to(store.device(device).version)
    while position.gaps:
        position.close_gap(position.newest_gap(1 << 30))
    write_position(store, device, position)


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values is."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Bench:
    """Measures one companion."""

    def __init__(self, companion: CompanionProcess, tell: Callable[[str], None]):
        self.companion = companion
        self.figures: Figures = {}
        self._tell = tell
        self._numbers = random.Random(3)

    def rss(self) -> float:
        """Megabytes of memory that the companion has now."""
        return psutil.Process(self.companion.pid).memory_info().rss / 1e6

    def most_rss(self) -> float:
        """Megabytes of memory that it had at most."""
        for line in Path(f"/proc/{self.companion.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
        return self.rss()

    def ask(self, *devices: str) -> tuple[float, float]:
        """(milliseconds of a search of some boards, or all, but for the query's embedding, of that)."""
        query = {"query": words(self._numbers)[:200], "devices": devices}
        began = time.perf_counter()
        answer = self.companion.client.post("/v1/search", json=query)
        took = 1000 * (time.perf_counter() - began)
        answer.raise_for_status()
        told = answer.json()
        assert not told["degraded"], told["degraded"]
        return took - told["embed_ms"], told["embed_ms"]

    def wait_for_embedder(self) -> None:
        """Wait until queries can be embedded, which takes longer than the start of the server; ServerFailed."""
        end = time.monotonic() + START_SECONDS
        while not (state := self.companion.client.get("/v1/health").json()["meaning"]).startswith(IDENTITY.model):
            if time.monotonic() > end:
                raise ServerFailed(f"the embedder does not start: {state}")
            time.sleep(_PAUSE)

    def searches(self) -> None:
        """Searches on small boards and on the big one, warm."""
        cold = [self.ask(f"device-{number}")[0] for number in range(DEVICES)]
        asked = [self.ask(f"device-{self._numbers.randrange(DEVICES)}") for _ in range(SEARCHES)]
        took = [each for each, _ in asked]
        self.figures["cold_search_ms"] = percentile(cold, 0.5)
        self.figures["search_p50_ms"], self.figures["search_p95_ms"] = percentile(took, 0.5), percentile(took, 0.95)
        self.figures["embed_p50_ms"] = percentile([embed for _, embed in asked], 0.5)
        self._tell("searches on small boards are done")
        self.figures["big_cold_search_ms"] = self.ask("big")[0]
        took = [self.ask("big")[0] for _ in range(BIG_SEARCHES)]
        self.figures["big_search_p50_ms"] = percentile(took, 0.5)
        self.figures["big_search_p95_ms"] = percentile(took, 0.95)
        self._tell("searches on the big board are done")

    def many(self) -> None:
        """Several who wait for one cold index, two big boards in turn, and searches of all boards."""
        before = self.rss()
        with ThreadPoolExecutor(WAITING) as asking:
            list(asking.map(lambda _: self.ask("big2"), range(WAITING)))
        self.figures["waiting_mb"] = self.most_rss() - before
        self.figures["big_in_turn_ms"] = max(self.ask(name)[0] for name in ("big", "big2") * IN_TURN)
        self.ask()
        self.figures["all_boards_ms"] = percentile([self.ask()[0] for _ in range(IN_TURN)], 0.5)
        self._tell("searches on two big boards and on all boards are done")

    def kept(self) -> None:
        """First searches after a start, of boards whose indexes are in files."""
        self.wait_for_embedder()
        first = [self.ask(f"device-{number}")[0] for number in range(DEVICES)]
        self.figures["kept_search_ms"] = percentile(first, 0.5)
        self.figures["big_kept_search_ms"] = self.ask("big")[0]

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


def free_port() -> int:
    """A port of this computer at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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
        write_index(store, IDENTITY, "")
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
        bench.kept()
        companion.kill()
        files = (folder / "companion" / "indexes").glob("*.index")
        bench.figures["index_files_mb"] = sum(path.stat().st_size for path in files) / 1e6
        small = CompanionProcess(folder / "inside", free_port(), mqtt_port=free_port())
        stack.enter_context(small)
        inside = Bench(small, tell)
        told = inside.boards(INSIDE_FLEET, FLEET_TURNS, folder / "inside-boards")
        bench.figures["inside_fleet_seconds"], bench.figures["inside_rss_mb"] = told["seconds"], inside.most_rss()
        database = sum(path.stat().st_size for path in (folder / "companion").glob("companion.db*"))
        bench.figures["database_mb"] = database / 1e6 if name == "sqlite" else 0.0
        return bench.figures


def main(arguments: list[str]) -> int:
    """Measure, print a table, and keep the figures; status 1 with a sentence where a server does not start."""
    parser = argparse.ArgumentParser(
        description="Measure the companion: searches, boards, memory. It takes some minutes."
    )
    parser.add_argument("databases", nargs="*", metavar="DATABASE", help=f"{' or '.join(DATABASES)}; both by default")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.databases if name not in DATABASES]
    if unknown:
        parser.error(f"there is no database {unknown[0]}: name {' or '.join(DATABASES)}")
    try:
        get_mosquitto.ensure()
        results = measure_all(given.databases or list(DATABASES))
    except (debian.Unavailable, ServerFailed) as problem:
        print(f"bench_companion: {problem}", file=sys.stderr)
        return 1
    print(f"{'':20}" + "".join(f"{name:>12}" for name in results))
    for key in KEYS:
        print(f"{key:20}" + "".join(f"{figures[key]:>12}" for figures in results.values()))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(OUT.read_text()) if OUT.exists() else {}
    OUT.write_text(json.dumps(old | results, indent=1) + "\n", encoding="ascii")
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
