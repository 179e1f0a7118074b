"""Rate limits: a bucket of tokens for each name, filled at a steady rate; and failed logins over HTTP and MQTT, which are
logged with their address and name, counted, and slowed down.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable

from engram_host.companion.auth.connections import address_group

MOST_NAMES = 8192
"""Buckets that are kept; the one used longest ago goes first, and begins full if its name comes again."""


class RateLimiter:
    """For each name, `a_second` requests in the long run and `at_once` at a time; 0 a second is no limit."""

    def __init__(self, a_second: float, at_once: float, clock: Callable[[], float] = time.monotonic):
        self._a_second = a_second
        self._at_once = at_once
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What is left in a bucket, and when that was."""

    def wait_seconds(self, name: str) -> float:
        """Count one message or request: 0.0 if it may come now, else after how many seconds one may."""
        if not self._a_second:
            return 0.0
        now = self._clock()
        left, since = self._buckets.get(name, (self._at_once, now))
        left = min(self._at_once, left + max(0.0, now - since) * self._a_second)
        wait = max(0.0, (1.0 - left) / self._a_second)
        self._buckets[name] = (left if wait else left - 1.0, now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_NAMES:
            self._buckets.popitem(last=False)
        return wait


_log = logging.getLogger("engram.security")

FREE = 20
"""Failed logins of one address that are answered at once: somebody who mistypes a token waits for nothing."""

REFILL = 1.0
"""Failed logins a second of one address that are answered at once in the long run."""

SLOW_SECONDS = 0.5
"""How long each further one waits for its answer: whoever tries tokens gets two answers a second on each connection."""

_LONGEST_NAME = 40


class FailedLogins:
    """Notes failed logins; `count` is called for each."""

    def __init__(self, count: Callable[[], None] = lambda: None, limiter: RateLimiter | None = None):
        self._count = count
        self._limiter = limiter or RateLimiter(REFILL, FREE)

    async def note(self, address: str, name: str) -> None:
        """Log a failed login, once a minute for each address and name, and wait before it is answered if there were many.

        Of IPv6 a network is one address: its clients have as many as they like.
        """
        self._count()
        name = name[:_LONGEST_NAME]
        group = address_group(address)
        fields = {"repeat": f"{group} {name}", "address": address, "device": name}
        _log.warning("a login from %s as %r failed.", address, name, extra=fields)
        if self._limiter.wait_seconds(group):
            await asyncio.sleep(SLOW_SECONDS)
