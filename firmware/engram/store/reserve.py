"""Room kept back on the flash, so that a full one can still be made emptier: forgetting and compacting write too."""

from engram import files
from engram.compat import const
from engram.errors import StoreError

FORGETTING_BYTES = const(12288)  # a line, a new segment's header and their directory blocks, with some to spare
TURNS_BYTES = const(28672)  # lets the journal fill its live segment and begin the next: then its oldest can leave
_PIECE = const(512)


class Reserve:
    """A file of no use, of `size` bytes at `path`, that can be given up."""

    def __init__(self, path: str, size: int = FORGETTING_BYTES):
        self._path = path
        self._size = size
        self._is_kept = False

    def keep(self) -> bool:
        """Take the room, unless it is taken; False if the flash has not enough."""
        if not self._is_kept:
            self._is_kept = files.size(self._path) == self._size or self._take()
        return self._is_kept

    def _take(self) -> bool:
        try:
            with open(self._path, "wb") as file:
                piece = bytes(_PIECE)
                for _ in range(self._size // _PIECE):
                    file.write(piece)
        except OSError:
            files.discard(self._path)
            return False
        return True

    def release(self) -> bool:
        """Give the room up; whether there was some."""
        self._is_kept = False
        try:
            return files.remove(self._path)
        except StoreError:
            return False
