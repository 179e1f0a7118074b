"""Runs work in a process that is killed before one line of a module."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from extent import extent
from waiting import SECONDS

STEP = extent(1, 4)
"""Lines between two kills of a test, which has to be marked `shortened`."""


def killed_at(line: int, module: ModuleType, work: Callable[[], None]) -> bool:
    """Run work until that line of `module`, counted as run; False if it ended before."""

    def run() -> None:
        left = line

        def trace(frame: FrameType, event: str, _value: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename != module.__file__:
                return None
            left -= event == "line"
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        work()

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(SECONDS)
    process.kill()  # unless it has ended
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0
