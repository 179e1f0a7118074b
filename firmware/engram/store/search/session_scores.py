"""Sessions in a search: each uses one of a fixed number of slots; sessions in one slot share S."""

from array import array

from engram.compat import const
from engram.store.index import codec

SLOTS = 513
NO_SLOT = const(0)
"""Slot of rows without a session."""


class SessionSizes:
    """Rows by session slot over tables and RAM, recounted after tables change."""

    def __init__(self):
        self._sizes = array("H", bytes(2 * SLOTS))
        self._is_known = False

    def forget(self) -> None:
        self._is_known = False

    def add_rows(self, session: int, rows: int = 1) -> None:
        if session:
            slot = codec.slot_of(session)
            self._sizes[slot] = min(0xFFFF, self._sizes[slot] + rows)

    def by_slot(self, index) -> array:
        if not self._is_known:
            for slot in range(SLOTS):
                self._sizes[slot] = 0
            for row in range(index.memtable.rows):
                self.add_rows(index.memtable.sessions[row])
            for table in list(index.tables):
                index.guarded(table, self._add_table, table)
            self._is_known = True
        return self._sizes

    def _add_table(self, table) -> None:
        first = 0
        for session, end in table.each_run():
            self.add_rows(session, end - first)
            first = end
