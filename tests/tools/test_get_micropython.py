"""Where MicroPython comes from, and what is told where there is none."""

from pathlib import Path

import pytest

import debian
import get_micropython
import versions
from engram_host.simulator import board


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine that is no Debian and has no micropython on PATH; where launchers would be."""
    monkeypatch.setattr(get_micropython, "HOME", tmp_path)
    monkeypatch.setattr(debian, "is_debian", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_the_64_bit_build_it_says_what_to_install(elsewhere: Path, capsys: pytest.CaptureFixture[str]):
    assert get_micropython.main(["64"]) == 1
    assert "install it" in capsys.readouterr().err


def test_a_micropython_that_is_too_old_is_not_taken(elsewhere: Path):
    old = elsewhere / "micropython"
    old.write_text("#!/bin/sh\necho 1 19 1 64\n")
    old.chmod(0o755)
    assert get_micropython.main(["64"]) == 1


def test_the_installed_command_takes_the_same_releases():
    assert board.OLDEST_MICROPYTHON == versions.MICROPYTHON_OLDEST
