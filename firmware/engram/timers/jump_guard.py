"""The time for timers, which a clock that is set wrongly for a while does not deceive.

A jump of more than an hour while the board runs is believed once it has lasted half an hour; until then time goes on from
before it, by the counter of ticks. So a wrong answer from the network neither makes all timers due nor silences them.
"""

from engram.compat import const, ticks_diff, ticks_ms

_JUMP_S = const(3600)
_HOLD_S = const(1800)


class JumpGuard:
    """Gives the time of a Clock; now() is to be called at least once in some days."""

    def __init__(self, clock, ticks=ticks_ms):
        self._clock = clock
        self._ticks_ms = ticks
        self._ticks = ticks()
        self._rest_ms = 0
        self._now = 0
        self._was_known = False
        self.guessed = 0
        """Up to when time was a guess, before the clock was set; 0 if it never was."""
        self.has_jumped = False
        """True once a jump was believed: the user resets it."""
        self._jumped = 0  # for how many seconds it has been off

    def now(self) -> int:
        """Unix seconds; a guess, as the Clock's, while that is not set."""
        passed = self._passed()
        reading, known = self._clock.now(), self._clock.known
        expected = self._now + passed
        is_first = not (known and self._was_known)  # a guess does not jump
        if is_first or -_JUMP_S <= reading - expected <= _JUMP_S or self._jumped > _HOLD_S:
            if not known:
                self.guessed = reading
            elif not self._was_known and self.guessed:
                self.guessed = expected
            self._was_known = known
            self.has_jumped = self.has_jumped or self._jumped > _HOLD_S
            self._jumped = 0
            self._now = reading
        else:
            self._jumped += passed
            self._now = expected
        return self._now

    def _passed(self) -> int:
        """Whole seconds since the last call."""
        ticks = self._ticks_ms()
        passed = ticks_diff(ticks, self._ticks) + self._rest_ms
        self._ticks = ticks
        self._rest_ms = passed % 1000
        return passed // 1000
