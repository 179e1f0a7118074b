"""The rows of an index: for each line that is an entry what a search has to know of it, 60 bytes or so."""

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.growing import Column
from engram_host.companion.types import LogName

NONE = -1

LIVE, SUPERSEDED, EARLIER, GONE, ARCHIVED = range(5)
"""What a row is: found; found on demand, since another entry or a later version took its place; not found; and found though it
has left the board."""

STATE_NAMES = ("live", "superseded", "earlier version", "gone", "archived")

_MOST_TIME = 1 << 40
_NUMBER_BYTES = 32


class Row(NamedTuple):
    """A new row. `thread` and `who` are numbers of texts (see StringTable), NONE where there is none; `importance` is in
    hundredths, `key` the beginning of its text's digest, 0 if it has no text to embed.
    """

    turn: bool
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

    def number(self, text: str) -> int:
        """The number of a text, a new one if it is new."""
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
            self._bytes += sys.getsizeof(text) + _NUMBER_BYTES
        return found

    def known(self, text: str) -> int:
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
        """Rows of lines that have gone, of which something is still kept."""

    def __len__(self) -> int:
        return len(self._columns["seq"])

    def column(self, name: str) -> NDArray[Any]:
        """A view of one column; see Row, and state, slot (of its vector), previous and following (in its thread)."""
        return self._columns[name].all

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
    return max(0, min(value, _MOST_TIME)) if isinstance(value, int) else 0
