#!/usr/bin/env python3
"""Lines and greetings a second that 1, 2 and 3 workers take from a fleet of boards, on one PostgreSQL and one mosquitto.

    bench_workers.py [--boards 60] [--turns 600] [--rounds 2] [WORKERS ...]

Boards are a process of their own that sends messages which were made before, each board one after the answer to the one before,
as boards do. So what is measured is the companion with its database and the broker, on the cores that all of them share. Prints
a table; build/bench/workers.json has the same: CPU seconds of each part for 1,000 lines, the memory of the largest worker, and
what a line takes of PostgreSQL's disk, with its indexes.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

sys.path.extend(str(Path(__file__).resolve().parents[2] / name) for name in ("host", "firmware", "tools/setup"))

import aiomqtt
import psutil

import debian
import get_mosquitto
from bench_companion import OUT as COMPANION_OUT
from bench_lines import free_port, turns
from engram import log_line
from engram.link import messages
from postgres_process import PostgresProcess
from server_process import CompanionProcess, Mosquitto, ServerFailed

OUT = COMPANION_OUT.with_name("workers.json")
MESSAGE_BYTES = 4096
"""About the lines of one message, as boards send them."""

ANSWER_SECONDS = 30.0
EPOCH = 7
GREETINGS = 20
"""Of each board, one after the other."""


class WorkersProcess(CompanionProcess):
    """`engram serve --workers`."""

    def __init__(self, home: Path, workers: int, mqtt_url: str, store_url: str):
        super().__init__(home, free_port(), mqtt_url=mqtt_url, variables={"ENGRAM_STORE_URL": store_url})
        self._workers = workers

    def command(self) -> tuple[list[str], dict[str, str]]:
        words, variables = super().command()
        return [*words, "--workers", str(self._workers)], variables


# --- boards


class PreparedBoard:
    """A board whose lines are made, in messages of some KB."""

    def __init__(self, name: str, count: int, seed: int):
        self.name = name
        self.count = count
        self._n = 0
        self._parts: list[tuple[int, int, list[bytes]]] = []
        part: list[bytes] = []
        after = last = 0
        for seq, line in turns(count, seed):
            if part and sum(map(len, part)) + len(line) > MESSAGE_BYTES:
                self._parts.append((after, last, part))
                after, part = last, []
            part.append(line)
            last = seq
        self._parts.append((after, last, part))

    def hello(self) -> bytes:
        logs = {"records": [EPOCH, 1, 1, 0], "journal": [EPOCH, 1, self.count + 1, 0]}
        return self._message("hello", b"", version=1, zone=0, relied=0, **logs)

    def lines(self) -> list[bytes]:
        """The messages with all lines."""
        return [
            self._message("lines", b"".join(part), log="journal", epoch=EPOCH, after=after, to=to, count=len(part))
            for after, to, part in self._parts
        ]

    def _message(self, op: str, body: bytes, **fields: object) -> bytes:
        self._n += 1
        return messages.encode(op, f"id-{self.name}", 1, self._n, **fields) + body


async def send_all(url: str, boards: list[PreparedBoard]) -> tuple[float, float]:
    """Let all boards greet, then send all: the seconds of both until all was answered."""
    where = urlsplit(url)
    answers = {board.name: asyncio.Queue[bytes]() for board in boards}
    most = 4 * len(boards)
    client = aiomqtt.Client(
        where.hostname or "", where.port or 0, max_concurrent_outgoing_calls=most, max_inflight_messages=most
    )
    async with client:
        await client.subscribe("engram/v1/+/down", qos=1)

        async def listen() -> None:
            async for message in client.messages:
                assert isinstance(message.payload, bytes)
                answers[message.topic.value.split("/")[2]].put_nowait(message.payload)

        async def ask(board: PreparedBoard, message: bytes, op: str) -> None:
            await client.publish(f"engram/v1/{board.name}/up", message, qos=1)
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = log_line.decode(await answers[board.name].get())
            if answer["op"] != op:
                raise SystemExit(f"a board was answered {answer}")

        async def send(board: PreparedBoard, prepared: list[bytes]) -> None:
            for message in prepared:
                await ask(board, message, "have")

        listening = asyncio.create_task(listen())

        async def greet(board: PreparedBoard) -> None:
            for _ in range(GREETINGS):
                await ask(board, board.hello(), "welcome")

        await asyncio.gather(*(ask(board, board.hello(), "welcome") for board in boards))  # of boards that are new
        began = time.perf_counter()
        await asyncio.gather(*map(greet, boards))
        greeted = time.perf_counter() - began
        prepared = [board.lines() for board in boards]
        began = time.perf_counter()
        await asyncio.gather(*map(send, boards, prepared))
        took = time.perf_counter() - began
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        return greeted, took


def run_boards(url: str, names: str, boards: int, each: int) -> None:
    """Be the boards, as a process of their own; the seconds and the CPU seconds as JSON."""
    fleet = [PreparedBoard(f"{names}-{number}", each, number + 1) for number in range(boards)]
    greeted, took = asyncio.run(send_all(url, fleet))
    print(json.dumps({"greeted": greeted, "seconds": took}), flush=True)


# --- measuring


def cpu_of(pid: int) -> float:
    """CPU seconds of a process and of all that it started."""
    process = psutil.Process(pid)
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def measure(workers: int, boards: int, each: int, rounds: int) -> dict[str, float]:
    """Lines a second, and the CPU seconds for 1,000 lines of each part: the best of some rounds."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(PostgresProcess())
        broker = stack.enter_context(Mosquitto(free_port()))
        companion = stack.enter_context(WorkersProcess(folder / "home", workers, broker.url, postgres.url))
        found: list[dict[str, float]] = []
        for number in range(rounds):
            pids = {"workers": companion.pid, "postgres": postgres.pid, "mosquitto": broker.pid}
            before = {name: cpu_of(pid) for name, pid in pids.items()}
            words = [sys.executable, __file__, "--be-boards", broker.url, f"r{number}"]
            words += ["--boards", str(boards), "--turns", str(each)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"the boards failed:\n{done.stdout}{done.stderr}\n{companion.printed()}")
            told = json.loads(done.stdout)
            lines = boards * each
            cpu = {name: 1000 * (cpu_of(pid) - before[name]) / lines for name, pid in pids.items()}
            greetings = boards * GREETINGS / told["greeted"]
            found.append({"lines_a_second": lines / told["seconds"], "greetings_a_second": greetings, **cpu})
        best = max(found, key=lambda figures: figures["lines_a_second"])
        return best | {"worker_mb": most_memory(companion.pid), "bytes_a_line": bytes_of_a_line(postgres.url)}


