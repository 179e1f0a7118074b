"""Rate limits by token buckets, and delays of failed logins over HTTP and MQTT."""

import asyncio
import ipaddress
import logging
import time
from collections.abc import Callable

from engram_host.bounded import BoundedDict

MOST_NAMES = 8192


class RateLimiter:
    """Token buckets by name: `a_second` on average, `at_once` in a burst; 0 is unlimited."""

    def __init__(self, a_second: float, at_once: float, clock: Callable[[], float] = time.monotonic):
        self._a_second = a_second
        self._at_once = at_once
        self._clock = clock
        self._buckets: BoundedDict[str, tuple[float, float]] = BoundedDict(MOST_NAMES)

    def wait_seconds(self, name: str) -> float:
        """Count a request; return 0.0, or the seconds until one is allowed."""
        if not self._a_second:
            return 0.0
        now = self._clock()
        left, since = self._buckets.get(name, (self._at_once, now))
        left = min(self._at_once, left + max(0.0, now - since) * self._a_second)
        wait = max(0.0, (1.0 - left) / self._a_second)
        self._buckets[name] = (left if wait else left - 1.0, now)
        return wait


_log = logging.getLogger("engram.security")

FREE = 20

REFILL = 1.0

SLOW_SECONDS = 0.5

_LONGEST_NAME = 40

_NET_OF_ONE = 64
"""Bits of an IPv6 address that tell clients apart: whoever has one usually has all with the same."""


class FailedLogins:
    """Log of failed logins; calls `count` for each."""

    def __init__(self, count: Callable[[], None] = lambda: None, limiter: RateLimiter | None = None):
        self._count = count
        self._limiter = limiter or RateLimiter(REFILL, FREE)

    async def note(self, address: str, name: str) -> None:
        """Log a failed login once a minute per address and name, and delay repeated ones."""
        self._count()
        name = name[:_LONGEST_NAME]
        group = address_group(address)
        fields = {"repeat": f"{group} {name}", "address": address, "device": name}
        _log.warning("a login from %s as %r failed.", address, name, extra=fields)
        if self._limiter.wait_seconds(group):
            await asyncio.sleep(SLOW_SECONDS)


def address_group(address: str) -> str:
    """Return what failed logins are counted by: an IPv4 address, or the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, _NET_OF_ONE), strict=False))
    return str(parsed)
