"""A cool-down after a failure, so that no search waits for a service that is down or slow."""

from collections.abc import Callable
from time import monotonic


class Cooldown:
    """State of a service that may fail; not thread-safe."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic):
        self._seconds = seconds
        self._clock = clock
        self._until = 0.0
        self._longest_wait = 0.0
        self.problem = ""

    def is_resting(self, seconds: float) -> bool:
        return bool(self.problem) and self._clock() < self._until and seconds <= self._longest_wait

    def note_failure(self, problem: str, late_after: float = float("inf")) -> None:
        """Record a failure; a timeout after `late_after` seconds does not block longer calls."""
        self.problem = problem
        self._until = self._clock() + self._seconds
        self._longest_wait = late_after

    def note_success(self) -> None:
        self.problem = ""
