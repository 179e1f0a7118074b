"""The module `time` of a chip: whole seconds since 2000. With real time passes what is to come in fakes.world, too."""

import time as _real

from fakes import machine, world

ticks_diff = _real.ticks_diff
ticks_add = _real.ticks_add
ticks_us = _real.ticks_us
sleep_ms = _real.sleep_ms
sleep = _real.sleep

speed = 1
"""How much faster time passes in fakes.world."""

_last = _real.ticks_ms()


def ticks_ms():
    """Milliseconds; the world goes on by those since the last call."""
    global _last
    now = _real.ticks_ms()
    passed = ticks_diff(now, _last)
    _last = now
    if passed > 0:
        world.advance(passed * speed)
        if machine.was_reset:
            raise machine.Reset
    return now


def time():
    """Whole seconds since 2000, of the clock that machine.RTC sets."""
    return machine.seconds()


def gmtime(seconds=None):
    """The fields of a time, as the chip counts it."""
    return _real.gmtime((machine.seconds() if seconds is None else seconds) + 946684800)


localtime = gmtime
