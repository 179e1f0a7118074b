#!/usr/bin/env python3
"""Many boards that send what they have to one companion at once: the firmware's own code, each board in a folder of its own.

    bench_boards.py URL BOARDS TURNS FOLDER

Each board is given TURNS turns before any of them connects. Then all connect; a line of JSON says how long it took until
all was acknowledged: {"seconds","turns","boards"}. Boards that were there already in FOLDER go on with what they have.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "firmware"))

from engram import diag
from engram.app import App
from engram.memory.access import OWNER

SECONDS = 600.0
"""After which boards that have not sent all are counted as lost."""

WORDS = ("kettle", "garden", "violin", "ticket", "harbour", "window", "coffee", "bicycle", "letter", "winter")


def make_boards(url: str, count: int, turns: int, folder: Path) -> list[App]:
    """Boards with some more turns each."""
    diag.level = len(diag.NAMES) - 1
    boards = []
    for number in range(count):
        name = f"{folder.name}-{number:04d}"
        home = folder / name
        home.mkdir(parents=True, exist_ok=True)
        app = App(str(home), {"companion.url": url, "companion.device": name, "log.level": "error"})
        journal = app.board.journal
        for turn in range(turns):
            words = " ".join(WORDS[(number * 7 + turn * 3 + each) % len(WORDS)] for each in range(12))
            journal.add(OWNER, "user", "owner", f"turn {turn} of {name}: {words}")
        boards.append(app)
    return boards


def companion_of(app: App) -> Any:
    """A board's side of its companion."""
    return app.board.companion


def is_copied(app: App) -> bool:
    """Whether the companion has acknowledged all that a board has."""
    return companion_of(app).short().startswith("connected") and "to send" not in companion_of(app).short()


async def send(boards: list[App]) -> float:
    """Let all boards send all; after how many seconds that was done."""
    began = time.perf_counter()
    tasks = [asyncio.create_task(companion_of(app).run()) for app in boards]
    left = boards
    while left and time.perf_counter() - began < SECONDS:
        await asyncio.sleep(0.02)
        left = [app for app in left if not is_copied(app)]
    took = time.perf_counter() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if left:
        print(f"{len(left)} boards did not send all in {SECONDS:.0f} s", file=sys.stderr)
    return took


def main(url: str, count: int, turns: int, folder: Path) -> None:
    """Make boards, let them send, and print how long it took."""
    boards = make_boards(url, count, turns, folder)
    seconds = asyncio.run(send(boards))
    print(json.dumps({"seconds": round(seconds, 3), "boards": count, "turns": count * turns}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
