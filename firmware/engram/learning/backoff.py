"""Waiting without a task: for a while, or after a failure, twice as long each time."""

from engram import diag
from engram.compat import const, ticks_add, ticks_diff, ticks_ms
from engram.errors import ModelError

_FIRST_MS = const(30_000)
_LONGEST_MS = const(3_600_000)


class Timeout:
    """A while that passes; it is over until it begins."""

    def __init__(self):
        self._until = 0
        self._is_over = True

    def begin(self, milliseconds: int) -> None:
        """It begins now."""
        self._until = ticks_add(ticks_ms(), milliseconds)
        self._is_over = False

    def end(self) -> None:
        """It is over at once."""
        self._is_over = True

    @property
    def is_over(self) -> bool:
        """Whether it has passed."""
        # Kept, since the counter of ticks wraps after some days.
        self._is_over = self._is_over or ticks_diff(self._until, ticks_ms()) <= 0
        return self._is_over


class Backoff(Timeout):
    """The pause of a job that failed; `why` says what it waits for, "" while it does not."""

    def __init__(self, name: str):
        super().__init__()
        self._name = name
        self._length = 0
        self.is_for_link = False
        """Whether it was the model that failed."""
        self.why = ""

    def fail(self, error) -> None:
        """The job failed: it may try again after a while."""
        self.why = str(error)
        self.is_for_link = isinstance(error, ModelError)
        self._length = min(2 * self._length or _FIRST_MS, _LONGEST_MS)
        self.begin(self._length)
        diag.info(self._name, "it waits %d s: %s" % (self._length // 1000, self.why))

    def end(self) -> None:
        """There is nothing to wait for any more."""
        super().end()
        self._length = 0
        self.why = ""
