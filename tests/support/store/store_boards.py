"""How tests start a program of this folder under MicroPython."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import firmware_build
import get_micropython

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
SUPPORT = ROOT / "tests" / "support" / "firmware"
HEAPS = {"64": "4m", "32": "2m"}


def command(bits: str, program: str, heap: str = "") -> tuple[list[str], dict[str, str]]:
    """The command line and the environment that run a program: on 64 bits from source, on 32 bits from .mpy."""
    micropython = get_micropython.HOME / bits
    if not get_micropython.usable(micropython, int(bits)):
        pytest.skip(f"there is no {bits}-bit MicroPython for this machine")
    if bits == "64":
        folders = [ROOT / "firmware", ROOT / "boards" / "SIM", SUPPORT, HERE, Path(".frozen")]
    else:
        folders = [firmware_build.FIRMWARE, firmware_build.SIM, firmware_build.SUPPORT, HERE, Path(".frozen")]
    path = ":".join(str(folder) for folder in folders)
    line = [str(micropython), "-X", "heapsize=" + (heap or HEAPS[bits]), str(HERE / (program + ".py"))]
    return line, {**os.environ, "MICROPYPATH": path}


def run(bits: str, program: str, *arguments: object, heap: str = "", seconds: float = 600) -> str:
    """What a program prints; the test fails if it ends with an error."""
    line, environment = command(bits, program, heap)
    done = subprocess.run(
        [*line, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=seconds
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


class Talking:
    """A program that takes JSON lines and answers each with one; after an error it is begun anew."""

    def __init__(self, bits: str, program: str, *arguments: object):
        line, self._environment = command(bits, program)
        self._line = [*line, *map(str, arguments)]
        self._process: subprocess.Popen[str] | None = None

    def _start(self) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self._line, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=self._environment
        )

    def ask(self, *request: object):
        """The program's answer to a request."""
        process = self._process = self._process or self._start()
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = told = process.stdout.readline()
        while answer and not answer.startswith(">"):
            answer = process.stdout.readline()
            told += answer
        if not answer:
            self.end()
            raise AssertionError(f"asked {request}, the board said: {told[-3000:]}")
        return json.loads(answer[1:])

    def end(self) -> None:
        """End the program."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
