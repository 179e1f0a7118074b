"""What fits a file system of 2 MB, with room left to compact it."""

import json
from pathlib import Path
from typing import Any

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


FLASH_BYTES = 2 << 20
PROFILES = {
    path.parent.name: profile
    for path in sorted((ROOT / "boards").glob("*/board.json"))
    if (profile := json.loads(path.read_text()))["filesystem"]["bytes"] == FLASH_BYTES
}
A_RECORD, A_TURN = 272, 306
"""Bytes of a line of either log, as the program fills them, and some more: no log may be so full that something leaves."""


def _code_and_settings(profile: dict[str, Any]) -> tuple[Path, str]:
    """The code as the profile has it compiled, with line numbers where there is PSRAM."""
    if profile["psram"]:
        firmware_build.compile_all()
    else:
        firmware_build.compile_small()
    out = firmware_build.OUT if profile["psram"] else firmware_build.SMALL
    return out / "firmware" / "engram", json.dumps(profile["settings"])


@pytest.mark.parametrize("name", PROFILES)
def test_a_hundred_memories_and_turns_are_compacted_beside_the_code(tmp_path, name):
    told = _fill(tmp_path, 100, 100, *_code_and_settings(PROFILES[name]))
    assert told["code"] < told["full"] <= told["most"] < told["blocks"] * 3 // 5


@pytest.mark.soak
def test_two_megabytes_hold_two_thousand_records_and_turns_with_room_to_compact_both(tmp_path):
    told = _fill(tmp_path, 2000, 2000)
    assert told["most"] <= told["blocks"] - SPARE, told


@pytest.mark.soak
@pytest.mark.parametrize("name", PROFILES)
def test_beside_the_code_two_megabytes_hold_what_the_profile_says_with_room_to_compact_both(tmp_path, name):
    profile = PROFILES[name]
    records, turns = profile["settings"]["records.bytes"] // A_RECORD, profile["settings"]["journal.bytes"] // A_TURN
    told = _fill(tmp_path, records, turns, *_code_and_settings(profile))
    assert told["most"] <= told["blocks"] - SPARE, told
