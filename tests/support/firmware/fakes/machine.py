"""The module `machine`, as far as the firmware uses it."""

from fakes import world

PWRON_RESET, HARD_RESET, WDT_RESET, DEEPSLEEP_RESET, SOFT_RESET = 1, 2, 3, 4, 5

OLDEST, NEWEST = (1, 26), (1, 29)
VIRTUAL_TIMERS_SINCE = (1, 29)

version = NEWEST
"""The MicroPython that the board runs."""

timers = 4
"""How many the chip has: two on a C3."""

was_reset = False
"""Whether the watchdog or reset() has struck."""

on_memory = None
"""Is called with what the RTC's memory holds when it was changed."""

_cause = PWRON_RESET
_memory = b""
_clock = 0, 0
_watchdog = None
_timers = {}  # the chip's own, by number
_virtual_timers = []


class Reset(BaseException):
    """The board begins anew."""


def power_on() -> None:
    """A new start after power was lost."""
    global _memory, _clock
    _memory, _clock = b"", (0, world.now)
    restart(PWRON_RESET)


def restart(cause: int) -> None:
    """A new start: a soft reset keeps the watchdog, every other one ends it too."""
    global _cause, _watchdog, was_reset
    _cause = cause
    was_reset = False
    for timer in list(_timers.values()) + _virtual_timers:
        timer.deinit()
    _timers.clear()
    _virtual_timers.clear()
    if cause != SOFT_RESET:
        _watchdog = None
        levels.clear()


def reset_cause() -> int:
    """Why the board started."""
    return _cause


def reset() -> None:
    """Begin anew."""
    global was_reset
    was_reset = True
    raise Reset


class WDT:
    """The watchdog; there is one, and it cannot be stopped."""

    def __init__(self, id=0, timeout=5000):
        global _watchdog
        assert id == 0 and timeout > 0
        self.timeout = timeout
        self._limit = 0
        _watchdog = self
        self.feed()

    def feed(self) -> None:
        """Tell that the program lives."""
        self._limit = world.now + self.timeout
        world.after(self.timeout, self._look)

    def _look(self) -> None:
        global was_reset
        if _watchdog is self and world.now >= self._limit:
            was_reset = True


def watchdog_runs() -> bool:
    """Whether there is a watchdog that bites."""
    return _watchdog is not None


class _Timer:
    def __init__(self):
        self._run = 0

    def init(self, mode=1, period=-1, callback=None) -> None:
        self._run += 1
        run = self._run

        def strike():
            if run == self._run:
                if mode:
                    world.after(period, strike)
                callback(self)

        world.after(period, strike)

    def deinit(self) -> None:
        self._run += 1


def Timer(id):
    """A timer; its callback runs between the steps of the program."""
    if version < VIRTUAL_TIMERS_SINCE:
        if not 0 <= id < timers:
            raise ValueError("invalid Timer number")
        return _hardware_timer(id)
    if id >= timers:
        raise ValueError("Timer(%d) doesn't exist, there are only %d hardware timers" % (id, timers))
    if id < 0:
        _virtual_timers.append(_Timer())
        return _virtual_timers[-1]
    for lower in range(id):  # the driver gives out the first that is free: those below are taken so that it is this one
        _hardware_timer(lower)
    return _hardware_timer(id)


def _hardware_timer(id):
    if id not in _timers:
        _timers[id] = _Timer()
    return _timers[id]


def taken_timers() -> list:
    """The numbers of the chip's own timers that code of a person's finds taken."""
    return sorted(_timers)


levels = {}
"""What each output of the chip has: 0 or 1, or the duty of a PWM; all resets but a soft one let them go."""

inputs = {}
"""What the world outside puts on an input: 0 or 1, or millivolts; without it the pull decides."""

_handlers = {}  # of edges, by the number of the pin: (handler, trigger)

driven = []
"""(number, level) of each change of an output, in order."""


def set_input(number, level):
    """Let the world outside put a level on an input; who asked for such an edge is called."""
    before = inputs.get(number, 0)
    inputs[number] = level
    handler, trigger = _handlers.get(number, (None, 0))
    if before != level and trigger & (Pin.IRQ_RISING if level else Pin.IRQ_FALLING):
        handler(Pin(number))


def _drive(number, level):
    levels[number] = level
    driven.append((number, level))


class Pin:
    """A pin of an ESP32-S3."""

    IN, OUT, PULL_UP, PULL_DOWN = 1, 3, 2, 1
    IRQ_RISING, IRQ_FALLING = 1, 2

    def __init__(self, id, mode=-1, pull=-1, value=None):
        if not 0 <= id <= 48 or 22 <= id <= 25:
            raise ValueError("invalid pin")
        self.id = id
        self._mode, self._pull = mode, pull
        if mode == Pin.OUT:
            _drive(id, levels.get(id, 0) if value is None else value)

    def value(self, level=None):
        """The level, or set it."""
        if level is None:
            return (
                levels.get(self.id, 0) if self._mode == Pin.OUT else inputs.get(self.id, int(self._pull == Pin.PULL_UP))
            )
        _drive(self.id, level)
        return None

    def irq(self, handler=None, trigger=3):
        """Call a function at edges."""
        _handlers[self.id] = handler, trigger


NO_TIMER_HZ = 7777
"""A frequency for which there is no timer left: RuntimeError since MicroPython 1.26, ValueError before."""


class PWM:
    """A pin whose level changes fast."""

    def __init__(self, pin, freq=5000, duty_u16=32768):
        if freq == NO_TIMER_HZ:
            raise RuntimeError("out of PWM timers:8")
        self._pin, self.freq = pin, freq
        self.duty_u16(duty_u16)

    def duty_u16(self, duty):
        """Set the share of the time in which it is high, of 65535."""
        _drive(self._pin.id, duty)


class ADC:
    """A pin that measures."""

    ATTN_11DB = 3

    def __init__(self, pin, atten=0):
        if not 1 <= pin.id <= 20:
            raise ValueError("invalid pin")
        assert atten == ADC.ATTN_11DB
        self._pin = pin

    def read_uv(self):
        """Microvolts; without the world outside the read fails, as beside Wi-Fi on some pins."""
        if self._pin.id not in inputs:
            raise OSError(116)
        return inputs[self._pin.id] * 1000


class RTC:
    """The clock, and the memory beside it, which outlives all resets."""

    def memory(self, data=None):
        """The memory's content, or set it."""
        global _memory
        if data is None:
            return _memory
        if len(data) > 2048:
            raise ValueError("buffer too long")
        _memory = bytes(data)
        if on_memory:
            on_memory(_memory)
        return None

    def datetime(self, at=None):
        """Set the time: (year, month, day, weekday, hour, minute, second, microsecond)."""
        global _clock
        if at is None:
            raise NotImplementedError
        from engram.clock import days_from_civil

        assert len(at) == 8
        year, month, day, _, hour, minute, second, _ = at
        days = days_from_civil(year, month, day) - days_from_civil(2000, 1, 1)
        _clock = days * 86400 + hour * 3600 + minute * 60 + second, world.now


def seconds() -> int:
    """What time.time() gives: seconds since 2000."""
    return _clock[0] + (world.now - _clock[1]) // 1000
