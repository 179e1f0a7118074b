"""What fits a file system of 2 MB, with room left to compact it."""

import json
from pathlib import Path

import pytest

import firmware_build
from boards import ROOT, run

SPARE = 8
"""Blocks that stay free at any time: littlefs writes anew before it frees."""


def _fill(folder: Path, records: int, turns: int, *more: object) -> dict[str, int]:
    return json.loads(
        run("32", "capacity_board", folder / "flash.bin", records, turns, *more, heap="1m", seconds=1200).splitlines()[
            -1
        ]
    )


def _code_and_settings() -> tuple[Path, str]:
    firmware_build.compile_small()
    profile = json.loads((ROOT / "boards" / "ESP32_GENERIC" / "board.json").read_text())
    return firmware_build.SMALL / "firmware" / "engram", json.dumps(profile["settings"])


def test_a_hundred_memories_and_turns_are_compacted_beside_the_code(tmp_path):
    told = _fill(tmp_path, 100, 100, *_code_and_settings())
    assert told["code"] < told["full"] <= told["most"] < told["blocks"] * 3 // 5


@pytest.mark.soak
def test_two_megabytes_hold_two_thousand_records_and_turns_with_room_to_compact_both(tmp_path):
    told = _fill(tmp_path, 2000, 2000)
    assert told["most"] <= told["blocks"] - SPARE, told


@pytest.mark.soak
def test_beside_the_code_two_megabytes_hold_what_the_profile_says_with_room_to_compact_both(tmp_path):
    told = _fill(tmp_path, 1900, 1000, *_code_and_settings())
    assert told["most"] <= told["blocks"] - SPARE, told
