"""Admission to a queue whose members all get their turn in time.

After an outage all boards return together, and each repeats a message without a timely answer. Messages that would wait
too long are refused at once; otherwise all would wait too long, and every answer would be late.
"""

import time
from collections.abc import Callable

FIRST_GUESS = 0.002

_SHARE = 0.1


class Admission:
    def __init__(self, seconds: float, most: int, clock: Callable[[], float] = time.monotonic):
        """At most `most` wait, and none longer than about `seconds`."""
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._each = FIRST_GUESS
        self._waiting = 0
        self._last = 0.0

    def enter(self) -> bool:
        """Return True if one more may wait; leave() has to follow then."""
        now = self._clock()
        if not self._waiting:
            self._last = now
        is_stuck = now - self._last > self._seconds
        if is_stuck or self._waiting >= self._most or self._waiting * self._each > self._seconds:
            return False
        self._waiting += 1
        return True

    def leave(self) -> None:
        now = self._clock()
        self._each += _SHARE * (now - self._last - self._each)
        self._last = now
        self._waiting -= 1
