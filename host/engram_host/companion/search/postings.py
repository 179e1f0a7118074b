"""Which rows have a term, and how often.

Most of it is in compressed sparse rows: the terms in order, and for each the rows that have it. What came since is kept
as it came, term by term, and a search goes through all of it; when there is too much of it, it is folded into the rest.
"""

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.growing import Column

RowNumbers = NDArray[np.int32]
Counts = NDArray[np.uint8]

LEAST_TAIL = 16384
"""Terms that may stand in the tail however small the rest is: going through so many takes 20 microseconds."""

_SHARE = 4  # the tail may have a fourth of what is folded
_MOST_COUNT = 255


class Postings:
    """Of one index. Rows have rising numbers: a row's terms are added once, after those of all rows before it."""

    def __init__(self) -> None:
        self._terms = np.zeros(0, np.int64)
        self._starts = np.zeros(1, np.int64)
        self._rows = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.uint8)
        self._tail_terms = Column(np.int64)
        self._tail_rows = Column(np.int32)

    def add(self, terms: list[int], sizes: list[int], first: int) -> None:
        """Add the terms of the rows from `first` on; sizes[i] of them belong to row first + i."""
        self._tail_terms.extend(terms)
        self._tail_rows.extend(np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes))

    def find(self, term: int) -> tuple[RowNumbers, Counts]:
        """(the rows that have a term, in order, how often each has it, at most 255)."""
        at = int(np.searchsorted(self._terms, term))
        if at < len(self._terms) and self._terms[at] == term:
            span = slice(int(self._starts[at]), int(self._starts[at + 1]))
            rows, counts = self._rows[span], self._counts[span]
        else:
            rows, counts = self._rows[:0], self._counts[:0]
        places = np.flatnonzero(self._tail_terms.all == term)
        if len(places):
            later, later_counts = _counted(self._tail_rows.all[places])
            rows, counts = np.concatenate([rows, later]), np.concatenate([counts, later_counts])
        return rows, counts

    def settle(self) -> None:
        """Fold the tail into the rest if there is too much of it."""
        if len(self._tail_terms) > max(LEAST_TAIL, len(self._rows) // _SHARE):
            self.fold()

    def fold(self) -> None:
        """Fold the tail into the rest: about 0.15 microseconds for each posting."""
        if not len(self._tail_terms):
            return
        terms, rows, counts = _grouped(self._tail_terms.all, self._tail_rows.all)
        self._tail_terms.clear()
        self._tail_rows.clear()
        if len(self._rows):
            terms = np.concatenate([np.repeat(self._terms, np.diff(self._starts)), terms])
            order = np.argsort(terms, kind="stable")  # rows of the tail come behind all others of their term
            terms = terms[order]
            rows = np.concatenate([self._rows, rows])[order]
            counts = np.concatenate([self._counts, counts])[order]
        begins = np.flatnonzero(_changes(terms))
        self._terms = terms[begins]
        self._starts = np.append(begins, len(terms)).astype(np.int64)
        self._rows, self._counts = rows, counts

    @property
    def tail(self) -> int:
        """Terms that are not folded yet."""
        return len(self._tail_terms)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self._terms, self._starts, self._rows, self._counts, self._tail_terms, self._tail_rows)
        return sum(array.nbytes for array in arrays)


def _changes(values: NDArray[np.int64] | RowNumbers) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first one does."""
    changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _counted(rows: RowNumbers) -> tuple[RowNumbers, Counts]:
    """The distinct rows of an array in which equal ones stand together, and how often each is there."""
    begins = np.flatnonzero(_changes(rows))
    counts = np.diff(np.append(begins, len(rows)))
    return rows[begins], np.minimum(counts, _MOST_COUNT).astype(np.uint8)


def _grouped(terms: NDArray[np.int64], rows: RowNumbers) -> tuple[NDArray[np.int64], RowNumbers, Counts]:
    """Postings in the order of (term, row), equal ones counted; `rows` rises."""
    order = np.argsort(terms, kind="stable")
    terms, rows = terms[order], rows[order]
    changes = _changes(terms)
    changes[1:] |= rows[1:] != rows[:-1]
    begins = np.flatnonzero(changes)
    counts = np.diff(np.append(begins, len(rows)))
    return terms[begins], rows[begins], np.minimum(counts, _MOST_COUNT).astype(np.uint8)
