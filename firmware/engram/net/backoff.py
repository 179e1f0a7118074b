"""Exponential pauses between retries, with jitter for boards that lost one service together."""

import random


class Backoff:
    """Pauses growing from `first_ms` to `longest_ms`, each randomly shortened by up to half."""

    def __init__(self, first_ms: int, longest_ms: int):
        self._first_ms = first_ms
        self._longest_ms = longest_ms
        self._pause_ms = 0

    def next_ms(self) -> int:
        """Count a failure; return the next pause."""
        self._pause_ms = min(2 * self._pause_ms or self._first_ms, self._longest_ms)
        half = self._pause_ms // 2
        return half + random.getrandbits(10) * half // 1023

    def reset(self) -> None:
        self._pause_ms = 0
