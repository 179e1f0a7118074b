"""What fits a file system of 2 MB, with room left to compact it."""

import json
from pathlib import Path

import pytest

from engram_host.boards import file_set, profile
from engram_host.boards.profile import BoardProfile
from store_boards import run

SPARE = 8
"""Blocks that stay free at any time: littlefs writes anew before it frees."""


def _fill(folder: Path, records: int, turns: int, *more: object) -> dict[str, int]:
    return json.loads(
        run("32", "capacity_board", folder / "flash.bin", records, turns, *more, heap="2m", seconds=1200).splitlines()[
            -1
        ]
    )


PROFILES = [board for board in map(profile.load_profile, profile.profile_names()) if board.filesystem.size == 2 << 20]
A_RECORD, A_TURN = 272, 306
"""Bytes of a line of either log, as the program fills them, and some more: no log may be so full that something leaves."""


def _code_and_settings(board: BoardProfile, folder: Path) -> tuple[Path, str]:
    """The code as a board of that profile has it, in a folder, and the profile's settings."""
    for path, content in file_set.code_files(board).items():
        file = folder / "code" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder / "code", json.dumps(board.settings)


@pytest.mark.parametrize("board", PROFILES, ids=lambda board: board.name)
def test_a_hundred_memories_and_turns_are_compacted_beside_the_code(tmp_path, board):
    told = _fill(tmp_path, 100, 100, *_code_and_settings(board, tmp_path))
    assert told["code"] < told["full"] <= told["most"] < told["blocks"] * 3 // 5


@pytest.mark.soak
def test_two_megabytes_hold_two_thousand_records_and_turns_with_room_to_compact_both(tmp_path):
    told = _fill(tmp_path, 2000, 2000)
    assert told["most"] <= told["blocks"] - SPARE, told


@pytest.mark.soak
@pytest.mark.parametrize("board", PROFILES, ids=lambda board: board.name)
def test_beside_the_code_two_megabytes_hold_what_the_profile_says_with_room_to_compact_both(tmp_path, board):
    records, turns = board.settings["records.bytes"] // A_RECORD, board.settings["journal.bytes"] // A_TURN
    told = _fill(tmp_path, records, turns, *_code_and_settings(board, tmp_path))
    assert told["most"] <= told["blocks"] - SPARE, told
