#!/usr/bin/env python3
"""Measure what is kept of 16 senses: bytes for each aggregate, and for how long the rings of the default size keep them.

Also what writing costs the flash, and what rests on the heap, on the 32-bit MicroPython. Prints tables and writes
build/bench/senses.json; status 1 if a year of hours and ten years of days do not fit.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / name) for name in ("firmware", "tools/setup", "tools/build")]

import firmware_build  # noqa: E402
import get_micropython  # noqa: E402
from engram.clock import Clock  # noqa: E402
from engram.senses import packing  # noqa: E402
from engram.senses.history import DAY_LEVEL, HOUR_LEVEL, LEVELS, MINUTE_LEVEL, History  # noqa: E402
from engram.senses.rings import part  # noqa: E402
from sense_samples import DAY, in_blocks, readings, rows  # noqa: E402

OUT = ROOT / "build" / "bench" / "senses.json"
MOST_BYTES = 512 << 10
HEAP = "200k"
FIRST_DAY = 20000
YEARS_OF_DAYS, DAYS_OF_HOURS, DAYS_OF_MINUTES = 10, 365, 4
BLOCKS = {DAY_LEVEL: 31, HOUR_LEVEL: 72, MINUTE_LEVEL: 60}
"""Slots of a block, as they are folded and written: see history.py."""

Series = dict[str, list[tuple[int, ...]]]


def series(years: int = YEARS_OF_DAYS, days: int = DAYS_OF_HOURS) -> dict[int, Series]:
    """The aggregates of each level: days of some years, hours of some days, minutes of a few."""
    long, year = readings(years * 365, step=10), readings(days)
    last_day = FIRST_DAY + years * 365
    return {
        DAY_LEVEL: {name: rows(values, DAY // 10, FIRST_DAY, DAY) for name, values in long.items()},
        HOUR_LEVEL: {name: rows(values, 60, last_day * 24) for name, values in year.items()},
        MINUTE_LEVEL: {name: rows(values[: DAYS_OF_MINUTES * DAY], 1, last_day * DAY) for name, values in year.items()},
    }


def measure(whole: dict[int, Series]) -> dict[str, dict[str, float]]:
    """For each level: bytes for an aggregate and of all, and how many slots of each sense its ring has at least."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder, MOST_BYTES, Clock(0, lambda: FIRST_DAY * 86400))
        history.open()
        for level, given in whole.items():
            ring, written = history.rings[level], [0]
            fewest = _fill(ring, level, given, written)
            count = sum(map(len, given.values()))
            figures[LEVELS[level]] = {
                "bytes each": round(written[0] / count, 3),
                "KB of all": round(written[0] / 1024, 1),
                "KB of the ring": round(ring.cap / 1024, 1),
                "fewest kept": fewest,
                "of": count // len(given),
            }
    return figures


def _fill(ring, level: int, given: Series, written: list[int]) -> int:
    """Write all there is, twice; how many slots the ring has at least from its end on: fewer just after a file has left."""
    kept: list[int] = []

    def write(first: int, last: int, block: list) -> None:
        parts = b"".join(part(number, packing.pack(lines, first, level == MINUTE_LEVEL)) for number, lines in block)
        ring.append(parts, 0, first, last)
        written[0] += len(parts) + 24  # and its head
        kept.append(sum(other.last - other.first + 1 for other in ring.blocks()))

    in_blocks(given, BLOCKS[level], write)
    total, once = written[0], len(kept)
    in_blocks(given, BLOCKS[level], write)
    written[0] = total
    return min(kept[once - 1 :])


def cost(folder: Path, senses: int, days: int, raw: int) -> dict[str, int]:
    """What some senses cost in some days: erases and bytes of the flash, and the heap at rest with so many raw readings.

    Paths are relative to the project: each loaded module keeps its path on the heap.
    """
    folders = firmware_build.compile_small()
    paths = ":".join(os.path.relpath(each, ROOT) if each.is_absolute() else str(each) for each in folders)
    program = firmware_build.SMALL / "tools" / "benchmarks" / "board" / "senses_cost.mpy"
    flash = folder / f"senses-{senses}-{raw}.bin"
    code = f"import sys; sys.argv[1:] = {[str(flash), str(senses), str(days), str(raw)]!r}; "
    line = [str(get_micropython.HOME / "32"), "-X", f"heapsize={HEAP}", "-c", code + f"import {program.stem}"]
    environment = {**os.environ, "MICROPYPATH": paths}
    done = subprocess.run(line, capture_output=True, text=True, env=environment, cwd=ROOT, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Measure and print."""
    argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0]).parse_args()
    figures = measure(series())
    print(f"{'level':8}" + "".join(f"{name:>16}" for name in next(iter(figures.values()))))
    for level, row in figures.items():
        print(f"{level:8}" + "".join(f"{value:16}" for value in row.values()))
    costs = {}
    with tempfile.TemporaryDirectory() as folder:
        for senses, days, raw in ((1, 10, 0), (16, 2, 0), (16, 2, 30)):
            row = costs[f"{senses} senses, {raw} raw readings each"] = cost(Path(folder), senses, days, raw)
            erases, programmed = row["erases"] / row["readings"], row["programmed_bytes"] / row["readings"]
            each = f"{erases:.4f} erases, {programmed:.1f} bytes for a reading, {row['heap']} bytes of heap"
            print(f"{senses} senses, {raw} raw readings each: {each}")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps({**figures, **costs}, indent=1) + "\n")
    return int(any(figures[level]["fewest kept"] < figures[level]["of"] for level in ("hour", "day")))


if __name__ == "__main__":
    sys.exit(main())
