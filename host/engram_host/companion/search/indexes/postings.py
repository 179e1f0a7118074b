"""Postings of terms in compressed sparse rows, with an unsorted tail of new ones.

A search scans the whole tail, which is folded into the rest when it grows too large.
"""

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.indexes.columns import Column

RowNumbers = NDArray[np.int32]
Counts = NDArray[np.uint8]

LEAST_TAIL = 16384
"""Minimum tail size before folding; a scan of it takes 20 microseconds."""

_SHARE = 4  # of the folded size
_MOST_COUNT = 255


class Postings:
    def __init__(self) -> None:
        self._terms = np.zeros(0, np.int64)
        self._starts = np.zeros(1, np.int64)
        self._rows = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.uint8)
        self._tail_terms = Column(np.int64)
        self._tail_rows = Column(np.int32)
        self._tail_weights = Column(np.uint8)

    def add(self, terms: list[int], weights: list[int], sizes: list[int], first: int) -> None:
        """Add terms of the rows from `first` on; `sizes` are terms per row, `weights` are eighths."""
        self._tail_terms.extend(terms)
        self._tail_weights.extend(weights)
        self._tail_rows.extend(np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes))

    def find(self, term: int) -> tuple[RowNumbers, Counts]:
        """Return (rows of a term in order, counts in eighths up to 255)."""
        at = int(np.searchsorted(self._terms, term))
        if at < len(self._terms) and self._terms[at] == term:
            span = slice(int(self._starts[at]), int(self._starts[at + 1]))
            rows, counts = self._rows[span], self._counts[span]
        else:
            rows, counts = self._rows[:0], self._counts[:0]
        places = np.flatnonzero(self._tail_terms.view == term) if len(self._tail_terms) else ()
        if len(places):
            later, later_counts = _counted(self._tail_rows.view[places], self._tail_weights.view[places])
            rows, counts = np.concatenate([rows, later]), np.concatenate([counts, later_counts])
        return rows, counts

    def settle(self) -> None:
        if len(self._tail_terms) > max(LEAST_TAIL, len(self._rows) // _SHARE):
            self.fold()

    def fold(self) -> None:
        if not len(self._tail_terms):
            return
        terms, rows, counts = _grouped(self._tail_terms.view, self._tail_rows.view, self._tail_weights.view)
        self._tail_terms.clear()
        self._tail_rows.clear()
        self._tail_weights.clear()
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
        return len(self._tail_terms)

    @property
    def nbytes(self) -> int:
        arrays = (self._terms, self._starts, self._rows, self._counts)
        tail = (self._tail_terms, self._tail_rows, self._tail_weights)
        return sum(array.nbytes for array in arrays + tail)


def _changes(values: NDArray[np.int64] | RowNumbers) -> NDArray[np.bool_]:
    changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _counted(rows: RowNumbers, weights: Counts) -> tuple[RowNumbers, Counts]:
    begins = np.flatnonzero(_changes(rows))
    return rows[begins], _sums(weights, begins)


def _grouped(
    terms: NDArray[np.int64], rows: RowNumbers, weights: Counts
) -> tuple[NDArray[np.int64], RowNumbers, Counts]:
    order = np.argsort(terms, kind="stable")
    terms, rows = terms[order], rows[order]
    changes = _changes(terms)
    changes[1:] |= rows[1:] != rows[:-1]
    begins = np.flatnonzero(changes)
    return terms[begins], rows[begins], _sums(weights[order], begins)


def _sums(weights: Counts, begins: NDArray[np.intp]) -> Counts:
    return np.minimum(np.add.reduceat(weights, begins, dtype=np.int64), _MOST_COUNT).astype(np.uint8)
