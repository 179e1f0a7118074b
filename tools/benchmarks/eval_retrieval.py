#!/usr/bin/env python3
"""`make eval`: the evaluation of engram_host.evaluation, with the MicroPython and the compiled firmware of build/.

eval_retrieval.py --engine board SETS OUT
"""

import sys
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[2] / name) for name in ("host", "firmware", "tools/setup", "tools/build")
)

import firmware_build
import get_micropython
from engram_host.evaluation import run
from engram_host.evaluation.engines import BoardEngine, NoBoardEngine


def make_board(_work: Path) -> BoardEngine:
    """The engine `board` of build/, which is compiled only where a source has changed. NoBoardEngine."""
    micropython = get_micropython.HOME / "32"
    if not get_micropython.usable(micropython, 32):
        raise NoBoardEngine("there is no 32-bit MicroPython, and none could be downloaded for this machine.")
    return BoardEngine(micropython, firmware_build.compile_small())


if __name__ == "__main__":
    sys.exit(run.main(sys.argv[1:], make_board))
