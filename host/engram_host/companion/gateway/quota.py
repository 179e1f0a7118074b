"""How much of the model may be used on a day, counted in the store: over restarts, and for all workers together."""

import asyncio
import logging
import time
from dataclasses import dataclass

from engram_host.companion.auth.identity import Caller
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.gateway.errors import LimitReached
from engram_host.companion.settings import GatewaySettings
from engram_host.companion.store.base import Store
from engram_host.companion.store.tokens import ALL
from engram_host.companion.types import GatewayUse

_log = logging.getLogger("engram.gateway")

OPERATOR = "$operator"
"""What the operator's own calls are counted under; no board can be called so."""

_DAY = 86400


@dataclass(frozen=True)
class DayUsage:
    """What was used on the day that is now, in UTC: `limits` are those of a device and of all, 0 for none."""

    begins: int
    limits: dict[str, GatewayUse]
    used: GatewayUse
    of_devices: list[tuple[str, GatewayUse]]
    """By name, OPERATOR among them."""


class Quota:
    """Counts calls and tokens of each device and of all, by days in UTC."""

    def __init__(self, store: Store, settings: GatewaySettings):
        self._store = store
        self._limits = {
            "device": GatewayUse(settings.device_calls, settings.device_tokens),
            "all": GatewayUse(settings.all_calls, settings.all_tokens),
        }

    def today(self) -> DayUsage:
        """What is used of the limits. Blocks; StoreUnavailable."""
        day = int(time.time()) // _DAY
        used = self._store.gateway_used(day)
        everything = used.pop(ALL, GatewayUse(0, 0))
        return DayUsage(day * _DAY, self._limits, everything, sorted(used.items()))

    async def begin(self, caller: Caller, aside: int) -> "QuotaCall":
        """Count a call and set tokens aside for it; LimitReached if one is reached. StoreUnavailable."""
        now = int(time.time())
        name = caller.device or OPERATOR
        reached = await asyncio.to_thread(self._store.begin_call, now // _DAY, name, aside, self._limits)
        if reached:
            raise self._refused(name, reached, _DAY - now % _DAY)
        return QuotaCall(self._store, now // _DAY, name, aside)

    def _refused(self, name: str, reached: str, seconds: int) -> LimitReached:
        whose, what = reached.split()
        limit = getattr(self._limits[whose], what)
        who = name if whose == "device" else "all devices together"
        why = f"the limit of {limit} {what} a day of {who} is reached (gateway.{whose}_{what}); the day ends at midnight UTC."
        # OpenAI's own clients would try again at once without the second header.
        headers = {"Retry-After": str(seconds), "X-Should-Retry": "false"}
        return LimitReached(429, why, "insufficient_quota", headers)


class QuotaCall:
    """A call that has begun."""

    def __init__(self, store: Store, day: int, name: str, aside: int):
        self._store = store
        self._day = day
        self._name = name
        self._aside = aside

    async def end(self, used: int) -> None:
        """Count what it used in place of what was set aside."""
        try:
            await asyncio.to_thread(self._store.end_call, self._day, self._name, used - self._aside)
        except StoreUnavailable as problem:
            _log.warning("a call of %s stays counted as estimated: %s", self._name, problem)
