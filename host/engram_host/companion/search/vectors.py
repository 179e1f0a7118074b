"""The vectors of an index's rows, and how near a query is to each.

They stand in blocks, so that no growing ever holds all of them twice. A vector counts only while the digest of the text it
was made of is that of its row: a line that was replaced is not found by what it said before.
"""

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.columns import Column
from engram_host.companion.types import LogName
from engram_host.companion.vector_types import Vector

BLOCK_ROWS = 4096
"""Vectors of a block: 6 MB of 384 numbers."""

MOST_EARLY = 256
"""Vectors that are kept because they came before their line did: the store is read in two steps, and a board may send
between them. Those beyond the bound come again when the index is rebuilt."""

NO_SLOT = -1

_FIRST_BLOCK_ROWS = 64  # a small board takes no more than it needs: blocks grow to their full size


class Vectors:
    """Of one index; `row of a slot` is NO_SLOT where a slot is free."""

    def __init__(self) -> None:
        self._blocks: list[Vector] = []
        self._rows = Column(np.int32)
        self._free: list[int] = []
        self._dimensions = 0
        self._early: OrderedDict[tuple[LogName, int], tuple[bytes, Vector]] = OrderedDict()

    def put(self, row: int, vector: Vector) -> int:
        """Keep the vector of a row; its slot."""
        if self._free:
            slot = self._free.pop()
            self._rows.view[slot] = row
        else:
            slot = len(self._rows)
            self._rows.extend([row])
            self._make_room(slot, len(vector))
        self._blocks[slot // BLOCK_ROWS][slot % BLOCK_ROWS] = vector
        return slot

    def move(self, slot: int, row: int) -> None:
        """A slot's vector is that of another row now."""
        self._rows.view[slot] = row

    def drop(self, slot: int) -> None:
        """Remove a vector."""
        self._rows.view[slot] = NO_SLOT
        self._free.append(slot)

    def keep_early(self, log: LogName, seq: int, digest: bytes, vector: Vector) -> None:
        """Keep a vector whose line is not here yet, or is here with another text."""
        self._early[log, seq] = (digest, vector)
        while len(self._early) > MOST_EARLY:
            self._early.popitem(last=False)

    def take_early(self, log: LogName, seq: int) -> tuple[bytes, Vector] | None:
        """The vector that came before its line, and its digest."""
        return self._early.pop((log, seq), None) if self._early else None

    @property
    def has_early(self) -> bool:
        """Whether a vector waits for its line."""
        return bool(self._early)

    def nearness(self, query: Vector, rows: int) -> NDArray[np.float32]:
        """The cosine of a query of length 1 with each of some rows; -2 where there is no vector."""
        found = np.full(rows, -2, np.float32)
        for number, block in enumerate(self._blocks):
            of_slots = self._rows.view[number * BLOCK_ROWS : (number + 1) * BLOCK_ROWS]
            cosines = block[: len(of_slots)] @ query
            used = of_slots >= 0
            found[of_slots[used]] = cosines[used]
        return found

    def vectors_at(self, slots: NDArray[np.int32]) -> Vector:
        """The vectors of some slots, a row each."""
        found = np.empty((len(slots), self._dimensions), np.float32)
        for at, slot in enumerate(slots.tolist()):
            found[at] = self._blocks[slot // BLOCK_ROWS][slot % BLOCK_ROWS]
        return found

    @property
    def dimensions(self) -> int:
        """Numbers of each vector; 0 while there is none."""
        return self._dimensions

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks and tables."""
        early = sum(vector.nbytes + 200 for _, vector in self._early.values())
        return sum(block.nbytes for block in self._blocks) + self._rows.nbytes + early + 32 * len(self._free)

    def _make_room(self, slot: int, dimensions: int) -> None:
        number, at = divmod(slot, BLOCK_ROWS)
        self._dimensions = dimensions
        if number == len(self._blocks):
            rows = BLOCK_ROWS if number else _FIRST_BLOCK_ROWS
            self._blocks.append(np.zeros((rows, dimensions), np.float32))
        elif at == len(self._blocks[number]):
            grown = np.zeros((min(BLOCK_ROWS, 2 * at), dimensions), np.float32)
            grown[:at] = self._blocks[number]
            self._blocks[number] = grown
