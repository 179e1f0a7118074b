"""Feeds the chip's watchdog as long as the app lives, and while it is stopped.

The ESP32's watchdog cannot be stopped once it runs, not even by a soft reset. So a timer feeds it; while the app runs
it does so only as long as the app beats, and at the prompt, or under mpremote, always. A board that hangs in the
firmware itself, where no timer's callback gets a turn, is reset in any state.
"""

import machine

from engram.compat import const, sleep_ms, ticks_diff, ticks_ms
from engram.device import boot_count
from engram.errors import ConfigError

_SHORTEST = const(30)  # seconds: a name server that does not answer holds the whole board up for as long as that
_TICK_SECONDS = const(5)
_BEAT_MS = const(5000)
_PROVEN_MS = const(60000)  # a run as long as this began well, whatever comes later

_timer = None
"""The one that feeds. boot.py and the app each have a Watchdog: two timers would leave one that feeds whatever the app does."""


class Watchdog:
    """Feeds the watchdog, if there is one."""

    def __init__(self):
        self._watchdog = None
        self._ticks = self._left = 1
        self._taken_off = 0
        self._since = 0
        self._is_proven = False

    def guard(self, seconds: int) -> None:
        """Start the watchdog, 0: leave it; ConfigError if `seconds` is too short. It rests until watch() is called."""
        if not seconds:
            return
        if seconds < _SHORTEST:
            raise ConfigError("watchdog.seconds", "must be 0 (none), or %d and more." % _SHORTEST)
        self._ticks = self._left = seconds // _TICK_SECONDS
        self._watchdog = machine.WDT(timeout=seconds * 1000)
        self._watchdog.feed()
        global _timer
        _timer = _timer or _new_timer()
        _timer.init(period=_TICK_SECONDS * 1000, callback=self._tick)
        boot_count.set_watchdog(seconds)

    def resume(self) -> None:
        """After a soft reset, which stops timers but not the watchdog: feed it on, if it runs."""
        self.guard(boot_count.watchdog())

    def watch(self) -> None:
        """From now on the app has to beat."""
        self._since = ticks_ms()
        self._left = self._ticks
        self._taken_off = 1

    def rest(self) -> None:
        """From now on nothing has to beat."""
        self._taken_off = 0
        self._left = self._ticks

    async def run(self) -> None:
        """Beat for as long as the app's loop goes round."""
        while True:
            self.beat()
            await sleep_ms(_BEAT_MS)

    def beat(self) -> None:
        """Tell that the app lives; a start that has lived for a minute is no bad one."""
        self._left = self._ticks
        if not self._is_proven and ticks_diff(ticks_ms(), self._since) >= _PROVEN_MS:
            self._is_proven = True
            boot_count.set_bad(0)

    def _tick(self, _timer) -> None:
        # Without a new object: it is called between any two steps of the app.
        if self._left:
            self._left -= self._taken_off
            self._watchdog.feed()


def _new_timer():
    """A timer that the chip's own do not run out for; before MicroPython 1.29 there is none, and the last of these is taken."""
    for number in (-1, 3, 1):  # smaller chips have two; code on the board begins with the first
        try:
            return machine.Timer(number)
        except ValueError:
            pass
    return machine.Timer(0)
