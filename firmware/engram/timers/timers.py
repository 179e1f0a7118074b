"""Timers: what is to be said, called or asked at a moment, every day, or every few minutes.

They are in memory/timers.jsonl (see timer_file.py). A board without timers has neither this module nor the file.

Each due moment is reported once, wherever the power fails:

    1. the file has the timer with its next moment, and with the seq that the journal's next line will have and the moment
       that is told ("telling")
    2. the journal has that line, and the outbox its seq (Inbox.push): from here on the text is delivered, also after a restart

Before 1 the moment is still due. Between 1 and 2 the journal has no such line, so it is told again, after 2 it has. The next
moment is begun only when 2 is done, and a timer that is over leaves the file with the next change of it.
"""

import asyncio

from engram import diag
from engram.compat import const, ticks_ms, wait_for_ms
from engram.errors import EngramError
from engram.timers import timer_file
from engram.timers.steady import SteadyClock

_SLICE_MS = const(60_000)  # between two looks at the clock, which may have been set
_RETRY_MS = const(20_000)  # when something due could not be told


class Timers:
    """A board's timers, in a file in `folder`. make_telling(timers) gives what tells the due ones."""

    def __init__(self, folder: str, clock, make_telling, ticks=ticks_ms):
        self.table = timer_file.make_table(folder)
        self.clock = clock
        self.steady = SteadyClock(clock, ticks)
        self.due = 0
        """When the next one is due, 0 if none is."""
        self.due_by_guess = 0
        """The same of those that were set while the clock was not: they do not need it."""
        self.has_guess = False
        self.is_unsure = True
        """Whether some that are marked as being told may not have been told."""
        self.over = []
        """The ids of those that are over, and leave the file with the next change of it."""
        self.pending = {}
        """By id what the flash will have with the next change: (local day, model calls of that day)."""
        self.is_in_turn = False
        """Whether the turn that is answered is a timer's: it sets no timers."""
        self._telling = None
        self._make_telling = make_telling
        self._changed = asyncio.Event()
        self.problem = ""
        """Why something due could not be told, "" if it could."""

    @property
    def damaged(self) -> int:
        """Pieces of damage that were found since the start."""
        return self.table.damaged

    def open(self) -> None:
        """Read the file, if there is one; damaged lines are set aside.

        One that cannot be read stays as it is and keeps no board from starting: it is tried again whenever it is needed.
        """
        try:
            self._read_file()
        except (EngramError, MemoryError):
            pass  # tell_due() tries again, and warns

    # --- when people ask

    def add(self, caller, spec) -> dict:
        """Keep what a tool.TimerSpec asks for; its fields, which are on flash then. ArgumentError if it cannot be kept."""
        self._read_file()
        fields = timer_file.add(self, caller, spec)
        self._changed.set()
        return fields

    def remove(self, caller, ref: str) -> dict:
        """Let a timer go; its fields. NotFound if this caller has none of that id."""
        self._read_file()
        return timer_file.remove(self, caller, ref)

    def owned_by(self, caller) -> list:
        """The fields of the caller's timers, those first that are due first."""
        self._read_file()
        return timer_file.owned_by(self, caller)

    # --- running

    async def run(self) -> None:
        """Tell what is due, for ever."""
        try:
            while True:
                is_done = await self.tell_due()
                self._changed.clear()
                try:
                    await wait_for_ms(self._changed.wait(), self._pause_ms() if is_done else _RETRY_MS)
                except asyncio.TimeoutError:
                    pass  # it is time
        finally:
            if self._telling:
                self._telling.stop()

    def wake(self) -> None:
        """Look again at what is due."""
        self._changed.set()

    async def tell_due(self) -> bool:
        """Tell what is due now; whether nothing is left that is."""
        now = self.steady.now()
        if self._telling and not self._telling.is_busy:
            telling, self._telling = self._telling, None
            await telling.finish()
        if self.steady.has_jumped:
            self.steady.has_jumped = False
            self.is_unsure = True
        if not (self.is_unsure or self._is_due(now) or (self.has_guess and self.clock.known)):
            return True
        try:
            self._read_file()
            if self._telling is None:
                self._telling = self._make_telling(self)
            is_done = await self._telling.tell_due(now)
            self.problem = ""
            return is_done
        except (EngramError, MemoryError) as error:
            if str(error) != self.problem:
                self.problem = str(error)
                diag.warning("timers", "something due is delivered later: %s" % error)
            return False

    def _is_due(self, now: int) -> bool:
        if self.clock.known and 0 < self.due <= now:
            return True
        return 0 < self.due_by_guess <= now

    def _pause_ms(self) -> int:
        """Until the next one is due, or until the clock is to be looked at."""
        if not self.table.rows and not self.is_unsure:
            return _SLICE_MS
        dues = [due for due in (self.due if self.clock.known else 0, self.due_by_guess) if due]
        left = min(dues) - self.steady.now() if dues else _SLICE_MS
        return min(_SLICE_MS, max(0, left) * 1000 + 50)

    def _read_file(self) -> None:
        self.table.open()
        timer_file.load(self)
