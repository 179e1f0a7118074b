#!/usr/bin/env python3
"""What the store with its index in flash costs on a board without PSRAM, at several sizes.

Runs the store from .mpy on the 32-bit MicroPython with a heap of 128 KB, on a littlefs of 6 MB whose flash is a file of
the host (4096-byte blocks, read and prog 32) that counts what is done to it. Prints a table and one JSON object, which is
kept in build/bench/store.json. The texts are from LoCoMo, varied, where that folder is there, else made up.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import firmware_build
import get_micropython

ROOT = Path(__file__).resolve().parent.parent
LOCOMO = ROOT.parent / "shared" / "data" / "locomo"
OUT = ROOT / "build" / "bench" / "store.json"
SIZES = (1000, 2000, 4000, 7000, 10000)
SESSIONS = 400
HEAP = 160 << 10
HEAP_STEP = 1024

WORST = {
    "put_erases", "put_max_erases", "put_max_loops", "put_programmed_bytes", "open_read_bytes", "open_heap_bytes",
    "search_p50_read_bytes", "search_p95_read_bytes", "search_p50_loops", "search_p95_loops", "search_peak_heap_bytes",
    "update_read_bytes", "forget_erases", "index_to_log", "rebuild_seconds",
}  # fmt: skip

SYLLABLES = [first + last for first in "bdfghklmnprstvw" for last in "aeiou"]


def texts(count: int) -> list[dict[str, object]]:
    """Lines with text, speaker, tags and session, sessions interleaved."""
    random.seed(11)
    base = _from_locomo() or _made_up()
    lines = []
    for number in range(count):
        source = base[number % len(base)]
        words = source["text"].split()
        if number >= len(base):
            # A second use of a text is another text: parts of two are joined.
            words = words[: len(words) // 2] + base[random.randrange(len(base))]["text"].split()[: len(words) // 2 + 1]
        tags = [word.strip(".,!?'\"").lower()[:20] or "x" for word in random.sample(words, min(2, len(words)))]
        lines.append(
            {"text": " ".join(words), "who": source["who"], "tags": tags[:2] or ["x"], "session": number % SESSIONS}
        )
    return lines


def _from_locomo() -> list[dict[str, str]]:
    found = []
    for folder in sorted(LOCOMO.glob("*")):
        for line in (folder / "turns.jsonl").read_text(encoding="utf-8").splitlines():
            turn = json.loads(line)
            found.append({"text": turn["text"], "who": turn["speaker"]})
    return found


def _made_up() -> list[dict[str, str]]:
    words = ["".join(random.choices(SYLLABLES, k=random.randint(1, 4))) for _ in range(6000)]
    found = []
    for _ in range(3000):
        picked = [words[min(5999, int(random.paretovariate(0.7)))] for _ in range(random.randint(8, 30))]
        found.append({"text": " ".join(picked), "who": random.choice(["Ann", "Ben", "Cleo", "Dan"])})
    return found


def queries(lines: list[dict[str, object]], count: int) -> list[str]:
    """Questions of 3 to 8 words that stand in the texts, as terms."""
    sys.path.insert(0, str(ROOT / "firmware"))
    from engram import text

    random.seed(12)
    found = []
    while len(found) < count:
        terms = list(dict.fromkeys(text.terms(str(random.choice(lines)["text"]))))
        wanted = random.randint(3, 8)
        if len(terms) >= wanted:
            found.append(" ".join(random.sample(terms, wanted)))
    return found


class BoardFailed(Exception):
    """The program on the board failed; the message is what it printed."""


class Board:
    """Runs steps of tools/board/store_bench.py on one flash file."""

    def __init__(self, folder: Path, kind: str):
        self.flash = folder / f"{kind}.bin"
        self.texts, self.queries = folder / "texts.jsonl", folder / "queries.txt"
        self.kind = kind

    def run(self, *steps: str, heap: int = HEAP) -> dict[str, float]:
        """Run steps; their figures. BoardFailed when it fails."""
        path = [firmware_build.FIRMWARE, firmware_build.SIM, firmware_build.OUT / "tools" / "board", Path(".frozen")]
        command = [str(get_micropython.HOME / "32"), "-X", f"heapsize={heap}", "-m", "store_bench"]
        done = subprocess.run(
            [*command, str(self.flash), self.kind, str(self.texts), str(self.queries), *steps],
            capture_output=True,
            text=True,
            env={**os.environ, "MICROPYPATH": ":".join(str(folder) for folder in path)},
        )
        if done.returncode:
            raise BoardFailed(done.stdout[-500:] + done.stderr[-2000:])
        figures: dict[str, float] = {}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                figures.update(json.loads(line))
        return figures


def least_heap(board: Board, low: int, high: int) -> int:
    """The smallest heap with which 200 searches pass."""
    while high - low > HEAP_STEP:
        middle = (low + high) // 2
        try:
            board.run("open", "search", heap=middle)
            high = middle
        except BoardFailed:
            low = middle
    return high


def base_heap(board: Board) -> int:
    """The smallest heap with which the store opens."""
    low, high = 16 << 10, HEAP
    while high - low > HEAP_STEP:
        middle = (low + high) // 2
        try:
            board.run("open", heap=middle)
            high = middle
        except BoardFailed:
            low = middle
    return high


def measure(folder: Path, kind: str) -> list[dict[str, float]]:
    """The figures of one kind of store at each size."""
    board = Board(folder, kind)
    found = []
    for size in SIZES:
        figures = board.run("open", f"put:{size}")
        figures.update(board.run("open", "search"))
        open_heap = board.run("open")["open_heap_bytes"]
        figures["open_heap_bytes"] = open_heap
        if size == SIZES[-1]:
            least = base_heap(board)
            figures["search_peak_heap_bytes"] = least_heap(board, least, HEAP) - least
            copy = folder / "copy.bin"
            copy.write_bytes(board.flash.read_bytes())
            figures.update(board.run("open", "change"))
            figures.update(board.run("open", "rebuild"))
            board.flash.write_bytes(copy.read_bytes())
        print(kind, json.dumps(figures), file=sys.stderr, flush=True)
        found.append(figures)
    return found


def main() -> int:
    """Measure both kinds, print the table and the JSON object."""
    firmware_build.compile_all()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = texts(SIZES[-1])
        (folder / "texts.jsonl").write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n")
        (folder / "queries.txt").write_text("\n".join(queries(lines, 200)) + "\n")
        kinds = {kind: measure(folder, kind) for kind in ("turns", "records")}
    result = {"sizes": [], "turns": kinds["turns"], "records": kinds["records"]}
    for turns, records in zip(kinds["turns"], kinds["records"], strict=True):
        worse = {"n": turns["n"]}
        for key in sorted(WORST):
            if key in turns or key in records:
                worse[key] = round(max(turns.get(key, 0), records.get(key, 0)), 3)
        result["sizes"].append(worse)
    result.update(result["sizes"][-1])
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    _print_table(result["sizes"])
    print(json.dumps(result))
    return 0


def _print_table(sizes: list[dict[str, float]]) -> None:
    keys = sorted({key for size in sizes for key in size} - {"n"})
    print(f"{'':26}" + "".join(f"{int(size['n']):>12}" for size in sizes))
    for key in keys:
        print(f"{key:26}" + "".join(f"{size[key]:>12.3f}" if key in size else f"{'':>12}" for size in sizes))


if __name__ == "__main__":
    sys.exit(main())
