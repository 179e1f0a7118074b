"""Finds the rows of a table of the index with the highest T, looking only where there can be some.

T = B + .4 B of the rows before and after in the session + .2 B of the next but one on either side
"""

from engram.compat import const
from engram.store.search.session_scores import NO_SLOT
from engram.store.search.weights import OWN

KEPT = 64
"""Rows that are kept by T, before S and the filters that need the line: bounds the heap of a search."""

NEAR = const(2)
"""The share that the rows beside it add."""

FAR = const(1)
"""The share that the next but one add."""

BLOCK = const(128)
"""Rows whose scores lie together: a heap in tables has many places for so few bytes, and few for more."""

BLOCK_BITS = const(7)

_REACH = const(2)  # rows to either side that count
_SHARE = const(11)  # T is at most this multiple of the highest B of a row and its neighbours
_MOST_TOTAL = const(4095)
_PLACE_BITS = const(4)
_ROW_BITS = const(14)  # with T and place they fill a small integer
_GROUP = const(16)  # rows that are passed over together


class TopK:
    """The KEPT rows with the highest T, as integers that sort by T, then place, then row."""

    def __init__(self, places: int):
        # While an index is rebuilt it may have more tables, for which larger integers only cost heap.
        self._place_bits = _PLACE_BITS if places < 1 << _PLACE_BITS else 2 * _PLACE_BITS
        self._total_shift = _ROW_BITS + self._place_bits
        self._keys = [0] * (KEPT + 1)
        self.slots = [0] * (KEPT + 1)
        # Emptied lists keep their room: no longer one has to be found when they grow.
        del self._keys[:]
        del self.slots[:]
        self.least = 0
        """The lowest T that is no hit."""

    def add_row(self, total: int, place: int, row: int, slot: int) -> None:
        """Take a row of the table at `place` (a number that is higher for newer tables), with its session's slot."""
        key = (_MOST_TOTAL - total << self._place_bits | place) << _ROW_BITS | row
        keys = self._keys
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        if low < len(keys) and keys[low] == key:
            return  # it was given before its turn
        keys.insert(low, key)
        self.slots.insert(low, slot)
        if len(keys) > KEPT:
            keys.pop()
            self.slots.pop()
        if len(keys) == KEPT:
            self.least = _MOST_TOTAL - (keys[-1] >> self._total_shift)

    def rows(self):
        """Yield (T, place, row, slot), best first."""
        for key, slot in zip(self._keys, self.slots):
            row = key & (1 << _ROW_BITS) - 1
            place = key >> _ROW_BITS & (1 << self._place_bits) - 1
            yield _MOST_TOTAL - (key >> self._total_shift), place, row, slot


def clear_dead(dead: bytearray, blocks: list) -> None:
    """What went must not show by what stands beside it."""
    for at, bits in enumerate(dead):
        if bits:
            for row in range(8 * at, 8 * at + 8):
                if bits >> (row & 7) & 1:
                    blocks[row >> BLOCK_BITS][row & BLOCK - 1] = 0


