"""Feeds the chip's watchdog while the app lives or is stopped.

The ESP32's watchdog never stops once it runs, not even at a soft reset. So a timer feeds it: while the app
runs only as long as the app beats, and always at the prompt or under mpremote. A board that hangs in the
firmware, where no timer runs, is reset in any state.
"""

import machine

from engram.compat import sleep_ms, ticks_diff, ticks_ms
from engram.device import boot_count
from engram.errors import ConfigError

_SHORTEST = const(30)  # seconds: a silent name server blocks the whole board that long
_TICK_SECONDS = const(5)
_BEAT_MS = const(5000)
_PROVEN_MS = const(60000)  # a run of this length had a good start

_timer = None
"""The only feeding timer, shared by boot.py and the app."""


class Watchdog:
    """A feeder of the watchdog, if there is one."""

    def __init__(self):
        self._watchdog = None
        self._ticks = self._left = 1
        self._taken_off = 0
        self._since = 0
        self._is_proven = False

    def guard(self, seconds: int) -> None:
        """Start the watchdog (0: none), idle until watch(); ConfigError if `seconds` is too short."""
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
        self.guard(boot_count.watchdog())

    def watch(self) -> None:
        self._since = ticks_ms()
        self._left = self._ticks
        self._taken_off = 1

    def rest(self) -> None:
        self._taken_off = 0
        self._left = self._ticks

    async def run(self) -> None:
        while True:
            self.beat()
            await sleep_ms(_BEAT_MS)

    def beat(self) -> None:
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
    """Return a virtual timer, or before MicroPython 1.29 the chip's last one."""
    for number in (-1, 3, 1):  # smaller chips have two; code on the board begins with the first
        try:
            return machine.Timer(number)
        except ValueError:
            pass
    return machine.Timer(0)
