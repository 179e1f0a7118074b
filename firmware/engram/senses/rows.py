"""Rows of 12 bytes, as they wait in RAM and are kept on flash.

    number of the sense (1), slot less the base (1), count and shift (2), low, high, mean, last (2 each, signed)

The count has 12 bits, of which 4,092 to 4,095 are for 1 to 4 slots in a row with one reading each, which then take
the place of low, high, mean and last. The shift has 4 bits: values beyond 16 bits lose so many of their lowest bits,
at most one part in 16,384. The number 255 marks a row with the base (4, at byte 4) of the rows that follow.
"""

from struct import calcsize, pack_into, unpack_from

from engram.compat import const

SIZE = const(12)
_ROW = const("<BBHhhhh")
_BASE_ROW = const("<BBHII")
_BASE = const(255)
_FAR = const(255)  # slots from a base
_SINGLES = const(4091)  # the largest count: an hour has 3,600 seconds
_COUNT_BITS = const(12)
_LOWEST, _HIGHEST = -32768, 32767

assert calcsize(_ROW) == calcsize(_BASE_ROW) == SIZE


class RowBuffer:
    """A buffer of a fixed size for rows in insertion order."""

    def __init__(self, most_bytes: int):
        self._data = bytearray(most_bytes)
        self.clear()

    def clear(self) -> None:
        self.end = 0
        self._base = -1
        self._singles = {}

    def bytes(self):
        """Return all rows, valid until the next change."""
        return memoryview(self._data)[: self.end]

    @property
    def is_nearly_full(self) -> bool:
        return self.end >= 3 * len(self._data) // 4

    @property
    def first_slot(self) -> int:
        return unpack_from("<I", self._data, 4)[0]

    def add(self, number: int, slot: int, aggregate: tuple) -> bool:
        """Add a sense's aggregate; False if it is full."""
        count, low, high, mean, last = aggregate
        shift = 0
        while low >> shift < _LOWEST or high >> shift > _HIGHEST:
            shift += 1
        if count == 1 and self._join(number, slot, last >> shift, shift):
            return True
        if self.end + 2 * SIZE > len(self._data):
            return False
        if self._base < 0 or not 0 <= slot - self._base <= _FAR:
            self._set_base(slot)
        if count == 1:
            self._singles[number] = self.end, slot + 1
            count = _SINGLES + 1
        else:
            count = min(_SINGLES, count)
        values = low >> shift, high >> shift, mean >> shift, last >> shift
        pack_into(_ROW, self._data, self.end, number, slot - self._base, count | shift << _COUNT_BITS, *values)
        self.end += SIZE
        return True

    def _join(self, number: int, slot: int, value: int, shift: int) -> bool:
        at, following = self._singles.get(number, (0, -1))
        if slot != following:
            return False
        (coded,) = unpack_from("<H", self._data, at + 2)
        place = (coded & 0xFFF) - _SINGLES
        if place == 4 or coded >> _COUNT_BITS != shift:
            return False
        pack_into("<H", self._data, at + 2, coded + 1)
        pack_into("<h", self._data, at + 4 + 2 * place, value)
        self._singles[number] = at, slot + 1
        return True

    def _set_base(self, slot: int) -> None:
        pack_into(_BASE_ROW, self._data, self.end, _BASE, 0, 0, slot, 0)
        self._base = slot
        self.end += SIZE


def rows_in(data, number: int = -1):
    base = 0
    for at in range(0, len(data) - SIZE + 1, SIZE):
        if data[at] == _BASE:
            (base,) = unpack_from("<I", data, at + 4)
            continue
        if number >= 0 and data[at] != number:
            continue
        which, slot, coded, low, high, mean, last = unpack_from(_ROW, data, at)
        slot, count, shift = slot + base, coded & 0xFFF, coded >> _COUNT_BITS
        if count > _SINGLES:
            for value in (low, high, mean, last)[: count - _SINGLES]:
                value <<= shift
                yield which, slot, (1, value, value, value, value)
                slot += 1
            continue
        yield which, slot, (count, low << shift, high << shift, mean << shift, last << shift)


def bases_in(data):
    """Yield the rows' bases, from which slots are at most `REACH` away."""
    for at in range(0, len(data), SIZE):
        if data[at] == _BASE:
            yield unpack_from("<I", data, at + 4)[0]


REACH = _FAR + 3
