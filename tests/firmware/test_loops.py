"""Native code and bytecode of the inner loops give the same, and a damaged list writes nowhere beyond its array."""

import random
import sys
from array import array

from engram import loops as plain
from engram import native
from engram.store.index import codec
from engram.text import tokenizer
from support import is_32_bit, on_micropython, rounds

TRIES = rounds(400, 30)
GUARD = 7
"""A number behind the end of an array, which stays as it is."""

_X86 = 1
LETTERS = "abcdeeefghiiijlmnorssstuyz' 's.é9ж"


def _both(name: str, *given):
    """What a loop returns and leaves in its buffers: alike in both. A buffer is bytes or (typecode, numbers)."""
    found = []
    for module in (plain, native.loops):
        made = [
            array(*each) if isinstance(each, tuple) else bytearray(each) if isinstance(each, bytes) else each
            for each in given
        ]
        result = getattr(module, name)(*made)
        found.append((result, [list(each) for each in made if isinstance(each, (array, bytearray))]))  # pyright: ignore
    assert found[0] == found[1], (name, given)
    return found[0]


def _rows(limit: int, most: int) -> list:
    """Rows below a limit, in order, mostly close to each other."""
    rows, row = [], -1
    while len(rows) < most:
        row += random.choice((1, 1, 1, 2, 3, 9, 10, 80, 700))
        if row >= limit:
            break
        rows.append(row << 3 | random.randrange(8))
    return rows


def _runs(limit: int):
    """(rows after the last, slots) of runs that end at a limit."""
    ends, slots, row = [], [], 0
    while row < limit:
        row = min(limit, row + random.choice((1, 1, 2, 3, 30)))
        ends.append(row)
        slots.append(random.choice((0, 1, 2, 3, 512)))
    return ("H", ends), ("H", slots)


def _bits(limit: int, share: int) -> bytes:
    bits = bytearray((limit + 7) >> 3)
    for row in range(limit):
        if random.randrange(share) == 0:
            codec.set_bit(bits, row)
    return bytes(bits)


def test_native_code_runs_where_it_was_made_for():
    made_for_this = on_micropython() and is_32_bit() and sys.implementation._mpy >> 10 & 15 == _X86  # pyright: ignore
    assert native.IS_NATIVE is made_for_this


def test_lists_come_back():
    random.seed(1)
    for _ in range(TRIES):
        limit = random.randrange(1, 3000)
        rows = _rows(limit, 300)
        for kind in ("words", "labels"):
            here = rows if kind == "words" else [row & ~7 for row in rows]
            size, (_, data) = _both("pack_" + kind, ("I", here), len(here), bytes(limit + 16), limit + 16)
            if kind == "words" and size & 1:
                data[size >> 1] = data[size >> 1] << 4 & 0xF0 | 8
            size = size + 1 >> 1 if kind == "words" else size
            room = ("I", [GUARD] * (limit + 4))
            count, (_, found) = _both("unpack_" + kind, bytes(data[:size]), size, room, limit)
            assert count == len(here) and found[:count] == here, (limit, here)


def test_a_damaged_list_is_refused_or_stays_within_its_array():
    random.seed(2)
    for _ in range(3 * TRIES):
        limit = random.randrange(1, 200)
        data = bytes([random.choice((0, 1, 0x80, 0xFF, random.randrange(256))) for _ in range(random.randrange(120))])
        for name in ("unpack_words", "unpack_labels"):
            count, (_, rows) = _both(name, data, len(data), ("I", [GUARD] * (limit + 8)), limit)
            assert -1 <= count <= limit and rows[limit:] == [GUARD] * 8, (name, data, limit)
            assert all(row >> 3 < limit for row in rows[:limit]) or limit <= GUARD >> 3, (name, data, limit)


def test_rows_out_of_order_are_encoded_within_the_room():
    random.seed(3)
    for _ in range(TRIES):
        rows = [random.randrange(1 << 16) for _ in range(random.randrange(60))]
        for name in ("pack_words", "pack_labels"):
            room = random.randrange(8, 90)
            _, (_, data) = _both(name, ("I", rows), len(rows), bytes(room) + b"\7" * 8, room)
            assert data[room:] == [GUARD] * 8, (name, rows, room)


def test_searches_are_the_same():
    random.seed(4)
    for _ in range(TRIES):
        limit = random.randrange(1, 400)
        rows = _rows(limit, 100)
        ends, slots = _runs(limit)
        _both("mark_rows", ("I", rows), len(rows), bytes(_bits(limit, 3)))
        counts = ("I", [random.randrange(1 << 30) for _ in range(513)])
        scores = bytes([random.choice((0, 0, 0, random.randrange(120))) for _ in range(limit)])
        scored = ("I", rows), len(rows), bytes(range(11, 19)), scores, _bits(limit, 9), ends, slots, counts
        _both("add_scores", *(scored + (random.choice((-1, 0, 3, 27)),)))
        last, far = (bytes([random.choice((0, 0, random.randrange(256))) for _ in range(513)]) for _ in range(2))
        kept = ("I", [0] * 64)
        for place in range(3):
            table = kept, scores, ends, slots, len(ends[1]), last, far, _bits(limit, 2), place, 62
            _, buffers = _both("keep_best", *table)
            kept, last, far = ("I", buffers[0]), bytes(buffers[4]), bytes(buffers[5])
        totals = [key >> 16 for key in kept[1][::2]]
        assert totals == sorted(totals, reverse=True)


def test_tables_are_made_the_same():
    random.seed(5)
    for _ in range(TRIES):
        count = random.randrange(1, 60)
        ends, used = [], 0
        for _ in range(count):
            used += random.choice((0, 1, 5, 40))
            ends.append(used)
        highs = bytes([random.randrange(32) for _ in range(used)])
        lows = ("H", [random.choice((1, 2, 65535)) for _ in range(used)])
        places = list(range(count))
        places = bytes([places.pop(random.randrange(len(places))) for _ in range(count)])
        empty = ("I", [0] * used)
        words, buffers = _both("take_words", highs, lows, used, ("H", ends), places, 16, empty)
        _, (taken,) = _both("sort", ("I", buffers[4]), words)
        assert taken[:words] == sorted(buffers[4][:words])
        lengths = ("H", [random.randrange(1, 2000) for _ in range(count)])
        _both("join_words", ("I", taken), words, lengths, random.randrange(16, 999), codec.level)
        limit = random.randrange(1, 300)
        rows, moves = _rows(limit, 90), ("H", [random.randrange(8000) for _ in range(limit)])
        _both("move_rows", ("I", rows), len(rows), moves, _bits(limit, 4))


def test_words_are_the_same():
    random.seed(6)
    stop_words = tokenizer._STOP_WORDS, ("H", list(tokenizer._STARTS))
    for _ in range(3 * TRIES):
        text = "".join([LETTERS[random.randrange(len(LETTERS))] for _ in range(random.choice((3, 9, 60, 300)))])
        text += random.choice(("", " ", "'s", "ing", "sses", "x" * 60))
        data = text.encode()
        for is_stemmed in (False, True):
            given = data, len(data), bytes(len(data) + 1) + b"\7" * 4
            _, buffers = _both("cut_words", *(given + stop_words + (is_stemmed,)))
            assert buffers[1][-4:] == [GUARD] * 4, text
