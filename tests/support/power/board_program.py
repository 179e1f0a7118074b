"""A program of this folder on a board whose power fails at a change of the flash that is counted; it goes on from the flash."""

import json
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import firmware_build
import get_micropython

KILLED = -9
SECONDS = 300
_ROOT = Path(__file__).resolve().parents[3]
_BUILT = (
    firmware_build.FIRMWARE,
    firmware_build.SUPPORT,
    firmware_build.SIM,
    _ROOT / "tests" / "support" / "power" / "board",
    Path(".frozen"),
)

Told = list[Any]
"""The lines that a program printed: the name of each, and what it says."""

Asked = Callable[[str], str | None]
"""Given what a program asks, what it is told; None: its power fails while it waits for that."""


def run(words: Sequence[str], heap: str, asked: Asked | None = None) -> tuple[Told, int]:
    """Run a program on the 32-bit MicroPython; what it told, and its status. Its lines `? ...` are asked, and answered."""
    command = [str(get_micropython.HOME / "32"), "-X", f"heapsize={heap}", *words]
    variables = {"MICROPYPATH": ":".join(str(folder) for folder in _BUILT)}
    told: Told = []
    printed: list[str] = []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdin and process.stdout
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        try:
            for line in process.stdout:
                printed.append(line)
                if line.startswith("> "):
                    told.append(json.loads(line[2:]))
                elif line.startswith("? ") and asked:
                    answer = asked(line[2:].rstrip("\n"))
                    if answer is None:
                        process.kill()
                        break
                    process.stdin.write(answer + "\n")
                    process.stdin.flush()
            status = process.wait()
            is_late = not late.is_alive()
        finally:
            late.cancel()
            process.kill()
        errors.seek(0)
        assert not is_late and status in (0, KILLED), "".join(printed)[-2000:] + errors.read()[-2000:]
    return told, status


class BoardProgram:
    """A program, called with FLASH CUT, in a heap; `is_whole` raises AssertionError if what it told at its end is not whole."""

    def __init__(self, name: str, heap: str, is_whole: Callable[[Told], None]):
        self._path = Path(__file__).with_name(name)
        self._heap = heap
        self._is_whole = is_whole

    def figures(self, folder: Path) -> dict[str, int]:
        """Return the numbers by name that the program prints when nothing fails, such as `changes` of the flash."""
        told, status = self._run(folder / "flash.bin", 0)
        assert status == 0
        self._is_whole(told)
        return {line[0]: line[1] for line in told if isinstance(line[-1], int)}

    def try_cuts(self, cuts: Iterable[int], folder: Path) -> None:
        """Cut the power at each of some changes, and let the program go on."""
        for cut in cuts:
            flash = folder / f"{cut}.bin"
            _, status = self._run(flash, cut)
            assert status == KILLED, cut
            told, status = self._run(flash, 0)
            assert status == 0, cut
            try:
                self._is_whole(told)
            except AssertionError as error:
                raise AssertionError(f"cut at change {cut}: {error}") from error
            for file in folder.glob(f"{flash.name}*"):
                file.unlink()

    def _run(self, flash: Path, cut: int) -> tuple[Told, int]:
        return run([str(self._path), str(flash), str(cut)], self._heap)
