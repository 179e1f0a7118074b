"""The vectors of an index's rows in 8 bits, and approximate cosines with a query.

A vector is int8 values and one scale. A scan uses integer products, which are exact on every
processor. The best rows are rescored with the store's vectors (view.py), so rounding only
affects which rows are among them.

Rows are in blocks, so that growth never copies all of them. A vector counts only while its digest
matches its row's text: a replaced line is not found by its former text.
"""

from collections import OrderedDict

import numkong
import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.tables import Column
from engram_host.companion.store.vectors import Vector
from engram_host.companion.types import LogName

BLOCK_ROWS = 4096

MOST_EARLY = 256

NO_SLOT = -1

Codes = NDArray[np.int8]

_LEVELS = 127
_LEAST_SCALE = np.float32(1e-30)  # avoids a division by zero
_FIRST_BLOCK_ROWS = 64  # small boards need little; blocks grow to full size


class Vectors:
    """Vectors of one index, by slot; a free slot's row is NO_SLOT."""

    def __init__(self) -> None:
        self._blocks: list[Codes] = []
        self._rows = Column(np.int32)
        self._scales = Column(np.float32)
        self._free: list[int] = []
        self._dimensions = 0
        self._early: OrderedDict[tuple[LogName, int], tuple[bytes, Codes, np.float32]] = OrderedDict()

    def put(self, row: int, codes: Codes, scale: np.float32) -> int:
        if not self._free:
            return int(self.add(np.array([row], np.int32), codes[None], np.array([scale]))[0])
        slot = self._free.pop()
        self._rows.view[slot], self._scales.view[slot] = row, scale
        block, at = self._place(slot)
        block[at] = codes
        return slot

    def add(self, rows: NDArray[np.int32], codes: Codes, scales: NDArray[np.float32]) -> NDArray[np.int32]:
        """Put vectors into new slots, and return these."""
        first = len(self._rows)
        self._rows.extend(rows)
        self._scales.extend(scales)
        done = 0
        while done < len(rows):
            self._make_room(first + done, len(rows) - done, codes.shape[1])
            block, at = self._place(first + done)
            count = min(len(block) - at, len(rows) - done)
            block[at : at + count] = codes[done : done + count]
            done += count
        return np.arange(first, first + len(rows), dtype=np.int32)

    def _place(self, slot: int) -> tuple[Codes, int]:
        return self._blocks[slot // BLOCK_ROWS], slot % BLOCK_ROWS

    def move(self, slot: int, row: int) -> None:
        self._rows.view[slot] = row

    def drop(self, slot: int) -> None:
        self._rows.view[slot] = NO_SLOT
        block, at = self._place(slot)
        block[at] = 0
        self._free.append(slot)

    def keep_early(self, log: LogName, seq: int, digest: bytes, codes: Codes, scale: np.float32) -> None:
        self._early[log, seq] = (digest, codes, scale)
        while len(self._early) > MOST_EARLY:
            self._early.popitem(last=False)

    def drop_early(self, slot: int, log: LogName, seq: int, digest: bytes) -> None:
        block, at = self._place(slot)
        codes, scale = block[at].copy(), self._scales.view[slot]
        self.drop(slot)
        self.keep_early(log, seq, digest, codes, scale)

    def early_digest(self, log: LogName, seq: int) -> bytes:
        return self._early.get((log, seq), (b"",))[0] if self._early else b""

    def put_early(self, log: LogName, seq: int, row: int) -> int:
        """Give a line's early vector to its row and return its slot."""
        _, codes, scale = self._early.pop((log, seq))
        return self.put(row, codes, scale)

    def forget_early(self, log: LogName, seq: int) -> None:
        if self._early:
            self._early.pop((log, seq), None)

    @property
    def has_early(self) -> bool:
        return bool(self._early)

    def nearness(self, query: Vector, rows: int) -> NDArray[np.float32]:
        found = np.full(rows, -2, np.float32)
        if not self._dimensions:
            return found
        codes, scales = quantize(query[None])
        products = np.empty((1, len(self._rows)))
        start = 0
        for block in self._blocks:
            of_block = products[:, start : start + len(block)]
            if of_block.size:
                numkong.cdist(codes, block[: of_block.size], metric="dot", out=of_block)
            start += len(block)
        cosines = products[0]
        cosines *= self._scales.view
        cosines *= scales[0]
        if self._free:
            used = self._rows.view >= 0
            found[self._rows.view[used]] = cosines[used]
        else:
            found[self._rows.view] = cosines
        return found

    def nearness_at(self, query: Vector, slots: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return approximate cosines by slot, independent of other slots down to the last bit."""
        # No matrix product: it may group a row's sum by the number of rows.
        return (self._codes_at(slots) * query.astype(np.float64)).sum(axis=1) * self._scales.view[slots]

    def _codes_at(self, slots: NDArray[np.int32]) -> Codes:
        found = np.empty((len(slots), self._dimensions), np.int8)
        numbers = slots // BLOCK_ROWS
        for number in np.unique(numbers).tolist():
            of_block = numbers == number
            found[of_block] = self._blocks[number][slots[of_block] % BLOCK_ROWS]
        return found

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def nbytes(self) -> int:
        early = sum(codes.nbytes + 200 for _, codes, _ in self._early.values())
        tables = self._rows.nbytes + self._scales.nbytes + 32 * len(self._free)
        return sum(block.nbytes for block in self._blocks) + tables + early

    def _make_room(self, slot: int, count: int, dimensions: int) -> None:
        """Make room for a slot, and in the first block for more that follow."""
        number, at = divmod(slot, BLOCK_ROWS)
        self._dimensions = dimensions
        if number == len(self._blocks):
            rows = BLOCK_ROWS if number else min(BLOCK_ROWS, max(count, _FIRST_BLOCK_ROWS))
            self._blocks.append(np.zeros((rows, dimensions), np.int8))
        elif at == len(self._blocks[number]):
            grown = np.zeros((min(BLOCK_ROWS, max(2 * at, at + count)), dimensions), np.int8)
            grown[:at] = self._blocks[number]
            self._blocks[number] = grown


def quantize(vectors: Vector) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    scales = (np.abs(vectors).max(axis=1, initial=0) / _LEVELS).astype(np.float32)
    return np.rint(vectors / np.maximum(scales, _LEAST_SCALE)[:, None]).astype(np.int8), scales
