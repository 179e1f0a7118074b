#!/usr/bin/env python3
"""Measure the start of a board with Wi-Fi, a model and Telegram, up to its banner, on the 32-bit MicroPython.

Prints what it reads of the flash, loads and inflates, and what takes its milliseconds; writes build/bench/start.json.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / name) for name in ("host", "firmware", "tools/setup", "tools/build")]

import firmware_build  # noqa: E402
import get_micropython  # noqa: E402
from engram_host.boards import file_set, flash, profile  # noqa: E402

OUT = ROOT / "build" / "bench" / "start.json"
PROGRAM = ROOT / "tests" / "support" / "boards" / "start_board.py"
BOARD = "ESP32_GENERIC_SPIRAM"
HEAP = "2m"
SETTINGS = {
    "llm.url": "http://192.168.1.2/v1",
    "llm.model": "m",
    "telegram.url": "http://192.168.1.2",
    "network.ntp": "",
}
SECRETS = {"wifi": [{"ssid": "Home", "password": "correct horse"}], "telegram": {"token": "1:a"}}


def measure(folder: Path) -> dict[str, Any]:
    """Return the cost of a board's second start, after one that has made its files."""
    firmware_build.compile_all()
    board = profile.load_profile(BOARD)
    files = file_set.code_files(board) | file_set.seed_files(board, SETTINGS)
    files["secrets.json"] = json.dumps(SECRETS).encode()
    image = folder / "flash.bin"
    image.write_bytes(flash.build_littlefs(files, board.filesystem.size))
    path = f"{firmware_build.SUPPORT}:{firmware_build.SIM}:.frozen"
    command = [str(get_micropython.HOME / "32"), "-X", f"heapsize={HEAP}", str(PROGRAM), str(image)]
    for _ in ("first", "second"):
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "MICROPYPATH": path}, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])  # pyright: ignore[reportPossiblyUnboundVariable]


def main() -> int:
    """Measure and print."""
    argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    print(json.dumps(figures, indent=1))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
