"""A program of this folder on a board whose power fails at a change of the flash that is counted; it goes on from the flash."""

import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import firmware_build
import get_micropython

KILLED = -9
_ROOT = Path(__file__).resolve().parent.parent.parent

Told = list[Any]
"""The lines that a program printed: the name of each, and what it says."""


class BoardProgram:
    """A program, called with FLASH CUT, in a heap; `is_whole` raises AssertionError if what it told at its end is not whole."""

    def __init__(self, name: str, heap: str, is_whole: Callable[[Told], None]):
        self._path = Path(__file__).with_name(name)
        self._heap = heap
        self._is_whole = is_whole

    def changes(self, folder: Path) -> int:
        """How often the flash is changed when nothing fails."""
        if not get_micropython.usable(get_micropython.HOME / "32", 32):
            pytest.skip("there is no 32-bit MicroPython for this machine")
        told, _ = self._run(folder / "flash.bin", 0)
        self._is_whole(told)
        return next(line[1] for line in told if line[0] == "changes")

    def try_cuts(self, cuts: Iterable[int], folder: Path) -> None:
        """Cut the power at each of some changes, and let the program go on."""
        for cut in cuts:
            flash = folder / f"{cut}.bin"
            _, status = self._run(flash, cut)
            told, _ = self._run(flash, 0)
            try:
                self._is_whole(told)
            except AssertionError as error:
                raise AssertionError(f"cut at change {cut}: {error}") from error
            assert status == KILLED, cut
            for file in folder.glob(f"{flash.name}*"):
                file.unlink()

    def _run(self, flash: Path, cut: int) -> tuple[Told, int]:
        built = [firmware_build.FIRMWARE, firmware_build.UNIT, firmware_build.SIM]
        path = ":".join(str(folder) for folder in [*built, _ROOT / "tools" / "board", Path(".frozen")])
        program = [str(self._path), str(flash), str(cut)]
        line = [str(get_micropython.HOME / "32"), "-X", f"heapsize={self._heap}", *program]
        done = subprocess.run(line, capture_output=True, text=True, env={"MICROPYPATH": path}, timeout=300)
        assert done.returncode in ((0, KILLED) if cut else (0,)), done.stdout[-2000:] + done.stderr[-2000:]
        return [json.loads(each[2:]) for each in done.stdout.splitlines() if each.startswith("> ")], done.returncode
