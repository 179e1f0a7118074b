"""A flash chip in a file of the host, for MicroPython's littlefs: the same block size as on the chip.

The bytes stay outside the heap, so that a run with a small heap holds a large flash. Counts what is done to it.
"""

import os

BLOCK = 4096
OPTIONS = {"readsize": 32, "progsize": 32, "lookahead": 128, "mtime": False}
"""How a board mounts its littlefs (see boot.py): a time in each file would be written with each append, and with so large a
map of free blocks littlefs looks through all files less often.
"""


class Flash:
    """A block device (MicroPython's extended protocol) over the file at `path`, made with `size` bytes if missing."""

    def __init__(self, path: str, size: int):
        self.reads = self.read_bytes = self.programs = self.programmed_bytes = self.erases = 0
        self.blocks = size // BLOCK
        self._blank = b"\xff" * BLOCK
        try:
            self._file = open(path, "r+b")
            self.blocks = os.stat(path)[6] // BLOCK
        except OSError:
            self._file = open(path, "w+b")
            for _ in range(self.blocks):
                self._file.write(self._blank)

    def readblocks(self, block: int, buffer, offset: int = 0) -> None:
        """Read len(buffer) bytes."""
        self.reads += 1
        self.read_bytes += len(buffer)
        self._file.seek(block * BLOCK + offset)
        self._file.readinto(buffer)

    def writeblocks(self, block: int, buffer, offset=None) -> None:
        """Program len(buffer) bytes; without an offset the block is erased first."""
        if offset is None:
            self.ioctl(6, block)
            offset = 0
        self.programs += 1
        self.programmed_bytes += len(buffer)
        self._file.seek(block * BLOCK + offset)
        self._file.write(buffer)

    def ioctl(self, operation: int, argument: int):
        """Control requests: 3 sync, 4 number of blocks, 5 their size, 6 erase one."""
        if operation == 4:
            return self.blocks
        if operation == 5:
            return BLOCK
        if operation == 6:
            self.erases += 1
            self._file.seek(argument * BLOCK)
            self._file.write(self._blank)
        # Nothing to sync: what was written is the host's already, and stays when this process is killed.
        return 0


def mount(path: str, size: int, where: str) -> Flash:
    """Mount the littlefs in the file at `path` as `where`, formatting a new file."""
    import vfs  # type: ignore

    try:
        os.stat(path)
    except OSError:
        # Under another name until it is formatted: what is cut off before then is begun anew.
        with open(path + ".new", "wb"):
            pass
        os.remove(path + ".new")
        vfs.VfsLfs2.mkfs(Flash(path + ".new", size), **OPTIONS)
        os.rename(path + ".new", path)
    device = Flash(path, size)
    vfs.mount(vfs.VfsLfs2(device, **OPTIONS), where)
    return device
