"""A start of a board with Wi-Fi, a model and Telegram: what it loads and reads of the flash is counted, the same everywhere."""

from pathlib import Path

import bench_start
from skips import needs_32_bit

MOST = {"first line: reads": 100, "reads": 1850, "bytes read": 455_000, "bytes inflated": 363_000, "modules": 145}


@needs_32_bit
def test_a_start_reads_loads_and_inflates_little(tmp_path: Path):
    figures = bench_start.measure(tmp_path)
    assert {name: figures[name] for name in MOST if figures[name] > MOST[name]} == {}
