"""How long a job in the background waits after it failed: twice as long each time."""

from engram import log
from engram.compat import const, ticks_add, ticks_diff, ticks_ms

_FIRST_MS = const(30_000)
_LONGEST_MS = const(3_600_000)


class Pause:
    """The pause of a job; `why` says what it waits for, "" while it does not."""

    def __init__(self, name: str):
        self._name = name
        self._until = 0
        self._length = 0
        self.why = ""

    @property
    def is_over(self) -> bool:
        """Whether the job may try again."""
        return not self._length or ticks_diff(self._until, ticks_ms()) <= 0

    def begin(self, error) -> None:
        """The job failed."""
        self.why = str(error)
        self._length = min(2 * self._length or _FIRST_MS, _LONGEST_MS)
        self._until = ticks_add(ticks_ms(), self._length)
        log.info(self._name, "it waits %d s: %s" % (self._length // 1000, self.why))

    def end(self) -> None:
        """There is nothing to wait for any more."""
        self._length = 0
        self.why = ""
