"""What `make` puts into .venv beside the locked packages."""

import os
import subprocess
import sys
from pathlib import Path

import bootstrap


def test_make_puts_the_command_engram_of_this_clone_where_the_pages_use_it(tmp_path: Path):
    bootstrap.write_command(tmp_path, Path(sys.executable))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [tmp_path / "engram", "doctor", "--home", tmp_path / "none", "--json"],
        env=kept,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == "" and done.stdout.startswith('{"well": ')


def test_the_command_is_written_once(tmp_path: Path):
    bootstrap.write_command(tmp_path, Path(sys.executable))
    before = (tmp_path / "engram").stat()
    bootstrap.write_command(tmp_path, Path(sys.executable))
    assert (tmp_path / "engram").stat() == before
