"""Repairs a log's segment: damaged bytes move to NAME.bad, all whole lines stay."""

import os

from engram import diag, files, log_line
from engram.compat import const
from engram.errors import StoreError

_BAD_LARGEST = const(16384)  # bytes kept in NAME.bad: damage must not fill the flash
_BUFFER = const(512)


class Repair:
    """Repairs segments of the log at `base`; `lines` reads a file as log_line.lines() does."""

    def __init__(self, base: str, lines):
        self._base = base
        self._lines = lines
        self.damaged = 0

    def is_sound(self, path: str) -> bool:
        """Whether all lines of a segment are whole."""
        with open(path, "rb") as file:
            return all(log_line.is_whole(line, ended) for _, line, ended in self._lines(file, 0))

    def mend(self, path: str) -> None:
        """Rewrite a segment without its damaged bytes, if it has some."""
        before = self.damaged
        draft = path + ".new"
        try:
            with open(draft, "wb") as target, open(path, "rb") as source:
                for _, line, ended in self._lines(source, 0):
                    if log_line.is_whole(line, ended):
                        target.write(line)
                    else:
                        self.set_aside(line, ended, target)
            if self.damaged > before:
                os.rename(draft, path)
                diag.error("store", path + ": damaged bytes were set aside in " + self._base + ".bad")
            else:
                os.remove(draft)
        except OSError as error:
            files.discard(draft)
            raise files.failure(error, path) from None

    def cut(self, path: str, size: int) -> None:
        """Make a file shorter."""
        draft = path + ".new"
        try:
            with open(draft, "wb") as target, open(path, "rb") as source:
                _copy(source, target, size)
            os.rename(draft, path)
        except OSError as error:
            files.discard(draft)
            raise files.failure(error, path) from None

    def set_aside(self, line, ended, target) -> None:
        """Keep damaged bytes; whole lines that stand among them without a line end between are saved."""
        self.damaged += 1
        if ended is None:
            return
        rest = bytes(line)
        start = 0
        while start >= 0 and not log_line.check(rest[start:]):
            start = rest.find(b'{"', start + 1)
        saved = rest[start:] if start >= 0 else b""
        rest = rest[:start] if start >= 0 else rest
        if log_line.check(rest + b"\n"):
            target.write(rest + b"\n")
            rest = b""
        target.write(saved)
        path = self._base + ".bad"
        if rest and max(0, files.size(path)) + len(rest) <= _BAD_LARGEST:
            with open(path, "ab") as file:
                file.write(rest if rest.endswith(b"\n") else rest + b"\n")


def _copy(source, target, length: int) -> None:
    buffer = memoryview(bytearray(_BUFFER))
    while length > 0:
        count = source.readinto(buffer[: min(length, _BUFFER)])
        if not count:
            raise StoreError("a segment became shorter while it was read; try again.")
        target.write(buffer[:count])
        length -= count
