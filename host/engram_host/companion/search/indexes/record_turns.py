"""Which turns a record came from: a search finds a turn by the words of its records too."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engram.errors import ArgumentError
from engram.memory import ids
from engram_host.companion.search.indexes.columns import NONE, Column

MOST_TURNS = 16
"""Turns of one record that get its words: bounds what one line can make an index hold."""

_PLACE_BYTES = 150  # of a turn's list of places, measured


class RecordTurns:
    """Pairs of a record's row and a turn's row; either may be there before the other."""

    def __init__(self) -> None:
        self._records = Column(np.int32)
        self._turns = Column(np.int32)
        self._places: dict[int, list[int]] = {}
        """The places of a turn's pairs, by its seq."""

    def add_pair(self, record: int, seq: int, turn: int) -> None:
        """The record in a row came from the turn with a seq, which is in row `turn`, NONE if it is not here yet."""
        self._places.setdefault(seq, []).append(len(self._records))
        self._records.extend([record])
        self._turns.extend([turn])

    def set_turn(self, seq: int, row: int) -> None:
        """The turn with a seq is in another row now, NONE if it has gone."""
        for place in self._places.get(seq, ()):
            self._turns.view[place] = row

    def records_of(self, seq: int) -> list[int]:
        """The rows of records that came from the turn with a seq."""
        return [int(self._records.view[place]) for place in self._places.get(seq, ())]

    def visible_pairs(self, seen: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(rows of records, rows of turns) of the pairs with both rows seen."""
        records, turns = self._records.view, self._turns.view
        kept = (turns != NONE) & seen[records] & seen[turns]
        return records[kept], turns[kept]

    def __len__(self) -> int:
        return len(self._records)

    @property
    def nbytes(self) -> int:
        """About the bytes of all tables."""
        return self._records.nbytes + self._turns.nbytes + _PLACE_BYTES * len(self._places)


def turns_of(line: dict[str, object]) -> list[int]:
    """The seqs of the turns that a record's line says it came from, at most MOST_TURNS, each once."""
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
