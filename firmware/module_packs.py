"""Imports Engram from a pack: one large file in place of a small one for each module, which a start spent its time finding.

The pack has all compiled modules, and the tables:

    engram-pack 3 LENGTH CRC\n      LENGTH bytes of the index, and its crc32 in hexadecimal
    PATH AT SIZE CRC\n              for each file: its path, where it begins behind the index, its crc32
    the files, one after the other, each compressed: raw deflate with a window of 1 KB

mount() makes it a file system at /packs, of which only these files are there. What is damaged is refused.
"""

import sys

_path = sys.path[:]
sys.path[:] = [".frozen"]  # or MicroPython would look for each of these in the flash
try:
    import binascii
    import io
    from time import ticks_diff, ticks_ms  # pyright: ignore

    import deflate
    import vfs
finally:
    sys.path[:] = _path

_PACK = "/engram/engram.pack"
_MOUNT = "/packs"
_FROZEN = ".frozen"
_FIRST_LINE = 64  # bytes, more than it ever has
_IS_FOLDER = (0x4000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
_IS_FILE = (0x8000, 0, 0, 0, 0, 0, 0, 0, 0, 0)
_ENOENT = 2
_EIO = 5
_SIGN_MS = 5000  # between two signs that a start goes on
_WINDOW = 10  # 1 KB of heap while a module is loaded; more would make modules a hundredth smaller
_PROG_SIZE = 1024  # a quarter of what is read at once: a block, where the littlefs of the board takes 128 bytes

# At each `import time` MicroPython looks for time.py and its like in each folder of the path, 180 reads of the flash, unless
# the module is in sys.modules.
_BUILT_IN = (
    "array binascii collections deflate errno hashlib io json machine network os random select socket struct time tls"
)


class _Pack:
    def __init__(self, path: str):
        self._path = path
        self._file = _open_by_blocks(path)
        words = self._file.read(_FIRST_LINE).split(b"\n")[0].split(b" ")
        if len(words) != 4 or words[:2] != [b"engram-pack", b"3"]:
            raise self.damage()
        start, length = sum(len(word) + 1 for word in words), int(words[2])
        self._file.seek(start)
        index = self._file.read(length)
        if len(index) != length or b"%08x" % binascii.crc32(index) != words[3]:
            raise self.damage()
        self.places = {}
        """(offset, size, crc in hexadecimal) of each module by its path."""
        self.folders = {"/"}
        for line in index.decode().split("\n")[:-1]:
            path, at, size, crc = ("/" + line).split(" ")
            self.places[path] = start + length + int(at), int(size), crc
            while path:
                path = path.rpartition("/")[0]
                self.folders.add(path)

    def close(self) -> None:
        self._file.close()

    def damage(self):
        return OSError(_EIO, self._path + " is damaged")

    def read(self, at: int, size: int, crc: str) -> bytes:
        if self._file.tell() != at:
            self._file.seek(at)  # modules are in start order, as littlefs seeks slowly
        data = self._file.read(size)
        if len(data) != size or "%08x" % binascii.crc32(data) != crc:
            raise self.damage()
        return data


class _Packs:
    def __init__(self):
        self._opened = None
        self._kept = None
        self.is_mounted = False
        self.sign_at = None
        """Ticks of the latest sign of progress, None for no signs."""

    def mount(self, readonly, mkfs):
        self.is_mounted = True

    def umount(self):
        pass

    def stat(self, path):
        """Return a folder's or file's os.stat; `import` hides errors here, so open() raises them."""
        while True:
            try:
                return self._stat(path)
            except OSError:
                if self._kept:
                    return _IS_FILE  # maybe a folder: open() raises the reason
                raise
            except (KeyboardInterrupt, MemoryError) as error:
                if self._kept:
                    if isinstance(error, MemoryError):
                        return _IS_FILE
                    raise
                self._kept = error

    def _stat(self, path):
        if path in self._pack().folders:
            return _IS_FOLDER
        self._find(path)
        return _IS_FILE

    def open(self, path, mode):
        error, self._kept = self._kept, None
        if error:
            raise error
        if self.sign_at is not None and ticks_diff(ticks_ms(), self.sign_at) >= _SIGN_MS:
            self.sign_at = ticks_ms()
            sys.stdout.write(".\n")
        content = self._pack().read(*self._find(path))
        if self.sign_at is None and not path.endswith(".mpy"):
            self.close()  # tables are read at any time after the start
        return deflate.DeflateIO(io.BytesIO(content), deflate.RAW, _WINDOW)

    def _find(self, path):
        place = self._pack().places.get(path)
        if not place:
            raise OSError(_ENOENT)
        return place

    def _pack(self):
        if not self._opened:
            self._opened = _Pack(_PACK)
        return self._opened

    def close(self) -> None:
        """Free the memory that loading takes; the next `import` opens the pack again."""
        if self._opened:
            self._opened.close()
            self._opened = None


_packs = _Packs()


def _open_by_blocks(path: str):
    """Open a file to read through a littlefs of its own, which never writes."""
    from flashbdev import bdev

    return vfs.VfsLfs2(bdev, progsize=_PROG_SIZE).open(path, "rb")


def begin_start() -> None:
    """Print dots while modules load, as a start may take minutes on slow flash."""
    _packs.sign_at = ticks_ms()


def end_start() -> None:
    _packs.sign_at = None
    _packs.close()


def mount() -> None:
    """Mount the pack for `import engram`; it can be repeated, also after Ctrl-C."""
    if _MOUNT in sys.path:
        return
    path = [folder for folder in sys.path if folder not in (_MOUNT, _FROZEN)]
    sys.path[:] = [_FROZEN]
    try:
        for name in _BUILT_IN.split():
            _keep_built_in(name)
    finally:
        sys.path[:] = path
    if not _packs.is_mounted:
        vfs.mount(_packs, _MOUNT)
    sys.path[:] = [_MOUNT, _FROZEN] + path


def _keep_built_in(name: str) -> None:
    try:
        sys.modules[name] = __import__(name)
    except ImportError:
        pass  # this MicroPython has no such module
