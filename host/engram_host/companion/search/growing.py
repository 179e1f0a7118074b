"""Tables in numpy that grow at their end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    def all(self) -> NDArray[Any]:
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
