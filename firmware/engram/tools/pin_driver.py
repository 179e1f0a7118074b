"""Drivers that read and write one pin: the chip's by machine, or simulated ones."""

try:
    import machine
except ImportError:
    machine = None  # CPython

from engram.errors import ConfigError, EngramError
from engram.tools import pin_config

REFUSALS = (ValueError, OSError, TypeError, RuntimeError)
"""Errors of a refused pin; the last one if no PWM timer is left."""

_CONFIG = const("/config.json")
_CONFIG_LONGEST = const(8192)  # bytes, as in config.py
_FULL_DUTY = const(65535)
_SIMULATED_MV = const(1000)


def is_simulated() -> bool:
    """True without a chip: the unix port's machine module has no pins."""
    return not hasattr(machine, "Pin")


def open_driver(pin):
    """Return a pin's driver, outputs in their safe state; ConfigError."""
    if is_simulated():
        return SimulatedPin(pin)
    try:
        return _DRIVERS[pin.mode](pin)
    except REFUSALS as error:
        problem = "the chip refuses pin %d as %s: %s" % (pin.pin, pin.mode, error)
        raise ConfigError("pins." + pin.name, problem) from None


def make_safe() -> None:
    """Set outputs to their safe state, skipping bad settings, before or without the app."""
    table = pin_config.read_object(_CONFIG, _CONFIG_LONGEST).get("pins")
    try:
        forbidden = () if is_simulated() else pin_config.forbidden_pins("")
    except EngramError:
        return
    for name, entry in table.items() if isinstance(table, dict) else ():
        try:
            pin = pin_config.parse_pin(name, entry if isinstance(entry, dict) else {}, forbidden)
            if pin.mode in pin_config.OUTPUTS:
                open_driver(pin)
        except EngramError:
            pass


class SimulatedPin:
    def __init__(self, pin):
        self._value = _SIMULATED_MV if pin.mode == "adc" else pin.safe

    def read(self) -> int:
        return self._value

    def write(self, value: int) -> None:
        self._value = value

    def on_rise(self, handler) -> None:
        """Do nothing, as a command raises no interrupt."""


class _Output:
    """An output pin, possibly dimmed."""

    def __init__(self, pin):
        self._pin = pin
        self._value = pin.safe
        level = self._level(pin.safe)
        # The level goes with the direction: else the pin would be low for a moment.
        if pin.mode == "pwm":
            self._set = machine.PWM(machine.Pin(pin.pin), freq=pin.freq, duty_u16=level).duty_u16
        else:
            self._set = machine.Pin(pin.pin, machine.Pin.OUT, value=level).value

    def _level(self, value: int) -> int:
        if self._pin.mode == "pwm":
            return _FULL_DUTY * (100 - value if self._pin.invert else value) // 100
        return value ^ self._pin.invert

    def read(self) -> int:
        return self._value

    def write(self, value: int) -> None:
        self._set(self._level(value))
        self._value = value


class _In:
    def __init__(self, pin):
        pulls = {"up": machine.Pin.PULL_UP, "down": machine.Pin.PULL_DOWN, "none": None}
        self._invert = pin.invert
        self._pin = machine.Pin(pin.pin, machine.Pin.IN, pulls[pin.pull])  # type: ignore

    def read(self) -> int:
        return self._pin.value() ^ self._invert

    def on_rise(self, handler) -> None:
        self._pin.irq(handler, self._pin.IRQ_FALLING if self._invert else self._pin.IRQ_RISING)


class _Adc:
    def __init__(self, pin):
        self._adc = machine.ADC(machine.Pin(pin.pin), atten=machine.ADC.ATTN_11DB)  # to about 3.1 V

    def read(self) -> int:
        return self._adc.read_uv() // 1000


_DRIVERS = {"out": _Output, "pwm": _Output, "in": _In, "adc": _Adc}
