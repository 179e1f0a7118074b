"""Room kept back on the flash, so that a full one can still be made emptier: forgetting and compacting write too."""

from engram import files
from engram.compat import const
from engram.errors import StoreError

_BYTES = const(12288)  # a line, a new segment's header and their directory blocks, with some to spare
_PIECE = const(512)


class Reserve:
    """A file of no use that can be given up; `path` is where it is."""

    def __init__(self, path: str):
        self._path = path

    def keep(self) -> bool:
        """Take the room, unless it is taken; False if the flash has not enough."""
        if files.size(self._path) == _BYTES:
            return True
        try:
            with open(self._path, "wb") as file:
                piece = bytes(_PIECE)
                for _ in range(_BYTES // _PIECE):
                    file.write(piece)
        except OSError:
            files.discard(self._path)
            return False
        return True

    def release(self) -> bool:
        """Give the room up; whether there was some."""
        try:
            return files.remove(self._path)
        except StoreError:
            return False
