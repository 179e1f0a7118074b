"""Measures what the firmware costs at 2,000 memories and turns: counts and bytes that are the same on every machine.

measuring.py      prints all of it
"""

import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[3] / name)
    for name in ("host", "firmware", "tools/setup", "tools/build", "tools/benchmarks")
)

import bench_senses
import bench_store
import firmware_build
import heap
import heap_builds
import heap_flash
from engram_host.boards import profile
from heap_bench import COMPARES, TOOLS, TURN, Bench, BoardFailed, Case

COUNT = 2000
SEARCHES = 100
CHAT_TURNS = 100
KINDS = ("records", "turns")
ANSWERS, RUNS_TOOLS = "heap: KB in which a turn is answered", "heap: KB in which a turn runs tools"
COMPARES_FACTS = "heap: KB in which a turn compares facts"

HEAP_STEP = 4
"""Kilobytes between two heaps that are tried."""

APART = {
    "channels/telegram": "modules of Telegram",
    "tools": "modules of tools",
    "timers": "modules of timers",
    "senses": "modules of senses",
    "senses/events": "modules of senses",
    "senses/answers": "modules of senses, answers",
}
"""Packages that are loaded only where they are used, and the budgets that they have of their own."""

TRIES = 3
"""How often the heap of a limit is tried: what is free in it also depends on how the network cuts an answer into pieces."""

MOST_ABOVE = 64
"""Kilobytes above a limit up to which the smallest heap is looked for, so that a failure tells it."""

Figures = dict[str, float]


def store(kind: str, folder: Path) -> Figures:
    """What a store of a kind reads, programs and erases for each operation."""
    lines = bench_store.texts(COUNT + 2 * CHAT_TURNS)
    texts = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "texts.jsonl").write_text(texts, encoding="utf-8")
    (folder / "queries.txt").write_text("\n".join(bench_store.queries(lines[:COUNT], SEARCHES)) + "\n")
    board = bench_store.Board(folder, kind)

    def run(*steps: str) -> bench_store.Figures:
        return board.run("open", *steps, heap=bench_store.ROOMY)

    put = run(f"put:{COUNT}")
    found = run(f"search:{SEARCHES}")
    filled = folder / "filled"
    shutil.copyfile(board.flash, filled)
    found |= {name: value for name, value in run("change").items() if name.startswith(("update", "forget"))}
    figures = {
        "open: bytes read": found["open_read_bytes"],
        "open: bytes programmed": found["open_programmed_bytes"],
        "open: erases": found["open_erases"],
        "put: bytes read": put["read_bytes"] / put["puts"],
        "put: bytes programmed": put["programmed_bytes"] / put["puts"],
        "put: erases": put["erases"] / put["puts"],
        "put: most erases": put["put_max_erases"],
        "search: bytes read, median": found["search_p50_read_bytes"],
        "search: bytes read, p95": found["search_p95_read_bytes"],
        "search: bytes programmed": found["search_programmed_bytes"],
        "search: erases": found["search_erases"],
    }
    for name in ("update", "forget"):
        figures[f"{name}: bytes read"] = found[f"{name}_all_read_bytes"]
        figures[f"{name}: bytes programmed"] = found[f"{name}_programmed_bytes"]
        figures[f"{name}: erases"] = found[f"{name}_erases"]
    if kind == "turns":
        shutil.copyfile(filled, board.flash)
        chat = run(f"chat:{CHAT_TURNS}")
        figures["chat turn: bytes read"] = chat["chat_turn_read_bytes"]
        figures["chat turn: bytes programmed"] = chat["chat_turn_programmed_bytes"]
        figures["chat turn: erases"] = chat["chat_turn_erases"]
    return {f"{kind}, {name}": round(value, 3) for name, value in figures.items()}


def mpy() -> Figures:
    """The bytes of all modules of the firmware, compiled as for a board without PSRAM; those of some packages apart."""
    firmware_build.compile_small()
    root = firmware_build.SMALL / "firmware" / "engram"
    sizes = Counter[str]()
    for file in root.rglob("*.mpy"):
        sizes[APART.get(file.parent.relative_to(root).as_posix(), "modules")] += file.stat().st_size
    return {f"{group}: bytes of .mpy": float(size) for group, size in sizes.items()}


def senses(folder: Path) -> Figures:
    """What one sense and 16 cost the flash for a reading, one a minute, and what 16 take of the heap at rest."""
    one, many = bench_senses.cost(folder, 1, 10, 0), bench_senses.cost(folder, 16, 2, 30)
    return {
        "senses, one: erases for a reading": round(one["erases"] / one["readings"], 4),
        "senses, one: bytes programmed for a reading": round(one["programmed_bytes"] / one["readings"], 1),
        "senses, 16: erases for a reading": round(many["erases"] / many["readings"], 4),
        "senses, 16: bytes of heap at rest": float(many["heap"]),
    }


def heaps(folder: Path, limits: Figures, is_less_tried: bool = True) -> Figures:
    """The smallest heaps in kilobytes with which the turns of each budget pass, looked for from the limits on.

    Unless `is_less_tried` a limit that is enough is the figure.
    """
    board = replace(profile.load_profile(heap.BOARD), settings=profile.load_profile(heap.BOARD).settings | heap.ROOM)
    image, _, _ = heap_flash.filled(board, COUNT)
    flash = folder / "flash.bin"
    flash.write_bytes(image)
    bench = Bench(heap_builds.mpy(), flash, board.settings)
    names = {TURN: ANSWERS, TOOLS: RUNS_TOOLS, COMPARES: COMPARES_FACTS}

    def passes(case: Case, kilobytes: int) -> bool:
        tries = TRIES if kilobytes >= limits[names[case]] else 1
        return any(_passes(bench, case, kilobytes) for _ in range(tries))

    return {
        name: smallest(lambda kilobytes, case=case: passes(case, kilobytes), int(limits[name]), is_less_tried)
        for case, name in names.items()
    }


def _passes(bench: Bench, case: Case, kilobytes: int) -> bool:
    try:
        bench.talk(case, kilobytes)
    except BoardFailed:
        return False
    return True


def smallest(passes: Callable[[int], bool], first: int, is_less_tried: bool = True) -> int:
    """The smallest heap that passes, in steps from `first` on; beyond MOST_ABOVE none is looked for, below it if wanted."""
    kilobytes = first
    if passes(kilobytes):
        while is_less_tried and passes(kilobytes - HEAP_STEP):
            kilobytes -= HEAP_STEP
        return kilobytes
    while kilobytes <= first + MOST_ABOVE:
        kilobytes += HEAP_STEP
        if passes(kilobytes):
            break
    return kilobytes


def main() -> None:
    """Print all figures, by name."""
    figures = mpy()
    with tempfile.TemporaryDirectory() as name:
        figures |= heaps(Path(name), dict.fromkeys((ANSWERS, RUNS_TOOLS, COMPARES_FACTS), 400.0))
        for kind in KINDS:
            (Path(name) / kind).mkdir()
            figures |= store(kind, Path(name) / kind)
        figures |= senses(Path(name))
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
