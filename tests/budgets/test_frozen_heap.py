"""The budget of a plain ESP32's heap with Wi-Fi up: what turns with tools leave of it, with modules frozen into MicroPython."""

from dataclasses import replace

import pytest

import debian
import heap
import heap_builds
import heap_flash
from engram_host.boards import profile
from heap_bench import CHIP_KILOBYTES, TOOLS, Bench

LEAST_FREE = 52 << 10
LEAST_BLOCK = 24 << 10

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The heap right after a turn that stores a memory and one that searches, with 2,000 memories on the flash."""
    try:
        build = heap_builds.frozen()
    except debian.Unavailable as problem:
        pytest.skip(str(problem))
    board = replace(profile.load_profile(heap.BOARD), settings=profile.load_profile(heap.BOARD).settings | heap.ROOM)
    flash = tmp_path_factory.mktemp("frozen") / "flash.bin"
    flash.write_bytes(heap_flash.filled(board, heap.RECORDS)[0])
    return Bench(build, flash, board.settings).talk(TOOLS, CHIP_KILOBYTES)


def test_turns_with_tools_leave_enough_free(left: dict[str, int]):
    assert left["free"] >= LEAST_FREE, left


def test_the_largest_block_that_they_leave_is_large_enough(left: dict[str, int]):
    assert left["largest_block"] >= LEAST_BLOCK, left
