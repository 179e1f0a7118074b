#!/usr/bin/env python3
"""What the firmware takes of a board's heap: each module, each step of the start, and a turn.

    heap.py [--frozen]      from .mpy files and from a ROMFS; with --frozen also built into MicroPython

Everything runs on the 32-bit MicroPython, which has the chip's object sizes, with the settings of boards/ESP32_GENERIC
and its file system as a flash with 2,000 records. Prints tables, and keeps all figures in build/heap.json; docs/design/heap.md
says what they mean.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[2] / name) for name in ("host", "firmware", "tools/setup", "tools/build")
)

import debian
import frozen_build
import get_micropython
import heap_flash
import heap_uses
from engram_host.boards import profile
from heap_bench import Bench, BoardFailed, modules_in_order
from heap_builds import BUILDS, FOLDER, ROOT
from heap_tables import tables, use_tables

OUT = ROOT / "build" / "heap.json"
BOARD = "ESP32_GENERIC"
RECORDS = 2000
ROOM = {"records.most": RECORDS + 1, "records.bytes": 384 << 10}
"""One more than the flash holds is stored: it is the heap that is asked for, not the flash of a board's profile."""

_AT_ONCE = 2


def main(arguments: list[str]) -> int:
    """Measure; status 1 with a sentence where that cannot be."""
    parser = argparse.ArgumentParser(description="What does the firmware take of a board's heap?")
    parser.add_argument("--frozen", action="store_true", help="also with the firmware built into MicroPython")
    given = parser.parse_args(arguments)
    try:
        get_micropython.ensure(32)
        builds = [make() for name, make in BUILDS.items() if given.frozen or name != "frozen"]
        board = replace(profile.load_profile(BOARD), settings=profile.load_profile(BOARD).settings | ROOM)
        image, turns, records = heap_flash.filled(board, RECORDS)
        FOLDER.mkdir(parents=True, exist_ok=True)
        flash = FOLDER / "flash.bin"
        flash.write_bytes(image)
        modules = modules_in_order()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            benches = [Bench(build, flash, board.settings) for build in builds]
            measured = pool.map(lambda bench: bench.measure(modules), benches)
            figures = {build.name: one for build, one in zip(builds, measured, strict=True)}
            used = pool.map(heap_uses.measure, benches)
            uses = {build.name: one for build, one in zip(builds, used, strict=True)}
    except (debian.Unavailable, BoardFailed) as problem:
        print(f"heap: {problem}", file=sys.stderr)
        return 1
    packages = heap_uses.package_bytes()
    kept = {
        "board": BOARD,
        "records": records,
        "turns": turns,
        "builds": {name: asdict(one) for name, one in figures.items()},
        "uses": {name: asdict(one) for name, one in uses.items()},
        "packages": packages,
    }
    OUT.write_text(json.dumps(kept, indent=1) + "\n", encoding="ascii")
    print(f"{BOARD}, {records} records and {turns} turns on its flash\n\n{tables(figures)}")
    print(f"\n{use_tables(uses, packages)}")
    if given.frozen:
        print(f"\nthe frozen modules take {frozen_build.frozen_bytes()} bytes of flash")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
