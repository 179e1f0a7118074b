"""The tables of an index: growing columns, rows of entries' lines, postings, and links from records to turns."""

import sys
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram.errors import ArgumentError
from engram.memory import ids
from engram_host.companion.types import LOGS, LogName

_LEAST_ROOM = 64


class Column:
    __slots__ = ("_data", "_size")

    def __init__(self, kind: Any):
        self._data = np.zeros(_LEAST_ROOM, kind)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: Any) -> None:
        end = self._size + len(values)
        if end > len(self._data):
            # Grow by a quarter: about five copies per value, a fifth unused at most.
            grown = np.zeros(max(end, len(self._data) * 5 // 4), self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown
        self._data[self._size : end] = values
        self._size = end

    @property
    def view(self) -> NDArray[Any]:
        """A view of current numbers; it reflects changes but not additions."""
        return self._data[: self._size]

    def clear(self) -> None:
        self._data = np.zeros(_LEAST_ROOM, self._data.dtype)
        self._size = 0

    @property
    def nbytes(self) -> int:
        return self._data.nbytes


# --- rows


NONE = -1

LIVE, SUPERSEDED, EARLIER, GONE, ARCHIVED = range(5)
"""States of a row; EARLIER and SUPERSEDED are found on demand, GONE never."""

STATE_NAMES = ("live", "superseded", "earlier version", "gone", "archived")

MOST_TIME = 1 << 40
_NUMBER_BYTES = 32


class Row(NamedTuple):
    """A new row; texts are StringTable numbers, `importance` in 1/100, `length` in 1/8 words."""

    turn: bool
    reply: bool
    question: bool
    seq: int
    number: int
    thread: int
    who: int
    scope: int
    at: int
    expires: int
    importance: int
    length: int
    key: int


class StringTable:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._bytes = 0

    def intern(self, text: str) -> int:
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
            self._bytes += sys.getsizeof(text) + _NUMBER_BYTES
        return found

    def find(self, text: str) -> int:
        return self._numbers.get(text, NONE)

    @property
    def nbytes(self) -> int:
        return self._bytes + sys.getsizeof(self._numbers) + sys.getsizeof(self.texts)


_KINDS: dict[str, Any] = {
    "turn": np.bool_,
    "reply": np.bool_,
    "question": np.bool_,
    "seq": np.int32,
    "number": np.int32,
    "thread": np.int32,
    "who": np.int32,
    "scope": np.int32,
    "at": np.int64,
    "expires": np.int64,
    "importance": np.uint8,
    "length": np.int32,
    "key": np.uint64,
    "state": np.uint8,
    "slot": np.int32,
    "previous": np.int32,
    "following": np.int32,
}


_PAGE_ROWS = 256
_PAGE_BYTES = 4 * _PAGE_ROWS + 200  # with its object and its place in the dict


class RowsBySeq:
    """Row numbers by seq in pages of a dict: a tenth of the memory of a dict of numbers."""

    def __init__(self) -> None:
        self._pages: dict[int, array[int]] = {}

    def get(self, seq: int) -> int:
        page = self._pages.get(seq // _PAGE_ROWS)
        return page[seq % _PAGE_ROWS] if page else NONE

    def put(self, seq: int, row: int) -> None:
        page = self._pages.get(seq // _PAGE_ROWS)
        if page is None:
            page = self._pages[seq // _PAGE_ROWS] = array("i", [NONE]) * _PAGE_ROWS
        page[seq % _PAGE_ROWS] = row

    @property
    def nbytes(self) -> int:
        return _PAGE_BYTES * len(self._pages)


class RowTable:
    def __init__(self) -> None:
        self._columns = {name: Column(kind) for name, kind in _KINDS.items()}
        self._of_seq: dict[LogName, RowsBySeq] = {log: RowsBySeq() for log in LOGS}
        self._last_of_thread = Column(np.int32)
        self.wasted = 0

    def __len__(self) -> int:
        return len(self._columns["seq"])

    def column(self, name: str) -> NDArray[Any]:
        return self._columns[name].view

    def row_of(self, log: LogName, seq: int) -> int:
        return self._of_seq[log].get(seq)

    def add(self, new: list[Row]) -> None:
        if not new:
            return
        first = len(self)
        for name, values in zip(Row._fields, zip(*new, strict=True), strict=True):
            self._columns[name].extend(values)
        for name, value in (("state", LIVE), ("slot", NONE), ("previous", NONE), ("following", NONE)):
            self._columns[name].extend(np.full(len(new), value))
        for number, row in enumerate(new, first):
            self._of_seq["journal" if row.turn else "records"].put(row.seq, number)
            if row.thread != NONE:
                self._link(number, row.thread, row.seq)

    def drop(self, log: LogName, row: int) -> None:
        self._of_seq[log].put(int(self.column("seq")[row]), NONE)
        before, after = int(self.column("previous")[row]), int(self.column("following")[row])
        if before != NONE:
            self.column("following")[before] = after
        if after != NONE:
            self.column("previous")[after] = before
        else:
            self._set_last(int(self.column("thread")[row]), before)
        self.column("previous")[row] = self.column("following")[row] = NONE
        self.column("state")[row] = GONE
        self.column("number")[row] = NONE
        self.column("length")[row] = 0
        self.wasted += 1

    def _link(self, row: int, thread: int, seq: int) -> None:
        previous, following, seqs = self.column("previous"), self.column("following"), self.column("seq")
        before, after = self._last_of(thread), NONE
        while before != NONE and seqs[before] > seq:
            before, after = int(previous[before]), before
        previous[row], following[row] = before, after
        if before != NONE:
            following[before] = row
        if after != NONE:
            previous[after] = row
        else:
            self._set_last(thread, row)

    def _last_of(self, thread: int) -> int:
        return int(self._last_of_thread.view[thread]) if thread < len(self._last_of_thread) else NONE

    def _set_last(self, thread: int, row: int) -> None:
        if thread == NONE:
            return
        missing = thread + 1 - len(self._last_of_thread)
        if missing > 0:
            self._last_of_thread.extend(np.full(missing, NONE, np.int32))
        self._last_of_thread.view[thread] = row

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in (*self._columns.values(), self._last_of_thread, *self._of_seq.values()))


def moment(value: object) -> int:
    return max(0, min(value, MOST_TIME)) if isinstance(value, int) else 0


KEY_BYTES = 8


def digest_key(digest: bytes) -> int:
    """Return a digest's prefix as a number, never 0."""
    return int.from_bytes(digest[:KEY_BYTES], "little") or 1


# --- postings: compressed sparse rows, with an unsorted tail of new ones that each search scans


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
        begins = np.flatnonzero(_changes(terms))
        new, sizes = terms[begins], np.diff(begins, append=len(terms))
        places = self._starts[np.searchsorted(self._terms, new, "right")].repeat(sizes)  # behind their term's others
        self._rows = np.insert(self._rows, places, rows)
        self._counts = np.insert(self._counts, places, counts)
        merged = np.union1d(self._terms, new)
        ends = np.zeros(len(merged) + 1, np.int64)
        ends[np.searchsorted(merged, self._terms) + 1] = np.diff(self._starts)
        ends[np.searchsorted(merged, new) + 1] += sizes
        self._terms, self._starts = merged, ends.cumsum()

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


# --- links from records to their source turns, so that a search finds a turn by its records' words


MOST_TURNS = 16

_PLACE_BYTES = 150  # of a turn's list, measured


class RecordTurns:
    def __init__(self) -> None:
        self._records = Column(np.int32)
        self._turns = Column(np.int32)
        self._places: dict[int, list[int]] = {}

    def add_pair(self, record: int, seq: int, turn: int) -> None:
        self._places.setdefault(seq, []).append(len(self._records))
        self._records.extend([record])
        self._turns.extend([turn])

    def set_turn(self, seq: int, row: int) -> None:
        for place in self._places.get(seq, ()):
            self._turns.view[place] = row

    def records_of(self, seq: int) -> list[int]:
        return [int(self._records.view[place]) for place in self._places.get(seq, ())]

    def visible_pairs(self, seen: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        records, turns = self._records.view, self._turns.view
        kept = (turns != NONE) & seen[records] & seen[turns]
        return records[kept], turns[kept]

    def __len__(self) -> int:
        return len(self._records)

    @property
    def nbytes(self) -> int:
        return self._records.nbytes + self._turns.nbytes + _PLACE_BYTES * len(self._places)


def turns_of(line: dict[str, object]) -> list[int]:
    named = line.get("turns")
    if not isinstance(named, Sequence) or isinstance(named, str):
        return []
    found: dict[int, None] = {}
    for name in named[:MOST_TURNS]:
        try:
            found[ids.number("turns", name, "t")] = None
        except ArgumentError:
            continue
    return list(found)
