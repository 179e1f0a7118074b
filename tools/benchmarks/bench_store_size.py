#!/usr/bin/env python3
"""How long the companion's PostgreSQL takes for one board, by the number of lines that all boards have together.

    bench_store_size.py [LINES ...]        100000 1000000 by default; 10000000 takes a quarter of an hour and 8 GB of disk

Boards have 1,000 memories and 1,000 turns each. For each size, random boards say hello, send 20 lines, send some again, have
their index built, and are looked through; then one board sends messages one by one, and 128 boards send one each in every
transaction. Prints a table; build/bench/store_size.json has the same. The server keeps its ordinary settings while it is
measured, and all files are in the system's cache.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[2] / name) for name in ("host", "firmware", "tools/setup"))

import psutil
import psycopg

from bench_lines import percentile
from engram_host.companion.memories.browse import MemoryBrowser, MemoryQuery
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.types import LineBatch, SeqRange
from filled_boards import (
    EPOCH,
    IDENTITY,
    NOW,
    FilledBoard,
    copy_boards,
    fill_template,
    record_lines,
    turn_lines,
)
from postgres_process import PostgresProcess
from server_process import ServerFailed

OUT = Path(__file__).resolve().parents[2] / "build" / "bench" / "store_size.json"

SIZES: tuple[int, ...] = (100_000, 1_000_000)
RECORDS = TURNS = 1000
ASKED = 40
"""Boards that each figure is of."""

SENT = 20
_SENT_BEFORE = 1_000_000  # messages of the board that the others are copies of: far fewer
MESSAGES, TOGETHER = 60, 128
"""Messages of a board that sends alone; boards that send at once, as many as one transaction takes."""

ROUNDS = 6

_OPTIONS = {"wal_level": "minimal", "max_wal_senders": "0", "max_wal_size": "2GB"}
_SIZES = (
    "SELECT sum(pg_table_size(inhrelid)), sum(pg_indexes_size(inhrelid)), pg_database_size(current_database()) "
    "FROM pg_inherits WHERE inhparent = 'lines'::regclass"
)

Figures = dict[str, float]


def median_ms(calls: list[Callable[[], object]]) -> float:
    """The median of the milliseconds that some calls take."""
    took: list[float] = []
    for call in calls:
        began = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - began))
    return percentile(took, 0.5)


def cpu_seconds(server: PostgresProcess) -> float:
    """What this process and the server have used of the processor."""
    spent = time.process_time()
    for process in psutil.Process(server.pid).children():
        with suppress(psutil.NoSuchProcess):
            spent += sum(process.cpu_times()[:2])
    return spent


def ingest(server: PostgresProcess, store: CompanionStore, names: list[str], rounds: int) -> tuple[float, float]:
    """(lines that some boards send in a second, microseconds of the processor for each), a message of each board in every
    transaction.
    """
    more = list(turn_lines(TURNS + SENT + rounds * SENT))[TURNS + SENT :]
    boards = [FilledBoard(store, name, RECORDS, TURNS, 2 * _SENT_BEFORE) for name in names]
    for board in boards:
        board.greet()
        board.send("journal", list(turn_lines(TURNS + SENT))[TURNS:])
    began, spent = time.perf_counter(), cpu_seconds(server)
    for at in range(0, rounds * SENT, SENT):
        part = more[at : at + SENT]
        batches = [
            LineBatch(board.sender, SeqRange(board.device, "journal", EPOCH, part[0][0] - 1, part[-1][0]), part)
            for board in boards
        ]
        outcomes = store.replication.store_batches(batches, NOW)
        assert outcomes == [part[-1][0]] * len(boards), outcomes
    count = rounds * SENT * len(boards)
    return count / (time.perf_counter() - began), 1e6 * (cpu_seconds(server) - spent) / count


def fill(url: str, boards: int, after: int) -> None:
    """Add boards without waiting for the disk, which would take most of the time."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(b"ALTER SYSTEM SET fsync = off")
        admin.execute(b"SELECT pg_reload_conf()")
        copy_boards(url, boards, after)
        admin.execute(b"ALTER SYSTEM RESET fsync")
        admin.execute(b"SELECT pg_reload_conf()")
        # What autovacuum would do beside the measuring.
        admin.execute(b"VACUUM (ANALYZE)")
        admin.execute(b"CHECKPOINT")


