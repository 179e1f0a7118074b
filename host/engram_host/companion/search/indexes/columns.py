"""The tables of an index: a column that grows, texts by number, and a row for each line that is an entry.

Each gives its contents as arrays, which a file keeps, and begins with such arrays: then what it has is mapped, and only what
changes takes memory. Rows of lines that have gone are left out, so a file never has anything of them.
"""

import sys
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.types import LOGS, LogName

_LEAST_ROOM = 64


class Column:
    """Numbers of one kind in one array with room to grow: adding is cheap, all of them are one view."""

    __slots__ = ("_data", "_is_mapped", "_size")

    def __init__(self, kind: Any, kept: NDArray[Any] | None = None):
        """Of a kind of number, with the numbers of an array that is mapped."""
        self._data = np.zeros(_LEAST_ROOM, kind) if kept is None else kept
        self._size = 0 if kept is None else len(kept)
        self._is_mapped = kept is not None

    def __len__(self) -> int:
        return self._size

    def extend(self, values: Any) -> None:
        """Add a list or an array."""
        end = self._size + len(values)
        if end > len(self._data):
            # A quarter more: what is added is copied five times in all, and a fifth at most stands empty.
            grown = np.zeros(max(end, len(self._data) * 5 // 4), self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data, self._is_mapped = grown, False
        self._data[self._size : end] = values
        self._size = end

    @property
    def view(self) -> NDArray[Any]:
        """A view of all numbers: it does not see those that are added later, but sees those that change."""
        return self._data[: self._size]

    def clear(self) -> None:
        """Let all go, and the room too."""
        self._data = np.zeros(_LEAST_ROOM, self._data.dtype)
        self._size, self._is_mapped = 0, False

    @property
    def nbytes(self) -> int:
        """Bytes of the array in memory, empty room included: one of a file that is mapped has none."""
        return 0 if self._is_mapped else self._data.nbytes


Arrays = Mapping[str, NDArray[Any]]
"""What a table has, as a file keeps it."""


class RowPlan:
    """Which rows of an index a file keeps, and their new numbers: those of lines that have not gone."""

    def __init__(self, is_kept: NDArray[np.bool_]):
        self.rows = np.flatnonzero(is_kept)
        self.keeps_all = len(self.rows) == len(is_kept)
        # The last one is for NONE, which as a place is the last.
        self._numbers = np.full(len(is_kept) + 1, NONE, np.int32)
        self._numbers[self.rows] = np.arange(len(self.rows), dtype=np.int32)

    def renumber(self, rows: NDArray[Any]) -> NDArray[np.int32]:
        """The new numbers of some rows, NONE for those that are not kept."""
        return self._numbers[rows]


def compact_texts(texts: list[str], column: NDArray[Any]) -> tuple[list[str], NDArray[np.int32]]:
    """The texts that a column names, and the column with their new numbers."""
    used = np.unique(column[column != NONE])
    numbers = np.full(len(texts) + 1, NONE, np.int32)
    numbers[used] = np.arange(len(used), dtype=np.int32)
    return [texts[int(number)] for number in used], numbers[column]


class SeqTable:
    """The row of each seq of one log: of a kept index in order, and of what changed since in a dict."""

    def __init__(self, kept: Arrays | None = None) -> None:
        self._seqs = kept["seqs"] if kept else np.zeros(0, np.int32)
        self._rows = kept["rows"] if kept else np.zeros(0, np.int32)
        self._changed: dict[int, int] = {}

    def find(self, seq: int) -> int:
        """The row of a seq, NONE if there is none."""
        row = self._changed.get(seq)
        if row is None:
            at = bisect_left(self._seqs, seq) if len(self._seqs) else 0
            return int(self._rows[at]) if at < len(self._seqs) and self._seqs[at] == seq else NONE
        return row

    def put(self, seq: int, row: int) -> None:
        """A seq has this row now, NONE if it has none any more."""
        if row == NONE and not len(self._seqs):
            self._changed.pop(seq, None)
        else:
            self._changed[seq] = row

    @property
    def nbytes(self) -> int:
        """Bytes of what is in memory."""
        # A number above 256 is an object of its own.
        return sys.getsizeof(self._changed) + 2 * _NUMBER_BYTES * len(self._changed)


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
    """Texts that many rows share, each by a number."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts: list[str] = list(texts)
        self._numbers = {text: number for number, text in enumerate(texts)}
        self._bytes = sum(sys.getsizeof(text) + _NUMBER_BYTES for text in texts)

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


_KINDS: dict[str, Any] = {
    "turn": np.bool_,
    "reply": np.bool_,
    "command": np.bool_,
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
"""The columns, by name, and what they hold."""


class RowTable:
    """All rows of an index, in the order in which they came; numbers of rows never change."""

    def __init__(self, kept: Arrays | None = None) -> None:
        """With the arrays that to_arrays() gave, or none yet."""
        self._columns = {name: Column(kind, kept[name] if kept else None) for name, kind in _KINDS.items()}
        self._of_seq: dict[LogName, SeqTable] = {
            log: SeqTable({"seqs": kept[f"{log}.seqs"], "rows": kept[f"{log}.rows"]} if kept else None) for log in LOGS
        }
        self._last_of_thread = Column(np.int32, kept["last_of_thread"] if kept else None)
        self.wasted = 0
        """Rows of lines that have gone, but are still partly kept."""

    def __len__(self) -> int:
        return len(self._columns["seq"])

    def column(self, name: str) -> NDArray[Any]:
        """A view of one column; see Row, and state, slot (of its vector), previous and following (in its thread)."""
        return self._columns[name].view

    def row_of(self, log: LogName, seq: int) -> int:
        """The row of a line, NONE if it is not here."""
        return self._of_seq[log].find(seq)

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
            self._of_seq["journal" if row.turn else "records"].put(row.seq, number)
            if row.thread != NONE:
                self._link(number, row.thread, row.seq)

    def drop(self, log: LogName, row: int) -> None:
        """A row's line has gone."""
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
        """Put a row into its thread, which is in the order of seqs: nearly always behind the last one."""
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
    def is_there(self) -> NDArray[np.bool_]:
        """Of each row, whether its line has not gone."""
        return self.column("number") != NONE

    def to_arrays(self, plan: RowPlan) -> dict[str, NDArray[Any]]:
        """The rows that are kept, by their new numbers; `thread`, `who` and `scope` have their old ones."""
        found = {name: self.column(name)[plan.rows] for name in _KINDS}
        found |= {name: plan.renumber(found[name]) for name in ("previous", "following")}
        for log in LOGS:
            rows = np.flatnonzero(found["turn"] == (log == "journal")).astype(np.int32)
            rows = rows[np.argsort(found["seq"][rows], kind="stable")]
            found |= {f"{log}.seqs": found["seq"][rows], f"{log}.rows": rows}
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of all columns and tables."""
        tables = [*self._columns.values(), *self._of_seq.values(), self._last_of_thread]
        return sum(table.nbytes for table in tables)


def moment(value: object) -> int:
    """A time as a column has it: a line may hold any JSON value."""
    return max(0, min(value, MOST_TIME)) if isinstance(value, int) else 0


KEY_BYTES = 8
"""Of a digest, that a row keeps."""


def digest_key(digest: bytes) -> int:
    """The beginning of a digest, as a row has it; never 0."""
    return int.from_bytes(digest[:KEY_BYTES], "little") or 1
