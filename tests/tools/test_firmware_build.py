"""What tests and tools compile: only what is older than its source or the compiler."""

from pathlib import Path

import firmware_build

SOURCE = firmware_build.ROOT / "firmware" / "boot.py"


def test_a_module_knows_itself_by_its_path_on_the_board(tmp_path: Path):
    target = tmp_path / "boot.mpy"
    firmware_build.compile_file(SOURCE, target)
    assert b"boot.py" in target.read_bytes() and b"firmware/" not in target.read_bytes()
