"""The tables of an index: a column that grows, a row for each line that is an entry, and postings of terms.

Most of it is in compressed sparse rows: the terms in order, and for each the rows that have it. What came since is kept
as it came, term by term, and a search goes through all of it; when there is too much of it, it is folded into the rest.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.types import LogName

_LEAST_ROOM = 64


class Column:
    """Numbers of one kind in one array with room to grow: adding is cheap, all of them are one view."""

    __slots__ = ("_data", "_size")

    def __init__(self, kind: Any):
        self._data = np.zeros(_LEAST_ROOM, kind)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: Any) -> None:
        """Add a list or an array."""
        end = self._size + len(values)
        if end > len(self._data):
            # A quarter more: what is added is copied five times in all, and a fifth at most stands empty.
            grown = np.zeros(max(end, len(self._data) * 5 // 4), self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown
        self._data[self._size : end] = values
        self._size = end

    @property
    def view(self) -> NDArray[Any]:
        """A view of all numbers: it does not see those that are added later, but sees those that change."""
        return self._data[: self._size]

    def clear(self) -> None:
        """Let all go, and the room too."""
        self._data = np.zeros(_LEAST_ROOM, self._data.dtype)
        self._size = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the array, empty room included."""
        return self._data.nbytes


# --- rows


NONE = -1

LIVE, SUPERSEDED, EARLIER, GONE, ARCHIVED = range(5)
"""What a row is: found; found on demand, since another entry or a later version took its place; not found; and found though it
has left the board."""

STATE_NAMES = ("live", "superseded", "earlier version", "gone", "archived")

MOST_TIME = 1 << 40
_NUMBER_BYTES = 32


class Row(NamedTuple):
    """A new row. `thread` and `who` are numbers of texts (see StringTable), NONE where there is none; `importance` is in
    hundredths, `length` in eighths of a word (see Postings), `key` the beginning of its text's digest, 0 if it has no text
    to embed.
    """

    turn: bool
    reply: bool
    command: bool
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
    """Texts that many rows share, each by a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.texts: list[str] = []
        self._bytes = 0

    def intern(self, text: str) -> int:
        """The number of a text, a new one if it is new."""
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
            self._bytes += sys.getsizeof(text) + _NUMBER_BYTES
        return found

    def find(self, text: str) -> int:
        """The number of a text, NONE if no row has had it."""
        return self._numbers.get(text, NONE)

    @property
    def nbytes(self) -> int:
        """Bytes of the texts and the table."""
        return self._bytes + sys.getsizeof(self._numbers) + sys.getsizeof(self.texts)


class RowTable:
    """All rows of an index, in the order in which they came; numbers of rows never change."""

    def __init__(self) -> None:
        kinds: dict[str, Any] = {
            "turn": np.bool_,
            "reply": np.bool_,
            "command": np.bool_,
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
        self._columns = {name: Column(kind) for name, kind in kinds.items()}
        self._of_seq: dict[LogName, dict[int, int]] = {"records": {}, "journal": {}}
        self._last_of_thread: dict[int, int] = {}
        self.wasted = 0
        """Rows of lines that have gone, but are still partly kept."""

    def __len__(self) -> int:
        return len(self._columns["seq"])

    def column(self, name: str) -> NDArray[Any]:
        """A view of one column; see Row, and state, slot (of its vector), previous and following (in its thread)."""
        return self._columns[name].view

    def row_of(self, log: LogName, seq: int) -> int:
        """The row of a line, NONE if it is not here."""
        return self._of_seq[log].get(seq, NONE)

    def add(self, new: list[Row]) -> None:
        """Add rows; no line of them may be here."""
        if not new:
            return
        first = len(self)
        for name, values in zip(Row._fields, zip(*new, strict=True), strict=True):
            self._columns[name].extend(values)
        for name, value in (("state", LIVE), ("slot", NONE), ("previous", NONE), ("following", NONE)):
            self._columns[name].extend(np.full(len(new), value))
        for number, row in enumerate(new, first):
            self._of_seq["journal" if row.turn else "records"][row.seq] = number
            if row.thread != NONE:
                self._link(number, row.thread, row.seq)

    def drop(self, log: LogName, row: int) -> None:
        """A row's line has gone."""
        del self._of_seq[log][int(self.column("seq")[row])]
        before, after = int(self.column("previous")[row]), int(self.column("following")[row])
        if before != NONE:
            self.column("following")[before] = after
        if after != NONE:
            self.column("previous")[after] = before
        else:
            self._last_of_thread[int(self.column("thread")[row])] = before
        self.column("previous")[row] = self.column("following")[row] = NONE
        self.column("state")[row] = GONE
        self.column("number")[row] = NONE
        self.column("length")[row] = 0
        self.wasted += 1

    def _link(self, row: int, thread: int, seq: int) -> None:
        """Put a row into its thread, which is in the order of seqs: nearly always behind the last one."""
        previous, following, seqs = self.column("previous"), self.column("following"), self.column("seq")
        before, after = self._last_of_thread.get(thread, NONE), NONE
        while before != NONE and seqs[before] > seq:
            before, after = int(previous[before]), before
        previous[row], following[row] = before, after
        if before != NONE:
            following[before] = row
        if after != NONE:
            previous[after] = row
        else:
            self._last_of_thread[thread] = row

    @property
    def nbytes(self) -> int:
        """Bytes of all columns and tables."""
        tables = [*self._of_seq.values(), self._last_of_thread]
        # A number above 256 is an object of its own; a row's stands in one table, its seq in another.
        objects = sum(2 * _NUMBER_BYTES * len(table) for table in tables)
        return sum(column.nbytes for column in self._columns.values()) + objects + sum(map(sys.getsizeof, tables))


