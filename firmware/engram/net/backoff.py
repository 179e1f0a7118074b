"""Pauses between tries that fail: each twice the last, and not the same for all boards that lost one service together."""

import random


class Backoff:
    """Pauses from `first_ms` up to `longest_ms`, each shortened by chance, at most by half."""

    def __init__(self, first_ms: int, longest_ms: int):
        self._first_ms = first_ms
        self._longest_ms = longest_ms
        self._pause_ms = 0

    def next_ms(self) -> int:
        """Count a failure; the pause before the next try."""
        self._pause_ms = min(2 * self._pause_ms or self._first_ms, self._longest_ms)
        half = self._pause_ms // 2
        return half + random.getrandbits(10) * half // 1023

    def reset(self) -> None:
        """Begin with the first pause again: a try went well."""
        self._pause_ms = 0
