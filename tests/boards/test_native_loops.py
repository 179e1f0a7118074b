"""The inner loops as native code of the boards' chips: small, in every image, and passed over where it does not run."""

import os
import subprocess
from pathlib import Path

import firmware_build
import get_micropython
from engram_host.boards import file_set
from engram_host.firmware import NATIVE_LOOPS
from mpy_file import MpyFile
from skips import needs_32_bit

XTENSAWIN = 10
MOST_BYTES = 8192
"""Of a board's memory for code."""


def test_the_native_code_is_of_the_chips_and_small():
    module = file_set.native_loops()
    assert module[2] >> 2 == XTENSAWIN
    assert 6000 < MpyFile(module).native_bytes() <= MOST_BYTES


def test_a_board_gets_native_code_and_bytecode():
    index = file_set.module_pack({f"{NATIVE_LOOPS}.mpy": b"native", "engram/loops.mpy": b"plain"})
    assert b"\nengram/native_loops.mpy " in index and b"\nengram/loops.mpy " in index


@needs_32_bit
def test_native_code_of_another_chip_is_passed_over(tmp_path: Path):
    firmware_build.compile_all()
    (tmp_path / "engram").mkdir()
    for name in ("__init__", "compat", "native", "loops"):
        (tmp_path / "engram" / f"{name}.mpy").symlink_to(firmware_build.FIRMWARE / "engram" / f"{name}.mpy")
    (tmp_path / f"{NATIVE_LOOPS}.mpy").write_bytes(file_set.native_loops())
    script = "from engram import native; print(native.IS_NATIVE, native.loops.stem(bytearray(b'cats'), 4, 0))"
    environment = {**os.environ, "MICROPYPATH": f"{tmp_path}:.frozen"}
    done = subprocess.run(
        [str(get_micropython.HOME / "32"), "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == ["False", "3"], done.stderr
