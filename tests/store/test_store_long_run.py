"""A long run within a small flash: heap and flash in use stay flat."""

import json
from statistics import median

import pytest

from extent import extent
from store_boards import run

HEAP = "2m"
HEAP_GROWTH = 2048
"""Bytes by which the median of a run's second half may be above that of its first: a table or a name more."""
HEAP_SWING = 12288
"""Bytes by which its highest may be: the tables of the index, the files that are open and the words in RAM come and go."""
BLOCK_GROWTH = 8
"""Blocks of flash by which its highest may be above the first half's: a file more or less, and the ends of files."""


@pytest.mark.shortened
def test_many_puts_and_forgets_leave_heap_and_flash_as_they_were(tmp_path):
    operations, cap = extent((50000, 384 * 1024), (2000, 120 * 1024))
    told = run("32", "long_run_board", tmp_path / "flash.bin", operations, cap, heap=HEAP, seconds=3000)
    samples = [json.loads(line) for line in told.splitlines() if line.startswith("[") and line.endswith("]")]
    half = len(samples) // 2
    assert half >= 2, samples
    (_, first_heap, first_blocks), (_, heap, blocks) = (
        zip(*samples[:half], strict=True),
        zip(*samples[half:], strict=True),
    )
    assert median(heap) <= median(first_heap) + HEAP_GROWTH, samples
    assert max(heap) <= max(first_heap) + HEAP_SWING, samples
    assert max(blocks) <= max(first_blocks) + BLOCK_GROWTH, samples
