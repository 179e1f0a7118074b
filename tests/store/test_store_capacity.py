"""What fits a file system of 2 MB, with room left to compact it."""

import json

import pytest

from boards import run


@pytest.mark.soak
def test_two_megabytes_hold_two_thousand_records_and_turns_with_room_to_compact_both(tmp_path):
    told = json.loads(run("32", "capacity_board", tmp_path / "flash.bin", 2000, heap="192k").splitlines()[-1])
    assert told["most"] <= told["blocks"], told
