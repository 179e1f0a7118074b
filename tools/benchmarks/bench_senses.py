#!/usr/bin/env python3
"""Measure what senses cost the flash and the heap on the 32-bit MicroPython: erases and bytes for a reading, and bytes kept.

Prints a line for one sense and for 16, and writes build/bench/senses.json.
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

OUT = ROOT / "build" / "bench" / "senses.json"
HEAP = "2m"


def cost(folder: Path, senses: int, days: int) -> dict[str, int]:
    """What some senses cost in some days: erases and bytes of the flash, and the heap at rest.

    Paths are relative to the project: each loaded module keeps its path on the heap.
    """
    folders = firmware_build.compile_small()
    paths = ":".join(os.path.relpath(each, ROOT) if each.is_absolute() else str(each) for each in folders)
    program = firmware_build.SMALL / "tools" / "benchmarks" / "board" / "senses_cost.mpy"
    flash = folder / f"senses-{senses}.bin"
    code = f"import sys; sys.argv[1:] = {[str(flash), str(senses), str(days)]!r}; "
    line = [str(get_micropython.HOME / "32"), "-X", f"heapsize={HEAP}", "-c", code + f"import {program.stem}"]
    environment = {**os.environ, "MICROPYPATH": paths}
    done = subprocess.run(line, capture_output=True, text=True, env=environment, cwd=ROOT, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Measure and print."""
    argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0]).parse_args()
    costs = {}
    with tempfile.TemporaryDirectory() as folder:
        for senses, days in ((1, 10), (16, 4)):
            row = costs[f"{senses} senses"] = cost(Path(folder), senses, days)
            each = {name: row[name] / row["readings"] for name in ("erases", "programmed_bytes", "kept_bytes")}
            said = "{erases:.4f} erases, {programmed_bytes:.1f} bytes programmed, {kept_bytes:.2f} kept for a reading"
            print(f"{senses} senses: {said.format(**each)}, {row['heap']} bytes of heap")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(costs, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
