#!/usr/bin/env python3
"""What the store with its index in flash costs, at several sizes.

Runs the store from .mpy on the 32-bit MicroPython on a littlefs of 6 MB whose flash is a file of
the host (4096-byte blocks, read and prog 32) that counts what is done to it. Prints a table and one JSON object, which is
kept in build/bench/store.json. The texts are the turns of a folder of conversations, varied, else made up; figures of the
two are not comparable: words that are made up have no stop words, so the common ones stand in far more rows.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[2] / name) for name in ("firmware", "tools/setup", "tools/build"))

import firmware_build
import get_micropython

ROOT = Path(__file__).resolve().parents[2]
SETS = ROOT.parent / "shared" / "data" / "locomo"
"""The conversations that the texts are from, unless --sets names others."""

MADE_UP = "made up"
OUT = ROOT / "build" / "bench" / "store.json"
SIZES = (1000, 2000, 4000, 7000, 10000)
SESSIONS = 400
SEARCHES = 200
CHAT_LINES = 800
"""Lines that are appended after the last size, as whole chat turns."""

HEAP = "2m"
"""The smallest PSRAM of a board."""

KEYS = (
    "put_erases", "put_max_erases", "put_max_loops", "put_programmed_bytes", "put_read_bytes", "open_read_bytes",
    "open_programmed_bytes", "open_erases", "open_heap_bytes",
    "search_p50_read_bytes", "search_p95_read_bytes", "search_p50_loops", "search_p95_loops",
    "search_programmed_bytes", "search_erases", "update_read_bytes", "update_all_read_bytes", "update_programmed_bytes",
    "update_erases", "forget_read_bytes", "forget_all_read_bytes", "forget_programmed_bytes", "forget_erases",
    "index_to_log", "rebuild_seconds", "chat_turn_erases", "chat_turn_programmed_bytes", "chat_turn_read_bytes",
)  # fmt: skip
"""In the order of the table. put_erases, put_programmed_bytes and put_read_bytes are means of all puts up to n, put_max_* the
worst of them.
update_read_bytes and forget_read_bytes are those of the middle one, *_all_read_bytes the mean.
"""

Figures = dict[str, float]

SYLLABLES = [first + last for first in "bdfghklmnprstvw" for last in "aeiou"]


def texts(count: int, sets: Path | None = None) -> list[dict[str, object]]:
    """Lines with text, speaker, tags and session, sessions interleaved: of the turns of a folder of conversations, or made up,
    alike on each machine.
    """
    random.seed(11)
    base = _turns_of(sets) if sets else _made_up()
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


def _turns_of(sets: Path) -> list[dict[str, str]]:
    found = []
    for folder in sorted(sets.glob("*")):
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
    """Runs steps of board/store_bench.py on one flash file."""

    def __init__(self, folder: Path, kind: str):
        self.flash = folder / f"{kind}.bin"
        self.texts, self.queries = folder / "texts.jsonl", folder / "queries.txt"
        self.kind = kind

    def run(self, *steps: str, flash: Path | None = None) -> Figures:
        """Run steps; their figures. BoardFailed when it fails."""
        path = firmware_build.compile_small()
        command = [str(get_micropython.HOME / "32"), "-X", f"heapsize={HEAP}", "-m", "store_bench"]
        done = subprocess.run(
            [*command, str(flash or self.flash), self.kind, str(self.texts), str(self.queries), *steps],
            capture_output=True,
            text=True,
            env={**os.environ, "MICROPYPATH": ":".join(str(folder) for folder in path)},
        )
        if done.returncode or "Traceback" in done.stderr:
            raise BoardFailed(done.stdout[-500:] + done.stderr[-2000:])
        figures: Figures = {}
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                figures.update(json.loads(line))
        return figures

    def run_on_copy(self, step: str) -> Figures:
        """Open the store and run a step on a copy of the flash."""
        copy = self.flash.with_suffix(".copy")
        shutil.copyfile(self.flash, copy)
        try:
            return self.run("open", step, flash=copy)
        finally:
            copy.unlink()


def measure(folder: Path, kind: str, sizes: Sequence[int]) -> list[Figures]:
    """The figures of one kind of store at each size."""
    board = Board(folder, kind)
    found: list[Figures] = []
    puts = erases = programmed = read = 0.0
    worst = {"put_max_erases": 0.0, "put_max_loops": 0.0}
    for size in sizes:
        figures: Figures = {"n": size}
        put = board.run("open", f"put:{size}")
        puts, erases, programmed = puts + put["puts"], erases + put["erases"], programmed + put["programmed_bytes"]
        read += put["read_bytes"]
        worst = {key: max(worst[key], put[key]) for key in worst}
        figures |= {"put_erases": erases / puts, "put_programmed_bytes": programmed / puts, **worst}
        figures["put_read_bytes"] = read / puts
        figures["index_to_log"] = put["index_to_log"]
        figures |= board.run("open", "search")
        for step in ("change", "rebuild"):
            changed = board.run_on_copy(step)
            figures |= {key: value for key, value in changed.items() if not key.startswith(("open", "used"))}
        if size == sizes[-1]:
            chat = board.run_on_copy("chat")
            figures |= {key: value for key, value in chat.items() if key.startswith("chat_turn")}
        print(kind, json.dumps(figures), file=sys.stderr, flush=True)
        found.append(figures)
    return found


def worse(one: Figures, other: Figures) -> Figures:
    """The higher of the two kinds in each figure; in all of them less is better."""
    found: Figures = {"n": one["n"]}
    for key in KEYS:
        if key in one:
            found[key] = round(max(one[key], other[key]), 3)
    return found


def main(arguments: list[str]) -> int:
    """Measure both kinds, at the sizes given or at all; print the table and the JSON object."""
    parser = argparse.ArgumentParser(description="Measure the store with its index in flash.")
    parser.add_argument("sizes", nargs="*", type=int, metavar="SIZE", help=f"how many lines; {SIZES} if not given")
    parser.add_argument(
        "--sets", type=Path, default=SETS, help="a folder of conversations; texts are made up if it is missing"
    )
    options = parser.parse_args(arguments)
    sizes = options.sizes or SIZES
    sets = options.sets if options.sets.is_dir() else None
    source = str(sets.name) if sets else MADE_UP
    firmware_build.compile_small()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = texts(sizes[-1] + CHAT_LINES, sets)
        (folder / "texts.jsonl").write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n")
        (folder / "queries.txt").write_text("\n".join(queries(lines[: sizes[-1]], SEARCHES)) + "\n")
        # One after the other: times are compared with a loop's, which shares the machine with nothing else.
        kinds = {kind: measure(folder, kind, sizes) for kind in ("turns", "records")}
    rows = [worse(turns, records) for turns, records in zip(kinds["turns"], kinds["records"], strict=True)]
    result = {"texts": source, **rows[-1], "sizes": rows, **kinds}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1) + "\n")
    print(f"texts: {source}")
    _print_table(rows)
    print(json.dumps(result))
    return 0


def _print_table(rows: list[Figures]) -> None:
    print(f"{'n':26}" + "".join(f"{int(row['n']):>12}" for row in rows))
    for key in KEYS:
        if any(key in row for row in rows):
            print(f"{key:26}" + "".join(f"{row[key]:>12.3f}" if key in row else f"{'':>12}" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
