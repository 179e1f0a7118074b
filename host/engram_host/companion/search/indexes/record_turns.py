"""Links from records to their source turns, so that a search finds a turn by its records' words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engram.errors import ArgumentError
from engram.memory import ids
from engram_host.companion.search.indexes.columns import NONE, Column

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
