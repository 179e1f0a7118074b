"""How long a job in the background waits after it failed: twice as long each time."""

from engram import log
from engram.compat import const, ticks_add, ticks_diff, ticks_ms
from engram.errors import ModelError

_FIRST_MS = const(30_000)
_LONGEST_MS = const(3_600_000)


class Pause:
    """The pause of a job; `why` says what it waits for, "" while it does not."""

    def __init__(self, name: str):
        self._name = name
        self._until = 0
        self._length = 0
        self._is_over = True
        self.is_for_link = False
        """Whether it was the model that failed."""
        self.why = ""

    @property
    def is_over(self) -> bool:
        """Whether the job may try again."""
        # Kept, since the counter of ticks wraps after some days.
        self._is_over = self._is_over or ticks_diff(self._until, ticks_ms()) <= 0
        return self._is_over

    def begin(self, error) -> None:
        """The job failed."""
        self.why = str(error)
        self.is_for_link = isinstance(error, ModelError)
        self._is_over = False
        self._length = min(2 * self._length or _FIRST_MS, _LONGEST_MS)
        self._until = ticks_add(ticks_ms(), self._length)
        log.info(self._name, "it waits %d s: %s" % (self._length // 1000, self.why))

    def end(self) -> None:
        """There is nothing to wait for any more."""
        self._is_over = True
        self._length = 0
        self.why = ""
