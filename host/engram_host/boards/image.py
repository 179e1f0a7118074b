"""A littlefs as one file, of exactly a partition's size: MicroPython mounts no other.

Geometry and limits are those of MicroPython's VfsLfs2 as it mounts by itself. The cache counts too: a file that fits into
it is kept inside its folder's blocks, and a smaller cache could not read it back.
"""

from collections.abc import Callable
from typing import Any

from engram_host.boards.errors import BadRequest
from engram_host.boards.file_set import Files
from engram_host.boards.profile import BLOCK
from engram_host.wording import kilobytes

GEOMETRY: dict[str, Any] = {
    "block_size": BLOCK,
    "read_size": 32,
    "prog_size": 32,
    "cache_size": 128,
    "lookahead_size": 32,
}
"""As VfsLfs2 has them by default."""

DISK_VERSION = 0x00020001
"""The form on flash of littlefs 2.6 and newer; MicroPython 1.26 has 2.11."""


def build_littlefs(files: Files, size: int) -> bytes:
    """A file system of `size` bytes with these files; the same bytes for the same files. BadRequest if they do not fit."""
    import littlefs

    system = littlefs.LittleFS(
        mount=False, block_count=size // BLOCK, block_cycles=100, disk_version=DISK_VERSION, **GEOMETRY
    )
    try:
        system.format()
        system.mount()
        for path in sorted(files):
            folder = path.rpartition("/")[0]
            if folder:
                system.makedirs(folder, exist_ok=True)
            with system.open(path, "wb") as file:
                file.write(files[path])
        system.unmount()
    except littlefs.LittleFSError as error:
        if error.code != littlefs.LittleFSError.Error.LFS_ERR_NOSPC:
            raise
        total = sum(len(content) for content in files.values())
        raise BadRequest(f"{kilobytes(total)} of files do not fit on a file system of {kilobytes(size)}.") from None
    return bytes(system.context.buffer)


class LittlefsReader:
    """The files of a littlefs that is read a piece at a time, from wherever it is.

    `read` takes an offset and a length in bytes. ValueError when there is no littlefs, or one that cannot be read.
    """

    def __init__(self, read: Callable[[int, int], bytes]):
        import littlefs

        class Pieces(littlefs.UserContext):
            """Whole blocks, each read once: over a serial line every request costs."""

            def __init__(self) -> None:
                self.buffer = bytearray()
                self.blocks: dict[int, bytes] = {}

            def read(self, cfg: Any, block: int, off: int, size: int) -> bytearray:
                if block not in self.blocks:
                    self.blocks[block] = read(block * BLOCK, BLOCK)
                return bytearray(self.blocks[block][off : off + size])

        self._failures = littlefs.LittleFSError
        self._system = littlefs.LittleFS(Pieces(), mount=False, block_count=0, **GEOMETRY)
        try:
            self._system.mount()
        except littlefs.LittleFSError as error:
            raise ValueError(str(error)) from None

    def sizes(self) -> dict[str, int]:
        """The sizes of all files by path."""
        found = {}
        try:
            for folder, _, names in self._system.walk("/"):
                for name in names:
                    path = f"{folder.rstrip('/')}/{name}"
                    found[path.lstrip("/")] = self._system.stat(path).size
        except self._failures as error:
            raise ValueError(str(error)) from None
        return found

    def content(self, path: str) -> bytes:
        """What a file holds."""
        try:
            with self._system.open(path, "rb") as file:
                return file.read()
        except self._failures as error:
            raise ValueError(str(error)) from None
