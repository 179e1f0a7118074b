"""Rows of 12 bytes: what is added is read back, large values and counts within their steps."""

import random

from engram.senses.rings import SIZE, RowBuffer, rows_in
from support import rounds

START = 29833334


def _single(value):
    return (1, value, value, value, value)


def _read(rows, number=-1):
    return list(rows_in(rows.bytes(), number))


def _filled(*added):
    rows = RowBuffer(4096)
    for row in added:
        assert rows.add(*row)
    return rows


def test_aggregates_are_read_back_as_they_were_added():
    random.seed(25)
    for _ in range(rounds(400, 60)):
        slot, added = START, []
        for _ in range(random.randrange(1, 40)):
            slot += random.choice((0, 1, 1, 1, 7, 300, 100000))
            low = random.randrange(-32768, 32000)
            high = random.randrange(low, 32768)
            mean, last = random.randrange(low, high + 1), random.randrange(low, high + 1)
            aggregate = random.choice(((random.randrange(1, 2049), low, high, mean, last), _single(low)))
            added.append((random.randrange(3), slot, aggregate))
        assert sorted(_read(_filled(*added))) == sorted(added)


def test_four_minutes_of_one_reading_each_are_one_row():
    added = [(5, START + at, _single(200 + at)) for at in range(8)]
    rows = _filled(*added)
    assert rows.end == 3 * SIZE and _read(rows) == added


def test_values_beyond_16_bits_lose_one_part_in_16384_at_most():
    random.seed(26)
    for _ in range(rounds(2000, 300)):
        low, mean, high = sorted([random.randrange(1 - (1 << 30), 1 << 30) for _ in range(3)])
        ((_, _, found),) = _read(_filled((1, START, (2, low, high, mean, low))))
        assert found[1] <= found[3] <= found[2]
        for value, kept in zip((low, high, mean, low), found[1:]):
            assert 0 <= value - kept <= max(abs(low), abs(high)) // 16384


def test_any_bytes_are_read_without_an_error():
    random.seed(27)
    for _ in range(rounds(500, 100)):
        data = bytes([random.choice((0, 1, 255, random.randrange(256))) for _ in range(random.randrange(100))])
        assert len(list(rows_in(data))) <= 4 * (len(data) // SIZE)