class Look:
    """Looks at rows of tables, from first to last, and gives those with a T that is high enough to `best`.

    `last` and `far` have B of the last two rows of each session in the tables that it has seen. One serves all tables of a
    search, since a new one would need a long piece of heap while there is least of it.
    """

    def __init__(self, best, last: bytearray, far: bytearray):
        self._best = best
        self._last = last
        self._far = far
        # Room for these is got here, where a longer piece of heap is easier to find than beside the scores of a table.
        self._table = self._bits = None
        self._runs = self._blocks = self._ends = self._slots = []
        self._place = self._carried = self._share = self._reach = self._least = self._floor = 0
        self._part = self._run = self._first = self._end = self._following = 0

    def collect(self, table, place: int, runs: list, blocks: list, bits) -> None:
        """Give the best rows of the table at `place` to `best`; then `last` and `far` have those of this table.

        `blocks` have B of each row, `runs` the runs of sessions, `bits` the rows that may be found, None for all. T of a row is
        at most 2.2 times the highest B of it and its neighbours: only around rows with a high B one has to look.
        """
        self._table, self._place, self._runs, self._blocks, self._bits = table, place, runs, blocks, bits
        # The highest B from older tables.
        self._carried = max(max(self._last), max(self._far)) if table.has_sessions else 0
        self._share = _SHARE if table.has_sessions else OWN
        self._reach = _REACH if table.has_sessions else 0
        self._rewind()
        self._need(self._best.least)
        if table.has_sessions and self._carried > self._floor:
            self._at_firsts()
        self._rewind()
        row = 0
        for block in blocks:
            if row >= table.rows:
                break
            view = memoryview(block)
            for at in range(0, BLOCK, _GROUP):
                group = view[at : at + _GROUP]
                # Most rows are of no use: to pass over a group at once is many times faster than row by row.
                if max(group) > self._floor:
                    for here in group:
                        if here > self._floor:
                            self._around(row)
                        row += 1
                else:
                    row += _GROUP
        if table.has_sessions:
            self._carry()
        self._runs = self._ends = self._slots = []

    def _carry(self) -> None:
        """Keep B of the last two rows of each session, for the tables that follow."""
        last, far = self._last, self._far
        first = 0
        for ends, slots in self._runs:
            for at, slot in enumerate(slots):
                end = ends[at] - 1
                far[slot] = self._score(end - 1) if end > first else last[slot]
                last[slot] = self._score(end)
                first = end + 1
        last[NO_SLOT] = far[NO_SLOT] = 0

    def _need(self, least: int) -> None:
        """T has to exceed this from now on; a row and its neighbours need a B over `floor` for it."""
        self._least = least
        self._floor = least // self._share

    def _rewind(self) -> None:
        """Begin again with the first row."""
        self._ends, self._slots = self._runs[0]
        self._part = self._run = 0
        self._first, self._end = 0, self._ends[0]
        self._following = 0  # the next row that was not looked at

    def _around(self, row: int) -> None:
        """Look at a row and, in a session, its neighbours."""
        near = row - self._reach
        if near < self._following:
            near = self._following
        self._following = row + self._reach + 1
        if self._following > self._table.rows:
            self._following = self._table.rows
        block = self._blocks[row >> BLOCK_BITS]
        at = near - (row & -BLOCK)
        spare = self._least - (NEAR + FAR) * min(self._carried, self._floor)  # _at_firsts saw what more can come
        while near < self._following:
            # Cheaply, what T is at most: most rows go no further.
            if (
                not 2 <= at < BLOCK - 2
                or 5 * block[at] + 2 * (block[at - 1] + block[at + 1]) + block[at - 2] + block[at + 2] > spare
            ):
                self._look(near)
            near += 1
            at += 1

    def _at_firsts(self) -> None:
        """Look at the first two rows of sessions of which an older table has a last row, or one before it, with a high B."""
        first = 0
        for ends, slots in self._runs:
            for run, slot in enumerate(slots):
                if self._last[slot] > self._floor or self._far[slot] > self._floor:
                    for row in range(first, min(first + 2, ends[run])):
                        self._look(row)
                first = ends[run]

    def _look(self, row: int) -> None:
        while row >= self._end:
            self._run += 1
            if self._run == len(self._slots):
                self._part += 1
                self._ends, self._slots = self._runs[self._part]
                self._run = 0
            self._first, self._end = self._end, self._ends[self._run]
        total = OWN * self._score(row)
        slot = self._slots[self._run]
        if slot != NO_SLOT:
            inside = row - self._first
            total += NEAR * (self._score(row - 1) if inside else self._last[slot])
            total += FAR * (self._score(row - 2) if inside > 1 else self._last[slot] if inside else self._far[slot])
            if row + 1 < self._end:
                total += NEAR * self._score(row + 1)
                if row + 2 < self._end:
                    total += FAR * self._score(row + 2)
        if total <= self._least or self._table.dead[row >> 3] >> (row & 7) & 1:
            return
        if not self._bits or self._bits[row >> 3] >> (row & 7) & 1:
            self._best.add_row(total, self._place, row, slot)
            self._need(self._best.least)

    def _score(self, row: int) -> int:
        return self._blocks[row >> BLOCK_BITS][row & BLOCK - 1]
