"""Rings of blocks on flash: the cap, damage at any byte, refusals of the flash, and blocks that are only partly there."""

import os
import random

from engram import files
from engram.errors import StoreFull
from engram.senses import rings
from engram.senses.rings import SIZE, Ring, RowBuffer, rows_in
from support import folder, raises, rounds

FILE = 4096
LIMIT = FILE - 64
ROWS = 16  # of a block


def _ring(place):
    ring = Ring(place, "minutes", 4, FILE)
    ring.open()
    return ring


def _rows(slot, count=ROWS):
    rows = RowBuffer((count + 1) * SIZE)
    for at in range(count - 1):
        rows.add(at, slot, (2, 1, 9, 5, 3))
    return rows.bytes()


def _append(ring, slot, count=ROWS):
    if ring.leaving(count * SIZE):
        ring.remove(ring.leaving(count * SIZE))
    ring.append(_rows(slot, count))


def _filled(place, count, size=ROWS):
    """A ring with blocks, each of a slot that is its place."""
    ring = _ring(place)
    for slot in range(1, count + 1):
        _append(ring, slot, size)
    return ring


def _slots(ring, *bounds):
    return [next(rows_in(rows))[1] for rows in ring.rows(*bounds)]


def _files(place):
    return sorted(os.listdir(place))


def test_the_oldest_file_leaves_at_the_cap_and_no_other():
    place = folder()
    ring = _ring(place)
    for slot in range(1, rounds(300, 120)):
        before, count = _slots(ring), len(ring.sizes)
        _append(ring, slot)
        after = _slots(ring)
        assert after == before[len(before) + 1 - len(after) :] + [slot]
        assert len(after) > len(before) or count == 4
        assert len(_files(place)) == len(ring.sizes) <= 4
        assert all(files.size(place + "/" + name) <= LIMIT for name in _files(place))
    assert len(_slots(ring)) >= 3 * (LIMIT // ((ROWS + 1) * SIZE))


def test_damage_at_any_byte_loses_one_block_at_most():
    place = folder()
    _filled(place, 12)
    path = place + "/minutes.0001"
    whole = files.read(path, 65536) or b""
    random.seed(3)
    for at in range(0, len(whole), rounds(1, 17)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << random.randrange(8)
        files.write(path, damaged)
        ring = _ring(place)
        found = _slots(ring)
        assert len(found) == 11 and set(found) < set(range(1, 13)), (at, found)
        _append(ring, 13)
        assert _slots(_ring(place)) == found + [13], at
        for name in _files(place):
            if name != "minutes.0001":
                os.remove(place + "/" + name)


# --- for a copy


def _copied(ring, seq=0, check=0):
    """The blocks that a copy gets which has one with a seq and a check."""
    found = []
    while len(found) < 100:
        block = ring.next_block(seq, check)
        if block is None:
            return found
        found.append(block)
        seq, check = block.seq, block.check
    return found


def test_a_copy_gets_each_block_once_in_order():
    ring = _filled(folder(), 40)
    blocks = _copied(ring)
    assert [next(rows_in(block.rows))[1] for block in blocks] == list(range(1, 41))
    assert len(_copied(ring, blocks[29].seq, blocks[29].check)) == 10


def test_a_copy_that_was_away_goes_on_with_the_oldest_block_that_is_kept():
    ring = _filled(folder(), 5)
    old = _copied(ring)[-1]
    for slot in range(6, 150):
        _append(ring, slot)
    assert [block.seq for block in _copied(ring, old.seq, old.check)] == [block.seq for block in _copied(ring)]


def test_a_copy_of_another_past_gets_all_again():
    ring = _filled(folder(), 30)
    for seq, check in ((_copied(ring)[10].seq, 5), (_copied(ring)[10].seq + 1, 0), (99 << 16, 0)):
        assert len(_copied(ring, seq, check)) == 30
    assert _copied(_ring(folder()), 99 << 16, 0) == []


class _Refusing:
    """A file of which a write fails after some bytes, or its closing after all."""

    def __init__(self, path, mode, after):
        self._file = open(path, mode)
        self._left = after

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()
        raise OSError(files.ENOSPC, "full")

    def write(self, data):
        self._file.write(data[: self._left])
        self._left -= len(data)
        if self._left < 0:
            raise OSError(files.ENOSPC, "full")


def _append_refused(ring, after):
    def refusing(path, mode):
        return _Refusing(path, mode, after)

    rings.open = refusing  # pyright: ignore[reportAttributeAccessIssue]
    try:
        _append(ring, 4)
    finally:
        del rings.open  # pyright: ignore[reportAttributeAccessIssue]


def test_a_refused_append_leaves_the_ring_as_it_was_and_the_next_one_works():
    for after in (0, 1, 12, 100):
        place = folder()
        ring = _filled(place, 3)
        with raises(StoreFull):
            _append_refused(ring, after)
        assert _slots(ring) == [1, 2, 3] == _slots(_ring(place))
        _append(ring, 4)
        assert _slots(ring) == [1, 2, 3, 4] == _slots(_ring(place))
