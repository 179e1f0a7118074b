"""A cool-down after a failure: a service that is down or slow is left alone for a while, so that no search waits for it."""

from collections.abc import Callable
from time import monotonic


class Cooldown:
    """Remembers why a service failed last, and for how long it is left alone; calls come from one thread."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic):
        self._seconds = seconds
        self._clock = clock
        self._until = 0.0
        self._longest_wait = 0.0
        self.problem = ""
        """Why the last call failed; "" once one has worked again."""

    def is_resting(self, seconds: float) -> bool:
        """Whether a call that may take these seconds is not worth making now."""
        return bool(self.problem) and self._clock() < self._until and seconds <= self._longest_wait

    def note_failure(self, problem: str, late_after: float = float("inf")) -> None:
        """A call failed. One that was late after some seconds says nothing of calls that may take longer."""
        self.problem = problem
        self._until = self._clock() + self._seconds
        self._longest_wait = late_after

    def note_success(self) -> None:
        """A call worked."""
        self.problem = ""
