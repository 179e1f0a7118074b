"""The chip's pins behind machine, or simulated ones where there are none: each reads and writes one pin's value."""

try:
    import machine
except ImportError:
    machine = None  # CPython

from engram.compat import const
from engram.errors import ConfigError

REFUSALS = (ValueError, OSError, TypeError, RuntimeError)
"""Errors of a chip that refuses a pin; the last one if no timer is left for a PWM."""

_FULL_DUTY = const(65535)
_SIMULATED_MV = const(1000)


def is_simulated() -> bool:
    """Return True if this is no chip: the unix port has a module machine, too, but no pins."""
    return not hasattr(machine, "Pin")


def open_driver(pin):
    """Return the driver of a pin_config.Pin, an output in its safe state; ConfigError if the chip refuses it."""
    if is_simulated():
        return SimulatedPin(pin)
    try:
        return _DRIVERS[pin.mode](pin)
    except REFUSALS as error:
        raise ConfigError(
            "pins." + pin.name, "the chip refuses pin %d as %s: %s" % (pin.number, pin.mode, error)
        ) from None


class SimulatedPin:
    """Keeps a value."""

    def __init__(self, pin):
        self._value = _SIMULATED_MV if pin.mode == "adc" else pin.safe

    def read(self) -> int:
        """The value."""
        return self._value

    def write(self, value: int) -> None:
        """Set the value."""
        self._value = value

    def on_edge(self, handler, is_rising: bool) -> None:
        """Do nothing: what changes it is a command."""


class _Out:
    def __init__(self, pin):
        self._invert = pin.invert
        self._value = pin.safe
        # The level goes with the direction: else the pin would be low for a moment.
        self._pin = machine.Pin(pin.number, machine.Pin.OUT, value=pin.safe ^ pin.invert)

    def read(self) -> int:
        return self._value

    def write(self, value: int) -> None:
        self._pin.value(value ^ self._invert)
        self._value = value


class _In:
    def __init__(self, pin):
        pulls = {"up": machine.Pin.PULL_UP, "down": machine.Pin.PULL_DOWN, "none": None}
        self._invert = pin.invert
        self._pin = machine.Pin(pin.number, machine.Pin.IN, pulls[pin.pull])  # type: ignore

    def read(self) -> int:
        return self._pin.value() ^ self._invert

    def on_edge(self, handler, is_rising: bool) -> None:
        rising = self._pin.IRQ_FALLING if self._invert else self._pin.IRQ_RISING
        self._pin.irq(handler, rising if is_rising else self._pin.IRQ_RISING | self._pin.IRQ_FALLING)


class _Pwm:
    def __init__(self, pin):
        self._invert = pin.invert
        self._value = pin.safe
        self._pwm = machine.PWM(machine.Pin(pin.number), freq=pin.freq, duty_u16=self._duty(pin.safe))

    def _duty(self, value: int) -> int:
        return _FULL_DUTY * (100 - value if self._invert else value) // 100

    def read(self) -> int:
        return self._value

    def write(self, value: int) -> None:
        self._pwm.duty_u16(self._duty(value))
        self._value = value


class _Adc:
    def __init__(self, pin):
        self._adc = machine.ADC(machine.Pin(pin.number), atten=machine.ADC.ATTN_11DB)  # to about 3.1 V

    def read(self) -> int:
        return self._adc.read_uv() // 1000


_DRIVERS = {"out": _Out, "in": _In, "pwm": _Pwm, "adc": _Adc}
