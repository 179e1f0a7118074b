"""A table gives back what was written to it, whatever the lengths of its lists; damage in a short list is seen."""

import random
from array import array

from engram.store.index import codec
from engram.store.index.table import Footer, Table
from engram.store.index.table_writer import TableWriter, pack_row
from support import folder, rounds

PASSED = (0, 1, 7, 8, 9, 16, 17, 63, 64, 72, 73, 74, 584, 585, 3000, 4000)
"""Rows passed over, about where one digit more is needed."""


def _hash(number: int, is_label: bool = False) -> int:
    return codec.LABEL + number * 40503 % ((1 << 24) - codec.LABEL) if is_label else number * 40503 % codec.LABEL


def _write(path, terms, runs):
    """`terms` is {hash: [(row, level), ...]}, `runs` [(session, row after the last), ...]."""
    writer = TableWriter(path, len(terms))
    codec.lists.make_room(runs[-1][1])
    for hash in sorted(terms):
        rows = array("I", [row << 3 | level for row, level in terms[hash]])
        writer.add_term(hash, rows, len(rows))
    footer = Footer()
    writer.end_terms(footer)
    footer.rows = runs[-1][1]
    for row in range(footer.rows):
        writer.write(pack_row(row + 1, 7 * row, 0))
    footer.first, footer.last = 1, footer.rows
    footer.words = footer.log_bytes = footer.epoch = 1
    for _ in writer.finish(footer, iter(runs), []):
        pass
    return Table(path, 1)


def _all(table, hash):
    found = table.find(hash)
    assert found
    count = table.decode(found[1], hash)
    return found, [(key >> 3, key & 7) for key in codec.lists.rows[:count]]


def test_rows_that_were_passed_over_are_counted_right():
    for passed in rounds(PASSED, PASSED[:-2]):
        rows = [(passed, 7), (passed + 1, 0), (2 * passed + 2, 5)]
        table = _write(folder() + "/x", {5: rows}, [(0, 2 * passed + 3)])
        assert _all(table, 5)[1] == rows, passed
        table.close()


def test_lists_of_all_lengths_come_back():
    random.seed(7)
    terms = {}
    for number in range(160):
        count = random.choice((1, 2, 3, 10, 25, 45, 46, 47, 48, 49, 130, 600))
        rows = sorted({random.randrange(900) for _ in range(count)})
        terms[_hash(number)] = [(row, random.randrange(8)) for row in rows]
        terms[_hash(number, True)] = [(row, 0) for row in rows]
    table = _write(folder() + "/x", terms, [(0, 900)])
    sizes = []
    for hash, rows in terms.items():
        found, there = _all(table, hash)
        assert there == rows and found[0] == len(rows)
        sizes.append(len(found[1]) if isinstance(found[1], bytes) else 0)
    assert max(sizes) == 24 and sizes.count(0) > 50
    assert table.find(_hash(1000)) is None
    table.close()


def test_runs_come_back_from_each_mark():
    random.seed(8)
    runs, session, row = [], 0, 0
    for _ in range(rounds(300, 100)):
        session += random.choice((1, 1, 1, 2, 200, 70000))
        row += random.choice((1, 2, 63, 64, 200))
        runs.append((session, row))
    table = _write(folder() + "/x", {5: [(1, 1), (2, 2)]}, runs)
    assert list(table.each_run()) == runs
    first = 0
    for session, end in runs:
        assert table.run(session) == (first, end)
        first = end
    assert table.run(session + 1) is None
    table.close()
