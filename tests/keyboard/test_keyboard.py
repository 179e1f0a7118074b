"""While a full memory makes room, the keyboard is looked at often: what the flash does between two looks is counted.

The reads of the firmware count, and all erases. What littlefs reads by itself while it finds or changes an entry of a folder,
or takes a block, is no step that could be made smaller.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import firmware_build
import get_micropython
from sharing import shared

READS, ERASES = 200, 4
IN_VAIN = 1500
"""Reads of a compaction's longest step: a line that has left the log is looked for before its row leaves the index."""

RECORDS, TURNS = 795, 620
SETTINGS = json.dumps({"records.bytes": 262144, "records.most": 800, "journal.bytes": 131072})
HEAP = "4m"

BOARD = Path(__file__).resolve().parents[1] / "support" / "keyboard"
MICROPYTHON = get_micropython.HOME / "32"
PATH = [firmware_build.FIRMWARE, firmware_build.SUPPORT, firmware_build.SIM, BOARD, Path(".frozen")]

Situation = dict[str, Any]


def run(*words: object) -> str:
    """What the program prints."""
    done = subprocess.run(
        [MICROPYTHON, "-X", f"heapsize={HEAP}", BOARD / "keyboard_board.py", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "MICROPYPATH": ":".join(map(str, PATH))},
        timeout=300,
    )
    assert not done.returncode and "Traceback" not in done.stderr, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A flash with a memory and a journal that are nearly full."""
    if not get_micropython.usable(MICROPYTHON, 32):
        pytest.skip("there is no 32-bit MicroPython for this machine")

    def make() -> bytes:
        path = tmp_path_factory.mktemp("full") / "flash.bin"
        run("fill", path, SETTINGS, RECORDS, TURNS)
        return path.read_bytes()

    return shared(tmp_path_factory, "full_memory", make)


def watch(full: bytes, folder: Path, *situations: str) -> list[Situation]:
    """Count situations on one start of the board."""
    flash = folder / "flash.bin"
    flash.write_bytes(full)
    printed = [
        json.loads(line[2:]) for line in run("watch", flash, SETTINGS, *situations).splitlines() if line[:1] == ">"
    ]
    assert [name for name, *_ in printed] == list(situations)
    return [{"name": name, "most": most, "looks": looks} for name, most, looks in printed]


def assert_short(full: bytes, folder: Path, **reads: int) -> None:
    """In no situation, given with the most reads of a step there, is a step longer than it may be."""
    for situation in watch(full, folder, *reads):
        most = situation["most"]
        assert most["reads"] <= reads[situation["name"]] and most["erases"] <= ERASES, situation
        assert situation["looks"] > 100, situation


def test_a_full_memory_makes_room_after_the_start_and_with_each_new_memory(full: bytes, tmp_path: Path):
    assert_short(full, tmp_path, start=READS, room=READS)


def test_the_oldest_turns_leave_a_full_journal(full: bytes, tmp_path: Path):
    assert_short(full, tmp_path, start=READS, turns=READS)


def test_a_lost_index_is_rebuilt(full: bytes, tmp_path: Path):
    assert_short(full, tmp_path, rebuild=READS)


def test_a_compaction(full: bytes, tmp_path: Path):
    assert_short(full, tmp_path, start=READS, compact=IN_VAIN)