def most_memory(pid: int) -> float:
    """Megabytes of the largest process that a process has started, or of itself."""
    process = psutil.Process(pid)
    return max(each.memory_info().rss for each in (process, *process.children())) / 1e6


def bytes_of_a_line(url: str) -> float:
    """What a line takes on PostgreSQL's disk, with the indexes."""
    import psycopg  # an extra, which only PostgreSQL needs

    with psycopg.connect(url) as connection:
        parts = b"SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('lines')"
        ((size,),) = connection.execute(parts).fetchall()
        ((count,),) = connection.execute(b"SELECT count(*) FROM lines").fetchall()
    return float(size) / max(1, count)


def main(arguments: list[str]) -> int:
    """Measure, print a table, and keep the figures; status 1 with a sentence where a server does not start."""
    parser = argparse.ArgumentParser(description="Measure what 1, 2 and 3 workers take from boards in a second.")
    parser.add_argument("workers", nargs="*", type=int, metavar="WORKERS", help="how many; 1, 2 and 3 by default")
    parser.add_argument("--boards", type=int, default=60, help="that send at the same time")
    parser.add_argument("--turns", type=int, default=600, help="that each of them sends")
    parser.add_argument("--rounds", type=int, default=2, help="number of rounds; the best counts")
    parser.add_argument("--be-boards", nargs=2, metavar=("URL", "NAME"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.be_boards:
        url, names = given.be_boards
        run_boards(url, names, given.boards, given.turns)
        return 0
    try:
        get_mosquitto.ensure()
        results = {
            count: measure(count, given.boards, given.turns, given.rounds) for count in given.workers or (1, 2, 3)
        }
    except (debian.Unavailable, ServerFailed) as problem:
        print(problem, file=sys.stderr)
        return 1
    names = list(next(iter(results.values())))
    print("workers  " + "  ".join(f"{name:>18}" for name in names))
    for count, figures in results.items():
        print(f"{count:>7}  " + "  ".join(f"{figures[name]:>18.2f}" for name in names))
    print("workers, postgres, mosquitto: CPU seconds for 1,000 lines, greetings included")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
