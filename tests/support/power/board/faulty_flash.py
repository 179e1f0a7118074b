"""A flash chip that keeps a trace of what changes it, and that fails where it is told to.

As on a real one, programming only clears bits. Erases and programs are counted together, from 1 on, as `changes`. In
the trace each is a record: its kind (1 byte, "E" or "P"), block, offset in the block and length (2 bytes each, low byte
first), then the bytes programmed.

A fault is (what, number of the change that it strikes):
    "half"                 the power fails half-way through it: this process is killed
    "refused" "raised"     it fails with EIO, told to littlefs by its return or by an OSError that goes through it
    "full"                 this and all later ones fail with ENOSPC
Half of a program is its first half; half of an erase leaves the second half of the block as it was.

No garbage is collected during a change: a file that nobody holds any more would be closed in the middle of what littlefs does.
"""

import gc
import os
import struct

from flash import BLOCK, Flash

EIO = 5
ENOSPC = 28
_HEAD = "<BHHH"


class FaultyFlash(Flash):
    """The flash in the file at `path`; its trace goes to the file `trace`, if that is given."""

    def __init__(self, path: str, size: int, trace: str = "", fault=("", 0)):
        super().__init__(path, size)
        self.changes = 0
        self.what, self.when = fault
        self._trace = open(trace, "wb") if trace else None
        self._seek, self._readinto = self._file.seek, self._file.readinto

    def readblocks(self, block: int, buffer, offset: int = 0) -> None:
        """Read len(buffer) bytes; takes no heap, and is called so often that each step counts."""
        self.reads += 1
        self.read_bytes += len(buffer)
        self._seek((block << 12) + offset)
        self._readinto(buffer)

    def writeblocks(self, block: int, buffer, offset=None):
        """Program len(buffer) bytes; without an offset the block is erased first."""
        if offset is None:
            self.ioctl(6, block)
            offset = 0
        return self._change(_PROGRAM, block, offset, buffer)

    def ioctl(self, operation: int, argument: int):
        """Control requests, as those of Flash."""
        if operation == 6:
            return self._change(_ERASE, argument, 0, self._blank)
        return super().ioctl(operation, argument)

    def _change(self, kind: int, block: int, offset: int, data):
        gc.disable()
        try:
            self.changes += 1
            if self.changes == self.when or (self.what == "full" and 0 < self.when <= self.changes):
                return self._fail(kind, block, offset, data)
            return self._do(kind, block, offset, data)
        finally:
            gc.enable()

    def _do(self, kind: int, block: int, offset: int, data) -> int:
        if self._trace:
            self._trace.write(struct.pack(_HEAD, kind, block, offset, len(data)))
            if kind == _PROGRAM:
                self._trace.write(data)
        if kind == _PROGRAM:
            super().writeblocks(block, self._cleared(block, offset, data), offset)
        else:
            self.erases += 1
            self._file.seek(block * BLOCK + offset)
            self._file.write(data)
        return 0

    def _cleared(self, block: int, offset: int, data):
        """What stands there after programming: no bit goes from 0 to 1."""
        self._file.seek(block * BLOCK + offset)
        old = self._file.read(len(data))
        if old == self._blank[: len(data)]:
            return data
        return bytes([old[at] & data[at] for at in range(len(data))])

    def _fail(self, kind: int, block: int, offset: int, data) -> int:
        what = self.what
        if what == "raised":
            raise OSError(EIO)
        if what in ("refused", "full"):
            return -EIO if what == "refused" else -ENOSPC
        self._do(kind, block, offset, memoryview(data)[: len(data) // 2])
        power_off()
        return 0


def power_off() -> None:
    """End this process at once, as a power cut does; what was written to files of the host stays."""
    os.system("kill -9 $PPID")


_ERASE = ord("E")
_PROGRAM = ord("P")
