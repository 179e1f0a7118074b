"""Room kept back on the flash, so that a full one can still be made emptier: forgetting and compacting write too."""

from engram import files
from engram.compat import const
from engram.errors import StoreError

_LINES_BYTES = const(12288)  # a line, a new segment's header and their directory blocks, with some to spare
_PIECE = const(512)


class Reserve:
    """A file of no use at `path` that can be given up. It has room for what makes a log smaller: for the draft of one of its
    segments, of `segment_bytes`, or until a live one is full and the oldest can leave.
    """

    def __init__(self, path: str, segment_bytes: int):
        self._path = path
        self._size = segment_bytes + _LINES_BYTES
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
