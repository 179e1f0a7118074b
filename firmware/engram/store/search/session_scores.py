"""What a search has to know of sessions, in tables of fixed size: each session has a slot, and those that share one share S.

They are kept from when an index is opened, since they would not fit a heap in pieces when a search begins.
"""

from array import array

from engram.compat import const

_SLOTS = const(512)
NO_SLOT = const(512)
"""One more, for rows of no session."""


class SessionScores:
    """What one search counts: for each slot the rows that have each of ten words, and B of the last two rows. One for all
    indexes, since a search ranks all rows before another task has a turn.
    """

    def __init__(self):
        self.counts = array("I", bytes(4 * (_SLOTS + 1)))
        self.last = bytearray(_SLOTS + 1)
        self.far = bytearray(_SLOTS + 1)  # of the row before the last

    def clear(self) -> None:
        """Empty the tables."""
        counts, last, far = self.counts, self.last, self.far
        for slot in range(_SLOTS + 1):
            counts[slot] = last[slot] = far[slot] = 0


_scratch = None


def scratch() -> SessionScores:
    """The one that there is."""
    global _scratch
    if _scratch is None:
        _scratch = SessionScores()
    return _scratch


class SessionSizes:
    """How many rows each slot's sessions have, in all pieces and in RAM; counted anew after the pieces changed."""

    def __init__(self):
        self._sizes = array("H", bytes(2 * (_SLOTS + 1)))
        self._is_known = False

    def forget(self) -> None:
        """Count anew when it is asked for."""
        self._is_known = False

    def add(self, session: int, rows: int = 1) -> None:
        """There are more rows of a session."""
        slot = session % _SLOTS if session else NO_SLOT
        self._sizes[slot] = min(0xFFFF, self._sizes[slot] + rows)

    def of(self, index) -> array:
        """The rows of each slot."""
        if not self._is_known:
            for slot in range(_SLOTS + 1):
                self._sizes[slot] = 0
            for row in range(len(index.memtable)):
                self.add(index.memtable.sessions[row])
            for piece in list(index.pieces):
                index.guarded(piece, self._add_piece, piece)
            self._is_known = True
        return self._sizes

    def _add_piece(self, piece) -> None:
        first = 0
        for session, end in piece.each_run():
            self.add(session, end - first)
            first = end
