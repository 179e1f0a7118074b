"""The boards of `make bench-companion`: the firmware's own code on CPython sends all that it has."""

import json
import subprocess
import sys
from pathlib import Path

import bench_boards
from peers import Broker, Companion
from skips import needs_mosquitto

BOARDS, TURNS = 3, 5


@needs_mosquitto
def test_the_boards_of_the_benchmark_send_all_their_turns(tmp_path: Path):
    with Broker() as broker, Companion(tmp_path / "companion", broker.url) as companion:
        command = [sys.executable, bench_boards.__file__, broker.url, str(BOARDS), str(TURNS)]
        done = subprocess.run([*command, tmp_path / "boards"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["turns"] == BOARDS * TURNS
        said = [line for line in companion.lines("boards-0000", "journal") if "text" in line]
        assert len(said) == TURNS
