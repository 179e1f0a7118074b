"""Tokens of calls, and the daily limits."""

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engram import text
from engram_host.companion.auth.access import ApiCaller
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.gateway.dialects import LimitReached
from engram_host.companion.gateway.request import estimate_tokens
from engram_host.companion.settings import GatewaySettings
from engram_host.companion.store.tokens import ALL, GatewayUseTable
from engram_host.companion.types import GatewayUse

_MOST_TOKENS = 1 << 32


class TokenCounter:
    def __init__(self, prompt: int):
        self._prompt = prompt
        self._answer = 0
        self._told_input: int | None = None
        self._told_output: int | None = None

    @property
    def used(self) -> int:
        return self.used_input + self.used_output

    @property
    def used_input(self) -> int:
        return self._prompt if self._told_input is None else self._told_input

    @property
    def used_output(self) -> int:
        return self._answer if self._told_output is None else self._told_output

    def mark_unused(self) -> None:
        self._told_input = self._told_output = 0

    def read(self, data: bytes) -> None:
        """Count an answer, or an event of a stream."""
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            return  # also the [DONE] at the end of a stream
        if not isinstance(answer, dict):
            return
        self._note_usage(text.part(answer, "usage", dict))
        self._answer += sum(map(estimate_tokens, _written(answer)))
        # A stream of Anthropic's begins with a guess of its answer.
        if begun := text.part(text.part(answer, "message", dict), "usage", dict):
            self._note_usage({**begun, "output_tokens": None})

    def _note_usage(self, usage: dict[str, Any]) -> None:
        asked, answered = _sum(usage, _INPUT), _sum(usage, _OUTPUT)
        total = _count(usage.get("total_tokens"))
        if total is not None:
            # Tokens in the total alone, such as thinking, belong to the answer.
            asked = min(total, self._prompt) if asked is None else asked
            answered = max(total - asked, answered or 0)
        if asked is not None:
            self._told_input = min(asked, _MOST_TOKENS)
        if answered is not None:
            self._told_output = min(answered, _MOST_TOKENS)


_INPUT = ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _sum(usage: dict[str, Any], names: tuple[str, ...]) -> int | None:
    found = [count for name in names if (count := _count(usage.get(name))) is not None]
    return sum(found) if found else None


def _written(answer: dict[str, Any]) -> Iterator[str]:
    for choice in text.part(answer, "choices", list):
        message = text.part(choice, "delta", dict) or text.part(choice, "message", dict)
        yield from (text.part(message, name, str) for name in _MESSAGE_TEXTS)
        for call in text.part(message, "tool_calls", list):
            yield from (text.part(text.part(call, "function", dict), name, str) for name in ("name", "arguments"))
    blocks = text.part(answer, "content", list)
    for block in (answer.get("delta"), answer.get("content_block"), *blocks):
        yield from (text.part(block, name, str) for name in _BLOCK_TEXTS)
        if called := text.part(block, "input", dict):
            yield json.dumps(called)


_MESSAGE_TEXTS = ("content", "refusal", "reasoning_content")
_BLOCK_TEXTS = ("text", "thinking", "partial_json", "name")


# --- daily limits


_log = logging.getLogger("engram.gateway")

OPERATOR = "$operator"  # account of the operator's own calls; no board can have this name
_DAY = 86400


@dataclass(frozen=True)
class DayUsage:
    """Usage of the UTC day that began at a Unix time, with the limits of a board and of all (0: none).

    The operator is $operator.
    """

    begins: int
    limits: dict[str, GatewayUse]
    used: GatewayUse
    devices: dict[str, GatewayUse]


class Quota:
    def __init__(self, store: GatewayUseTable, settings: GatewaySettings):
        self._store = store
        self._limits = {
            "device": GatewayUse(settings.device_calls, settings.device_tokens),
            "all": GatewayUse(settings.all_calls, settings.all_tokens),
        }

    def today(self) -> DayUsage:
        day = int(time.time()) // _DAY
        used = self._store.gateway_used(day)
        everything = used.pop(ALL, GatewayUse(0, 0))
        return DayUsage(day * _DAY, self._limits, everything, used)

    async def begin_call(self, caller: ApiCaller, aside: int) -> "QuotaCall":
        """Count a call and reserve tokens; may raise LimitReached or StoreUnavailable."""
        now = int(time.time())
        name = caller.device or OPERATOR
        reached = await asyncio.to_thread(self._store.begin_call, now // _DAY, name, aside, self._limits)
        if reached:
            raise self._limit_reached(name, reached, _DAY - now % _DAY)
        return QuotaCall(self._store, now // _DAY, name, aside)

    def _limit_reached(self, name: str, reached: str, seconds: int) -> LimitReached:
        whose, what = reached.split()
        limit = getattr(self._limits[whose], what)
        who = name if whose == "device" else "all devices together"
        why = f"the limit of {limit} {what} a day of {who} is reached (gateway.{whose}_{what}); the day ends at midnight UTC."
        # Without the second header OpenAI's clients retry at once.
        headers = {"Retry-After": str(seconds), "X-Should-Retry": "false"}
        return LimitReached(429, why, "insufficient_quota", headers)


class QuotaCall:
    def __init__(self, store: GatewayUseTable, day: int, name: str, aside: int):
        self._store = store
        self._day = day
        self._name = name
        self._aside = aside

    async def end(self, used: int) -> None:
        """Replace the reserved tokens by those used."""
        try:
            await asyncio.to_thread(self._store.end_call, self._day, self._name, used - self._aside)
        except StoreUnavailable as problem:
            _log.warning("a call of %s stays counted as estimated: %s", self._name, problem)
