"""Admits as many to a queue as come to their turn in time.

Boards that lost the companion together come back together, and each says the same again when it is not answered in time. Who
would wait too long is refused at once: else all wait too long, and what is answered is always what nobody waits for any more.
"""

import time
from collections.abc import Callable

FIRST_GUESS = 0.002
"""Seconds from one turn to the next, before any was measured."""

_SHARE = 0.1
"""What the newest turn counts in the mean."""


class Admission:
    """Counts who waits, and measures how fast they come to their turns, while others wait; in seconds."""

    def __init__(self, seconds: float, most: int, clock: Callable[[], float] = time.monotonic):
        """At most `most` wait, and none longer than about `seconds`."""
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._each = FIRST_GUESS
        self._waiting = 0
        self._last = 0.0

    def enter(self) -> bool:
        """Whether one more may wait; leave() has to follow then."""
        now = self._clock()
        if not self._waiting:
            self._last = now
        is_stuck = now - self._last > self._seconds
        if is_stuck or self._waiting >= self._most or self._waiting * self._each > self._seconds:
            return False
        self._waiting += 1
        return True

    def leave(self) -> None:
        """One has had its turn."""
        now = self._clock()
        self._each += _SHARE * (now - self._last - self._each)
        self._last = now
        self._waiting -= 1
