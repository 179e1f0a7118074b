"""Room reserved on the flash for forgetting and compacting, which have to write too."""

from engram import files
from engram.errors import StoreError

_LINES_BYTES = const(12288)  # a line, a new segment's header and their directory blocks, with some to spare
_PIECE = const(512)
_PIECES_AT_ONCE = const(16)  # two blocks, allocated between two looks at the keyboard


class Reserve:
    """A placeholder file that can be given up to compact or seal a full log."""

    def __init__(self, path: str, segment_bytes: int):
        self._path = path
        self._size = segment_bytes + _LINES_BYTES
        self._is_kept = False
        self._work = None

    def keep(self) -> bool:
        """Allocate all room; False if the flash has too little."""
        while self.allocate_some():
            pass
        return self._is_kept

    def allocate_some(self) -> bool:
        """Allocate a part; True if more follows. Too little flash keeps nothing."""
        if self._is_kept:
            return False
        if self._work is None:
            if files.size(self._path) == self._size:
                self._is_kept = True
                return False
            self._work = self._taking()
        work, self._work = self._work, None  # Ctrl-C in it ends it: then it begins once more
        if next(work, True):
            return False
        self._work = work
        return True

    def _taking(self):
        try:
            with open(self._path, "wb") as file:
                piece = bytes(_PIECE)
                for at in range(self._size // _PIECE):
                    file.write(piece)
                    if at % _PIECES_AT_ONCE == _PIECES_AT_ONCE - 1:
                        yield False
        except OSError:
            files.discard(self._path)
            return
        self._is_kept = True

    def release(self) -> bool:
        """Free the room; True if there was some."""
        self._is_kept = False
        if self._work:
            # Its file is closed before it is removed.
            self._work.close()
            self._work = None
        try:
            return files.remove(self._path)
        except StoreError:
            return False
