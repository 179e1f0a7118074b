"""A long run within a small flash: heap and flash in use stay flat."""

import json

import pytest

from boards import run

HEAP = "192k"
MOST_HEAP_GROWTH = 2048
"""Bytes by which the second half of a run may use more heap than the first: tables grow once to what they need."""
MOST_BLOCK_GROWTH = 8
"""Blocks of flash, likewise: a file more or less, and what is left over in its last block."""


def _stays_flat(path, operations: int, cap: int) -> None:
    told = run("32", "long_run_board", path / "flash.bin", operations, cap, heap=HEAP, seconds=3000)
    samples = [json.loads(line) for line in told.splitlines() if line.startswith("[") and line.endswith("]")]
    half = len(samples) // 2
    assert half >= 2, samples
    first, second = samples[:half], samples[half:]
    assert max(heap for _, heap, _ in second) <= max(heap for _, heap, _ in first) + MOST_HEAP_GROWTH, samples
    assert max(blocks for *_, blocks in second) <= max(blocks for *_, blocks in first) + MOST_BLOCK_GROWTH, samples


@pytest.mark.soak
def test_fifty_thousand_puts_and_forgets_leave_heap_and_flash_as_they_were(tmp_path):
    _stays_flat(tmp_path, 50000, 384 * 1024)


def test_some_thousand_puts_and_forgets_leave_heap_and_flash_as_they_were(tmp_path):
    _stays_flat(tmp_path, 3000, 120 * 1024)
