"""What fits a file system of 2 MB beside the code, with room left to compact it."""

import json
from pathlib import Path

import pytest

import firmware_build
from boards import run

SPARE = 8
"""Blocks that stay free at any time: littlefs writes anew before it frees."""


def _fill(folder: Path, number: int) -> dict[str, int]:
    firmware_build.compile_small()
    code = firmware_build.SMALL / "firmware" / "engram"
    return json.loads(run("32", "capacity_board", folder / "flash.bin", code, number, heap="1m").splitlines()[-1])


def test_a_hundred_memories_and_turns_are_compacted_beside_the_code(tmp_path):
    told = _fill(tmp_path, 100)
    assert told["code"] < told["full"] <= told["most"] < told["blocks"] // 2


@pytest.mark.soak
def test_two_megabytes_hold_two_thousand_records_and_turns_with_room_to_compact_both(tmp_path):
    told = _fill(tmp_path, 2000)
    assert told["most"] <= told["blocks"] - SPARE, told
