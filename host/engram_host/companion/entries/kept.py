"""Cache of values that were read from boards' copies."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class KeptOfBoards(Generic[Found]):
    """Least-recently-used cache with one value per board; safe for threads."""

    def __init__(self, most: int):
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], Found] = OrderedDict()

    def get(self, key: tuple[object, ...], read: Callable[[], Found]) -> Found:
        """Return the value for a key that begins with the board's name; `read` it if the key changed."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = read()
        with self._lock:
            for old in [each for each in self._kept if each[0] == key[0]]:
                del self._kept[old]
            self._kept[key] = found
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found
