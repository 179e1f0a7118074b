"""Runs the board's half of these tests (board/player.py) on MicroPython and on CPython."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import firmware_build
import get_micropython
from expected import ROOMS, Answer, Operation

ROOT = Path(__file__).resolve().parents[3]
HEAP = "2m"
"""Not that of a chip: in a small one most of the time is spent on collecting it."""

SECONDS = 120
FLASH_BYTES = 768 << 10
SIZES = {"engram.store.log.segments:SMALLEST_SEGMENT": 8192, "engram.store.index.memtable:CHUNK_BYTES": 3072}
"""Small, so that a script of some hundred operations seals segments and merges tables of the index."""

SETTINGS = {"records.bytes": 65536, "journal.bytes": 65536, "log.level": "error"}


@dataclass
class Played:
    """What a board told, and how its process ended."""

    answers: list[Answer]
    status: int
    errors: str

    def results(self) -> dict[int, Any]:
        """What each operation gave, by its number, as far as they were acknowledged."""
        return {answer[1]: answer[3] for answer in self.answers if answer[0] == "ack"}

    def at_change(self) -> dict[int, int]:
        """By how many changes of the flash each operation had been acknowledged."""
        return {answer[1]: answer[2] for answer in self.answers if answer[0] == "ack"}

    def refused(self) -> list[Answer]:
        """What was told of operations that were refused, or named one that was."""
        return [answer for answer in self.answers if answer[0] in ("refused", "skipped")]

    def looks(self) -> list[list[Answer]]:
        """What was told at each look."""
        found: list[list[Answer]] = [[]]
        for answer in self.answers:
            if answer[0] == "looked":
                found.append([])
            else:
                found[-1].append(answer)
        return found[:-1]


def look(also: Iterable[str | int] = ()) -> Operation:
    """The operation that tells all; records that are not live any more are asked for by id or by their operation."""
    return {"do": "look", "rooms": ROOMS, "also": list(also)}


def command(runtime: str) -> tuple[list[str], dict[str, str]]:
    """How the player is started on a runtime, and with what environment."""
    if runtime == "cpython":
        source = [ROOT / "firmware", ROOT / "tests" / "support" / "power" / "board", ROOT / "boards" / "SIM"]
        return [sys.executable, "-m", "player"], {**os.environ, "PYTHONPATH": _path(source)}
    compiled = [firmware_build.FIRMWARE, firmware_build.POWER, firmware_build.SIM, Path(".frozen")]
    micropython = str(get_micropython.HOME / runtime)
    heap = HEAP if runtime == "32" else "4m"
    return [micropython, "-X", f"heapsize={heap}", "-m", "player"], {**os.environ, "MICROPYPATH": _path(compiled)}


def _path(folders: list[Path]) -> str:
    return ":".join(str(folder) for folder in folders)


def encode(operations: Iterable[Operation], **options: Any) -> bytes:
    """The player's options and operations as it reads them."""
    lines = [{"settings": SETTINGS, "sizes": SIZES, **options}, *operations]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def play(operations: Iterable[Operation], runtime: str = "32", **options: Any) -> Played:
    """Play operations to their end."""
    words, environment = command(runtime)
    given = encode(operations, **options)
    done = subprocess.run(words, input=given, capture_output=True, timeout=SECONDS, env=environment)
    return Played(answers(done.stdout), done.returncode, (done.stdout[-300:] + done.stderr).decode("utf-8", "replace"))


def answers(printed: bytes) -> list[Answer]:
    """The answers among what was printed; the last one is left out if it is cut."""
    found = []
    for line in printed.decode("utf-8", "replace").split("\n")[:-1]:
        if line.startswith('["'):
            found.append(json.loads(line))
    return found