def moment(value: object) -> int:
    """A time as a column has it: a line may hold any JSON value."""
    return max(0, min(value, MOST_TIME)) if isinstance(value, int) else 0


KEY_BYTES = 8
"""Of a digest, that a row keeps."""


def digest_key(digest: bytes) -> int:
    """The beginning of a digest, as a row has it; never 0."""
    return int.from_bytes(digest[:KEY_BYTES], "little") or 1


# --- postings


RowNumbers = NDArray[np.int32]
Counts = NDArray[np.uint8]

LEAST_TAIL = 16384
"""Terms that may stand in the tail however small the rest is: going through these takes 20 microseconds."""

_SHARE = 4  # the tail may have a fourth of what is folded
_MOST_COUNT = 255


class Postings:
    """Of one index. Rows have rising numbers: a row's terms are added once, after those of all rows before it.

    Counts are in eighths, as on the board: a word of a row's head counts as one, one behind it as an eighth.
    """

    def __init__(self) -> None:
        self._terms = np.zeros(0, np.int64)
        self._starts = np.zeros(1, np.int64)
        self._rows = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.uint8)
        self._tail_terms = Column(np.int64)
        self._tail_rows = Column(np.int32)
        self._tail_weights = Column(np.uint8)

    def add(self, terms: list[int], weights: list[int], sizes: list[int], first: int) -> None:
        """Add the terms of the rows from `first` on, with the eighths that each counts; sizes[i] are those of row first + i."""
        self._tail_terms.extend(terms)
        self._tail_weights.extend(weights)
        self._tail_rows.extend(np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes))

    def find(self, term: int) -> tuple[RowNumbers, Counts]:
        """(the rows that have a term, in order, how often each has it, in eighths, at most 255)."""
        at = int(np.searchsorted(self._terms, term))
        if at < len(self._terms) and self._terms[at] == term:
            span = slice(int(self._starts[at]), int(self._starts[at + 1]))
            rows, counts = self._rows[span], self._counts[span]
        else:
            rows, counts = self._rows[:0], self._counts[:0]
        places = np.flatnonzero(self._tail_terms.view == term)
        if len(places):
            later, later_counts = _counted(self._tail_rows.view[places], self._tail_weights.view[places])
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
        """Terms that are not folded yet."""
        return len(self._tail_terms)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self._terms, self._starts, self._rows, self._counts)
        tail = (self._tail_terms, self._tail_rows, self._tail_weights)
        return sum(array.nbytes for array in arrays + tail)


def _changes(values: NDArray[np.int64] | RowNumbers) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first one does."""
    changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _counted(rows: RowNumbers, weights: Counts) -> tuple[RowNumbers, Counts]:
    """The distinct rows of an array in which equal ones stand together, and the sum of each one's weights."""
    begins = np.flatnonzero(_changes(rows))
    return rows[begins], _sums(weights, begins)


def _grouped(
    terms: NDArray[np.int64], rows: RowNumbers, weights: Counts
) -> tuple[NDArray[np.int64], RowNumbers, Counts]:
    """Postings in the order of (term, row), weights of equal ones added; `rows` rises."""
    order = np.argsort(terms, kind="stable")
    terms, rows = terms[order], rows[order]
    changes = _changes(terms)
    changes[1:] |= rows[1:] != rows[:-1]
    begins = np.flatnonzero(changes)
    return terms[begins], rows[begins], _sums(weights[order], begins)


def _sums(weights: Counts, begins: NDArray[np.intp]) -> Counts:
    return np.minimum(np.add.reduceat(weights, begins, dtype=np.int64), _MOST_COUNT).astype(np.uint8)
