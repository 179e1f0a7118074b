"""Aggregates as bits: what is packed is read back, exactly or within the step that is stated."""

import random

from engram.senses import packing
from engram.senses.packing import BitReader, BitWriter
from support import rounds

ROUNDS = rounds(400, 60)


def _rows(most, spread, chance, is_plain):
    """Rows of a walk, with gaps; of single readings only, if it is plain."""
    rows, slot, value = [], 30000000 + random.randrange(100), random.randrange(-spread, spread + 1)
    for _ in range(random.randrange(1, most)):
        slot += 1 if random.randrange(100) > chance else random.randrange(1, 5000)
        value = max(-(1 << 31), min((1 << 31) - 1, value + random.randrange(-spread, spread + 1)))
        if is_plain:
            rows.append((slot, 1, value, value, value, value))
        else:
            low = max(-(1 << 31), value - random.randrange(spread + 1))
            high = min((1 << 31) - 1, value + random.randrange(spread + 1))
            last = random.choice((low, value, high, (low + value) // 2))
            rows.append((slot, random.randrange(1, 1500), low, high, value, last))
    return rows


def _samples():
    """Random rows of all kinds."""
    random.seed(25)
    for _ in range(ROUNDS):
        spread = random.choice((1, 2, 9, 60, 1000, 1000000, 1 << 28))
        yield _rows(80, spread, random.choice((0, 3, 40)), random.randrange(3) == 0)


def _read(bits, base):
    return [(slot,) + aggregate for slot, aggregate in packing.unpack(bits, base)]


def _half_steps(rows):
    """For min, max, mean and last: half the step with which they are kept."""
    halves = []
    for at in (2, 3, 4, 5):
        figures = [row[at] for row in rows]
        steps = packing.LAST_STEPS if at == 5 else packing.STEPS
        halves.append((1 + (max(figures) - min(figures)) // steps) // 2)
    return halves


def test_exact_rows_are_read_back_as_they_were():
    for rows in _samples():
        base = rows[0][0] - random.randrange(3)
        assert _read(packing.pack(rows, base, True), base) == rows


def test_the_lowest_and_the_highest_integers_are_kept():
    low, high = -(1 << 31), (1 << 31) - 1
    rows = [(at, 2, low, high, (low, 0, high)[at % 3], (high, low)[at % 2]) for at in range(9)]
    assert _read(packing.pack(rows, 0, True), 0) == rows


def test_a_memoryview_in_a_longer_buffer_is_read_like_the_bytes():
    rows = [(5 + at, 1, at, at, at, at) for at in range(30)]
    bits = packing.pack(rows, 5, True)
    assert _read(memoryview(b"\xff\xff" + bits + b"\xff")[2 : 2 + len(bits)], 5) == rows


def test_slots_and_counts_are_exact_and_figures_within_half_a_step():
    for rows in _samples():
        found = _read(packing.pack(rows, rows[0][0], False), rows[0][0])
        assert [row[:2] for row in found] == [row[:2] for row in rows]
        low, high, mean, last = _half_steps(rows)
        for row, read in zip(rows, found):
            assert abs(row[4] - read[4]) <= mean and abs(row[5] - read[5]) <= max(low, high, mean, last), (row, read)
            assert abs(row[2] - read[2]) <= max(low, mean) and abs(row[3] - read[3]) <= max(high, mean), (row, read)
            assert read[2] <= read[4] <= read[3] and read[2] <= read[5] <= read[3], read


def test_figures_that_vary_by_less_than_the_steps_are_exact():
    random.seed(7)
    rows = []
    for slot in range(72):
        low, high = 180 + random.randrange(12), 205 + random.randrange(30)
        rows.append((slot, 60, low, high, (low + high) // 2, 195 + random.randrange(10)))
    assert _read(packing.pack(rows, 0, False), 0) == rows


def test_packing_what_was_read_loses_no_more():
    for rows in _samples():
        once = _read(packing.pack(rows, rows[0][0], False), rows[0][0])
        assert _read(packing.pack(once, rows[0][0], True), rows[0][0]) == once


def test_a_steady_hour_takes_a_few_bytes():
    rows = [(slot, 1, 214, 214, 214, 214) for slot in range(60)]
    assert len(packing.pack(rows, 0, True)) <= 8


def test_codes_of_every_length_are_read_back():
    values = [0, 1, 2, 7, 8, 255, 65535, 65536, (1 << 31) - 1, 1 << 32, (1 << 34) - 1]
    bits = BitWriter()
    for value in values:
        for parameter in (0, 3, 7, 30):
            bits.rice(value, parameter)
            bits.exp_golomb(value % (1 << 33), parameter % 8)
    reader = BitReader(bits.finished())
    for value in values:
        for parameter in (0, 3, 7, 30):
            assert reader.rice(parameter) == value, (value, parameter)
            assert reader.exp_golomb(parameter % 8) == value % (1 << 33), (value, parameter)


def test_bits_that_end_too_early_give_no_error():
    rows = _rows(40, 1000, 10, False)
    bits = packing.pack(rows, rows[0][0], True)
    for size in range(len(bits)):
        for slot, aggregate in packing.unpack(bits[:size], rows[0][0]):
            assert len(aggregate) == 5 and slot >= 0
