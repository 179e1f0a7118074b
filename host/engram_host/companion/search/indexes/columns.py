"""The tables of an index: a column that grows, texts by number, and a row for each line that is an entry."""

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.types import LOGS, LogName

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
        """Remove all numbers, and free their room."""
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

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}
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

    def __init__(self) -> None:
        self._columns = {name: Column(kind) for name, kind in _KINDS.items()}
        self._of_seq: dict[LogName, dict[int, int]] = {log: {} for log in LOGS}
        self._last_of_thread = Column(np.int32)
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
        self._of_seq[log].pop(int(self.column("seq")[row]), None)
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
    def nbytes(self) -> int:
        """Bytes of all columns and tables."""
        columns = [*self._columns.values(), self._last_of_thread]
        # A number above 256 is an object of its own.
        by_seq = (sys.getsizeof(rows) + 2 * _NUMBER_BYTES * len(rows) for rows in self._of_seq.values())
        return sum(column.nbytes for column in columns) + sum(by_seq)


def moment(value: object) -> int:
    """A time as a column has it: a line may hold any JSON value."""
    return max(0, min(value, MOST_TIME)) if isinstance(value, int) else 0


KEY_BYTES = 8
"""Of a digest, that a row keeps."""


def digest_key(digest: bytes) -> int:
    """The beginning of a digest, as a row has it; never 0."""
    return int.from_bytes(digest[:KEY_BYTES], "little") or 1
