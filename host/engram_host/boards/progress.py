"""Shows the progress of a long command: one moving line on a terminal, a line for each step elsewhere."""

import sys
import time
from typing import TextIO

from engram_host.wording import kilobytes

_SECONDS = 0.1


class Progress:
    def __init__(self, out: TextIO | None = None):
        self._out = out or sys.stderr
        self._is_terminal = self._out.isatty()
        self._open = ""
        self._shown = 0.0

    def say(self, sentence: str) -> None:
        self.close()
        self._write(sentence + "\n")

    def step(self, what: str, done: int = 0, total: int = 0) -> None:
        if not self._is_terminal:
            if what != self._open:
                self._open = what
                self._write(f"{what} ...\n")
            return
        now = time.monotonic()
        is_last = bool(total) and done >= total
        if what == self._open and not is_last and now - self._shown < _SECONDS:
            return
        if what != self._open:
            self.close()
        self._open, self._shown = what, now
        share = f" {100 * done // total:3} %" if total else f" {kilobytes(done)} ..." if done else " ..."
        self._write(f"\r\x1b[K{what}{share}")

    def close(self) -> None:
        if self._open and self._is_terminal:
            self._write("\n")
        self._open = ""

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


class Meter:
    """Counter of a long step; shows a share of `total`, or bytes without one."""

    def __init__(self, progress: Progress, what: str, total: int = 0):
        self._progress = progress
        self._what = what
        self._total = total
        self._done = 0
        progress.step(what)

    def __call__(self, count: int) -> None:
        self._done += count
        self._progress.step(self._what, min(self._done, self._total or self._done), self._total)