def measure(server: PostgresProcess, store: CompanionStore, numbers: range, chance: random.Random) -> Figures:
    """The figures of a database, of boards with some numbers, which were not asked before."""
    names = [f"board-{number}" for number in chance.sample(numbers, min(ASKED, len(numbers)))]
    asked = [FilledBoard(store, name, RECORDS, TURNS, _SENT_BEFORE) for name in names]
    more = list(turn_lines(TURNS + SENT))[TURNS:]
    same = list(record_lines(RECORDS))[-SENT:]
    indexes = IndexCache(store.boards, store.vectors)
    browser = MemoryBrowser(store.boards, indexes)
    query = MemoryQuery(limit=50)
    figures: Figures = {
        "boards": numbers[-1],
        "hello_ms": median_ms([board.greet for board in asked]),
        "lines_ms": median_ms([lambda board=board: board.send("journal", more) for board in asked]),
        "same_lines_ms": median_ms([lambda board=board: board.send("records", same) for board in asked]),
        "index_ms": median_ms([lambda name=name: indexes.get(name, IDENTITY) for name in names]),
        "browse_ms": median_ms([lambda name=name: browser.read_page(name, query) for name in names]),
    }
    names = [f"board-{number}" for number in chance.sample(numbers, min(TOGETHER + 1, len(numbers)))]
    alone, together = ingest(server, store, names[:1], MESSAGES), ingest(server, store, names[1:], ROUNDS)
    figures["one_board_per_s"], figures["one_board_cpu_us"] = alone
    figures["many_boards_per_s"], figures["many_boards_cpu_us"] = together
    with psycopg.connect(server.url) as connection:
        found = connection.execute(_SIZES.encode()).fetchone()
        (lines,) = connection.execute(b"SELECT count(*) FROM lines").fetchone() or (0,)
    table, index, database = map(float, found or (0, 0, 0))
    return figures | {
        "lines": lines,
        "table_bytes_a_line": table / lines,
        "index_bytes_a_line": index / lines,
        "database_mb": database / 1e6,
    }


def measure_all(sizes: list[int]) -> list[Figures]:
    """The figures of each size, the smallest first."""
    results: list[Figures] = []
    chance = random.Random(5)
    with PostgresProcess(_OPTIONS) as server, closing(choose_store(server.url)) as store:
        store.open()
        fill_template(store, RECORDS, TURNS)
        boards = 0
        for size in sorted(sizes):
            began, wanted = time.monotonic(), max(1, size // (RECORDS + TURNS))
            fill(server.url, wanted, boards)
            print(f"{size} lines took {time.monotonic() - began:.0f} s to fill", file=sys.stderr, flush=True)
            figures = measure(server, store, range(boards + 1, wanted + 1), chance)
            boards = wanted
            results.append({key: round(value, 2) for key, value in figures.items()})
    return results


def main(arguments: list[str]) -> int:
    """Measure, print a table, and keep the figures; status 1 with a sentence if PostgreSQL does not start."""
    parser = argparse.ArgumentParser(description="Measure PostgreSQL by the number of lines that it has.")
    parser.add_argument("sizes", nargs="*", type=int, metavar="LINES", help="by default 100000 and 1000000")
    sizes = parser.parse_args(arguments).sizes or list(SIZES)
    try:
        results = measure_all(sizes)
    except ServerFailed as problem:
        print(f"bench_store_size: {problem}", file=sys.stderr)
        return 1
    for key in results[0]:
        print(f"{key:20}" + "".join(f"{figures[key]:>14}" for figures in results))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(results, indent=1) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
