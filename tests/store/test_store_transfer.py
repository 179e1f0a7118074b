"""Many memories pass in and out on the chip's sizes, in a heap that does not grow with their number."""

import json
from pathlib import Path

import pytest

from store_boards import run

HEAP = "2m"

HEAP_GROWTH = 61440
"""Bytes that a command may hold at any time: its code, which is loaded for it, is most of that."""


def _passes(folder: Path, records: int) -> dict:
    told = json.loads(run("32", "transfer_board", folder / "flash.bin", records, heap=HEAP).splitlines()[-1])
    assert told["in"]["told"] == [f"{records} stored, 0 refused"]
    assert told["count"] == records
    assert told["again"]["told"] == [f"0 stored, {records} there already, 0 refused"]
    return told


def test_five_hundred_memories_pass_in_and_out_and_are_known_again(tmp_path, record_property):
    told = _passes(tmp_path, 500)
    record_property("exchange", json.dumps(told))
    assert max(told[step]["heap"] for step in ("in", "out", "again")) < HEAP_GROWTH
    # One flush for sixteen, and the index beside it.
    assert told["in"]["erases"] < 500 and told["out"]["erases"] == 0 and told["again"]["programmed"] == 0


@pytest.mark.soak
def test_ten_thousand_memories_pass_in_and_out_and_are_known_again(tmp_path, record_property):
    told = _passes(tmp_path, 10000)
    record_property("exchange", json.dumps(told))
    assert max(told[step]["heap"] for step in ("in", "out", "again")) < HEAP_GROWTH
    assert told["again"]["programmed"] == 0
