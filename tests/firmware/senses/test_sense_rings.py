"""Rings of blocks on flash: the cap, damage at any byte, refusals of the flash, and blocks that are only partly there."""

import os
import random

from engram import files
from engram.errors import StoreFull
from engram.senses.rings import Ring, part
from support import folder, raises, rounds

FILE = 4096
LIMIT = FILE - 16


def _ring(place, cap=4 * FILE):
    ring = Ring(place, "minutes", cap, FILE)
    ring.open()
    return ring


def _filled(place, count, size=200):
    """A ring with blocks of a size: each has a sense for its seq."""
    ring = _ring(place)
    for seq in range(1, count + 1):
        ring.append(part(seq % 120, bytes([seq & 0xFF]) * size), 0, seq * 10, seq * 10 + 9)
    return ring


def _seqs(ring, *bounds):
    return [block.seq for block in ring.blocks(*bounds)]


def _files(place):
    return sorted(os.listdir(place))


def test_blocks_are_read_after_a_restart_as_they_were_written():
    place = folder()
    _filled(place, 30)
    ring = _ring(place)
    assert (_seqs(ring), ring.next_seq) == (list(range(1, 31)), 31)
    for block in ring.blocks():
        assert bytes(block.bits_of(block.seq % 120) or b"") == bytes([block.seq & 0xFF]) * 200
        assert block.bits_of(121) is None and block.numbers() == [block.seq % 120]


def test_the_oldest_file_leaves_at_the_cap_and_no_other():
    place = folder()
    ring = _ring(place)
    for seq in range(1, 200):
        leaving = ring.leaving_seq(203)
        before = _seqs(ring)
        ring.append(part(1, bytes(200)), 0, seq, seq)
        assert _seqs(ring) == [other for other in before if other > leaving] + [seq]
        assert ring.size <= 4 * FILE and ring.size == FILE * len(_files(place))
        assert all(files.size(place + "/" + name) <= LIMIT for name in _files(place))
        assert len(_files(place)) == min(4, 1 + (seq - 1) // (LIMIT // 227)) or leaving
    assert len(_seqs(ring)) >= 3 * (LIMIT // 227)


def test_a_range_of_slots_and_a_seq_choose_blocks():
    ring = _filled(folder(), 40)
    assert _seqs(ring, 0, 105, 129) == [10, 11, 12]
    assert _seqs(ring, 11, 105, 129) == [12]
    assert _seqs(ring, 38) == [39, 40] and _seqs(ring, 40) == []


def test_a_block_as_large_as_several_files_is_kept():
    place = folder()
    ring = _filled(place, 3)
    ring.append(part(5, bytes(9000)), 0, 1, 2)
    ring.append(part(5, bytes(20)), 7, 3, 4)
    ring = _ring(place)
    # Four blocks of the flash: three for the large one, and the first file has left.
    assert _seqs(ring) == [4, 5] and ring.until == 7
    assert [len(block.bits_of(5) or b"") for block in ring.blocks()] == [9000, 20]


def test_a_file_grows_beyond_its_size_while_much_of_a_flash_block_is_free():
    place = folder()
    ring = Ring(place, "hours", 16 * FILE, 2 * FILE)
    ring.open()
    for seq in range(1, 40):
        ring.append(part(1, bytes(2250)), 0, seq, seq)
    used = sum(files.size(place + "/" + name) for name in _files(place))
    assert ring.size <= 16 * FILE and used > 0.9 * (ring.size - FILE)


def test_damage_at_any_byte_loses_one_block_at_most_and_never_the_next_number():
    place = folder()
    _filled(place, 12, 30)
    path = place + "/minutes.0001"
    whole = files.read(path, 65536) or b""
    random.seed(3)
    for at in range(0, len(whole), 1 if rounds(True, False) else 7):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << random.randrange(8)
        files.write(path, damaged)
        ring = _ring(place)
        found = _seqs(ring)
        assert len(found) == 11 and set(found) < set(range(1, 13)), (at, found)
        ring.append(part(1, b"next"), 0, 500, 501)
        assert _seqs(_ring(place)) == found + [found[-1] + 1], at
        for name in _files(place):
            if name != "minutes.0001":
                os.remove(place + "/" + name)


def test_a_block_that_was_cut_off_is_not_there_and_the_next_ones_are():
    place = folder()
    _filled(place, 3, 60)
    path = place + "/minutes.0001"
    whole = files.read(path, 65536) or b""
    size = len(whole) // 3
    for cut in range(2 * size + 1, 3 * size):
        files.write(path, whole[:cut])
        ring = _ring(place)
        assert (_seqs(ring), ring.next_seq) == ([1, 2], 3), cut
        ring.append(part(1, b"next"), 0, 500, 501)
        ring.append(part(1, b"after"), 0, 502, 503)
        assert _seqs(_ring(place)) == [1, 2, 3, 4]
        os.remove(place + "/minutes.0002")


def test_files_that_are_missing_cost_their_blocks_alone():
    place = folder()
    ring = _filled(place, 50)
    per_file = LIMIT // 227
    os.remove(place + "/minutes.0002")
    assert _seqs(_ring(place)) == list(range(1, per_file + 1)) + list(range(2 * per_file + 1, 51))
    os.remove(place + "/minutes.%04d" % ring.files[-1][0])
    ring = _ring(place)
    assert ring.next_seq == _seqs(ring)[-1] + 1


class _Refusing:
    """A file of which a write fails after some bytes, or its closing after all."""

    def __init__(self, path, mode, after):
        self._file = open(path, mode)
        self._after = after

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def write(self, data):
        self._file.write(data[: self._after])
        self._file.flush()
        raise OSError(files.ENOSPC, "full")


def _append_refused(ring, after):
    from engram.senses import rings

    def refusing(path, mode):
        return _Refusing(path, mode, after)

    rings.open = refusing  # pyright: ignore[reportAttributeAccessIssue]
    try:
        ring.append(part(1, bytes(100)), 0, 40, 49)
    finally:
        del rings.open  # pyright: ignore[reportAttributeAccessIssue]


def test_a_refused_append_leaves_the_ring_as_it_was_and_the_next_one_works():
    for after in (0, 1, 50, 125):
        place = folder()
        ring = _filled(place, 3)
        with raises(StoreFull):
            _append_refused(ring, after)
        assert _seqs(ring) == [1, 2, 3] == _seqs(_ring(place))
        ring.append(part(1, bytes(100)), 0, 40, 49)
        assert _seqs(ring) == [1, 2, 3, 4] == _seqs(_ring(place))


def test_an_append_that_is_refused_after_all_of_it_is_there_counts_once():
    place = folder()
    ring = _filled(place, 3)
    _append_refused(ring, 1000)
    assert _seqs(ring) == [1, 2, 3, 4] == _seqs(_ring(place)) and ring.next_seq == 5
