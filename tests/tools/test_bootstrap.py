"""What `make` puts into .venv beside the locked packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("lock", "words"),
    [(bootstrap.LOCK, []), (bootstrap.LOCK, ["--companion"]), (bootstrap.COMPANION_LOCK, ["--companion"])],
)
def test_a_venv_that_has_what_is_wanted_gets_the_command_without_an_installation(
    lock: Path, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "bin").mkdir()
    (tmp_path / "lock.sha256").write_text(bootstrap.stamp_of(lock))
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "lock.sha256")
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", *words])
    assert bootstrap.main() == 0
    assert os.access(tmp_path / "bin" / "engram", os.X_OK)


def test_a_companion_gets_the_versions_that_the_tests_ran_with():
    pinned, companion = (
        {line.split()[0] for line in lock.read_text().splitlines() if "==" in line}
        for lock in (bootstrap.LOCK, bootstrap.COMPANION_LOCK)
    )
    assert companion and companion <= pinned
