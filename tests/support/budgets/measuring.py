"""Measures what the firmware costs at 2,000 memories and turns: counts and bytes that are the same on every machine.

measuring.py      prints all of it
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[3] / name)
    for name in ("host", "firmware", "tools/setup", "tools/build", "tools/benchmarks")
)

import bench_senses
import bench_store
import firmware_build
from engram.config import SECRETS, SETTINGS

COUNT = 2000
SEARCHES = 100
CHAT_TURNS = 100
KINDS = ("records", "turns")
Figures = dict[str, float]


def store(kind: str, folder: Path) -> Figures:
    """What a store of a kind reads, programs and erases for each operation."""
    lines = bench_store.texts(COUNT + 2 * CHAT_TURNS)
    texts = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "texts.jsonl").write_text(texts, encoding="utf-8")
    (folder / "queries.txt").write_text("\n".join(bench_store.queries(lines[:COUNT], SEARCHES)) + "\n")
    board = bench_store.Board(folder, kind)

    def run(*steps: str) -> bench_store.Figures:
        return board.run("open", *steps)

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
    return {name: round(value, 3) for name, value in figures.items()}


def mpy() -> Figures:
    """Return the bytes of all modules of the firmware, compiled with -O3."""
    firmware_build.compile_small()
    root = firmware_build.SMALL / "firmware" / "engram"
    return {"bytes": float(sum(file.stat().st_size for file in root.rglob("*.mpy")))}


def firmware() -> Figures:
    """Return the number of the firmware's modules and of its settings."""
    root = firmware_build.ROOT / "firmware" / "engram"
    return {
        "modules": float(len(list(root.rglob("*.py")))),
        "settings": float(len(SETTINGS.split("\n")) - 2 + len(SECRETS)),
    }


def senses(folder: Path) -> Figures:
    """Return what one sense and 16 cost the flash for a reading, one a minute."""
    one, many = bench_senses.cost(folder, 1, 10), bench_senses.cost(folder, 16, 2)
    return {
        "one: erases for a reading": round(one["erases"] / one["readings"], 4),
        "16: erases for a reading": round(many["erases"] / many["readings"], 4),
        "16: bytes programmed for a reading": round(many["programmed_bytes"] / many["readings"], 1),
    }


def main() -> None:
    """Print all figures by group and name."""
    figures = {"mpy": mpy()}
    with tempfile.TemporaryDirectory() as name:
        for kind in KINDS:
            (Path(name) / kind).mkdir()
            figures[kind] = store(kind, Path(name) / kind)
        figures["senses"] = senses(Path(name))
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
