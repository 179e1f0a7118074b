"""Failed logins over HTTP and MQTT: logged with their address and name, counted, and slowed down."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

from engram_host.companion.auth.connections import address_group
from engram_host.companion.auth.rate_limit import RateLimiter

_log = logging.getLogger("engram.security")

FREE = 20
"""Failed logins of one address that are answered at once: somebody who mistypes a token waits for nothing."""

REFILL = 1.0
"""Failed logins a second of one address that are answered at once in the long run."""

SLOW_SECONDS = 0.5
"""How long each further one waits for its answer: whoever tries tokens gets two answers a second on each connection."""

_LONGEST_NAME = 40

Way = Literal["HTTP", "MQTT"]


class FailedLogins:
    """Notes failed logins; `count` is called with the way of each."""

    def __init__(self, count: Callable[[str], None] = lambda way: None, limiter: RateLimiter | None = None):
        self._count = count
        self._limiter = limiter or RateLimiter(REFILL, FREE)

    async def note(self, way: Way, address: str, name: str) -> None:
        """Log a failed login, once a minute for each address and name, and wait before it is answered if there were many.

        Of IPv6 a network is one address: its clients have as many as they like.
        """
        self._count(way)
        name = name[:_LONGEST_NAME]
        group = address_group(address)
        fields = {"repeat": f"{way} {group} {name}", "address": address, "device": name}
        _log.warning("a login over %s from %s as %r failed.", way, address, name, extra=fields)
        if self._limiter.wait_seconds(group):
            await asyncio.sleep(SLOW_SECONDS)
