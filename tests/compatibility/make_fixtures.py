#!/usr/bin/env python3
"""Makes the fixtures of a version in tests/data anew: only for a new version, as those of an old one say what it wrote.

PYTHONPATH=host:firmware:tools:tests python tests/compatibility/make_fixtures.py flash | wire | ranks
"""

import lzma
import sys
import tempfile
from pathlib import Path

import firmware_build
import get_micropython
from board_fixture import DATA, EXPECTED, FLASH, dump, read, run, shortened

READ_AFTER = 3600
"""Seconds after the last thing happened that a board is read."""


def make_flash() -> None:
    """Let a board be written, and note what it says of itself."""
    firmware_build.compile_all()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        now = int(run("32", "write_board.py", "/flash", folder / "written.bin").splitlines()[-1]) + READ_AFTER
        data = (folder / "written.bin").read_bytes()
        opened, after = read("32", data, folder, now, "see", "go_on", "see")
        (rebuilt,) = read("32", data, folder, now, "unindex", "see")
    bodies: dict = {}
    states = {"opened": opened, "rebuilt": rebuilt, "after": after}
    states = {step: shortened(state, bodies) for step, state in states.items()}
    micropython = get_micropython.probe(get_micropython.HOME / "32")
    made = {"engram": "0.1.0", "micropython": micropython[0] if micropython else None, "now": now}
    DATA.mkdir(parents=True, exist_ok=True)
    FLASH.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    EXPECTED.write_text(dump({"made": made, **states, "bodies": bodies}) + "\n", encoding="utf-8")
    print(f"{FLASH}: {FLASH.stat().st_size} bytes, {EXPECTED}: {EXPECTED.stat().st_size} bytes")


if __name__ == "__main__":
    {"flash": make_flash}[sys.argv[1]]()
