"""A rate limit: a bucket of tokens for each name, filled at a steady rate."""

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_NAMES = 8192
"""Buckets that are kept; the one used longest ago goes first, and begins full if its name comes again."""


class RateLimiter:
    """For each name, `a_second` requests in the long run and `at_once` at a time; 0 a second is no limit."""

    def __init__(self, a_second: float, at_once: float, clock: Callable[[], float] = time.monotonic):
        self._a_second = a_second
        self._at_once = at_once
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_seconds(self, name: str) -> float:
        """Count one message or request: 0.0 if it may come now, else after how many seconds one may."""
        if not self._a_second:
            return 0.0
        now = self._clock()
        left, since = self._buckets.get(name, (self._at_once, now))
        left = min(self._at_once, left + (now - since) * self._a_second)
        wait = max(0.0, (1.0 - left) / self._a_second)
        self._buckets[name] = (left if wait else left - 1.0, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_NAMES:
            self._buckets.popitem(last=False)
        return wait
