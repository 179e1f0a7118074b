"""Flood limits: about a message a second in a chat, twenty a minute in a group, thirty a second in all."""

import math
from collections import defaultdict, deque
from dataclasses import dataclass

from .clock import Clock
from .errors import too_many_requests


@dataclass(slots=True)
class FloodLimits:
    """How much a bot may send; a burst is allowed, as by the service. An edit counts as a message."""

    enabled: bool = True
    a_second: float = 1.0
    burst: int = 3
    group_a_minute: int = 20
    all_a_second: int = 30


class FloodControl:
    """Counts what is sent, and refuses what is too much with 429 and a time after which it is taken."""

    def __init__(self, clock: Clock, limits: FloodLimits):
        self._clock = clock
        self.limits = limits
        self.refused = 0
        self._tokens: dict[int, tuple[float, float]] = {}
        self._minutes: defaultdict[int, deque[float]] = defaultdict(deque)
        self._second: deque[float] = deque()

    def check(self, chat_id: int, *, is_group: bool) -> None:
        """Count one message or edit to a chat. ApiError if it is one too many."""
        if not self.limits.enabled:
            return
        now = self._clock.now()
        waits = [self._wait_for_token(chat_id, now), _wait_in(self._second, now, 1.0, self.limits.all_a_second)]
        if is_group:
            waits.append(_wait_in(self._minutes[chat_id], now, 60.0, self.limits.group_a_minute))
        longest = max(waits)
        if longest > 0:
            self.refused += 1
            raise too_many_requests(max(1, math.ceil(longest)))
        tokens, _ = self._state(chat_id, now)
        self._tokens[chat_id] = (tokens - 1, now)
        self._second.append(now)
        if is_group:
            self._minutes[chat_id].append(now)

    def _state(self, chat_id: int, now: float) -> tuple[float, float]:
        tokens, since = self._tokens.get(chat_id, (float(self.limits.burst), now))
        return min(self.limits.burst, tokens + (now - since) * self.limits.a_second), now

    def _wait_for_token(self, chat_id: int, now: float) -> float:
        tokens, _ = self._state(chat_id, now)
        return 0.0 if tokens >= 1 else (1 - tokens) / self.limits.a_second


def _wait_in(times: deque[float], now: float, span: float, most: int) -> float:
    """How long until fewer than `most` lie within the last `span` seconds; older times are dropped."""
    while times and times[0] <= now - span:
        times.popleft()
    return 0.0 if len(times) < most else times[0] + span - now
