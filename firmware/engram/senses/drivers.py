"""What reads the sensors of config.json: a class for each kind, made when its sense is sampled first.

`read()` gives a number, or None if there is nothing to tell now; `await prepare()` is called before. What fails raises: the
drivers of MicroPython raise even Exception itself.
"""

import gc
from binascii import hexlify

from engram.compat import const, sleep_ms, ticks_diff, ticks_ms
from engram.errors import ArgumentError

_CONVERSION_MS = const(750)  # a DS18B20's longest
_FRESH_MS = const(2000)  # a measurement serves all senses of a sensor that are read within this time
_SAMPLES = const(4)  # of an ADC that one reading is the mean of


def make_driver(sense, shared: dict, read_pin):
    """The driver of a SenseConfig; sensors that tell several things are kept in `shared`, by kind and pins.

    `read_pin` gives the value of a pin of config.json by its name.
    """
    if sense.pin_name and sense.what in ("", "state"):
        return NamedPin(sense, read_pin)
    if sense.kind in _SENSORS:
        key = sense.kind, sense.pins
        if key not in shared:
            shared[key] = _SENSORS[sense.kind](sense)
        return Part(shared[key], sense)
    return _DRIVERS[sense.kind](sense)


class Driver:
    """A kind that tells one thing."""

    has_news = False
    """Whether it is to be read at once."""

    async def prepare(self) -> None:
        """Let a measurement be made, without blocking."""


class Adc(Driver):
    """The voltage at a pin in millivolts, or what its `scale` makes of it."""

    def __init__(self, sense):
        from machine import ADC, Pin  # absent from computers

        self._adc = ADC(Pin(sense.pins[0]), atten=ADC.ATTN_11DB)
        self._scale = sense.options.get("scale")

    def read(self):
        """The mean of a few conversions."""
        total = 0
        for _ in range(_SAMPLES):
            total += self._adc.read_uv()
        millivolts = total / (1000 * _SAMPLES)
        return self._scale[0] * millivolts + self._scale[1] if self._scale else millivolts


class NamedPin(Driver):
    """A pin of config.json's pins, which has been set up there."""

    def __init__(self, sense, read_pin):
        self._name = sense.pin_name
        self._is_state = sense.what == "state"
        self._read_pin = read_pin
        self._last = None

    @property
    def has_news(self) -> bool:
        """Whether the state has changed since it was read."""
        return self._is_state and self._read_pin(self._name) != self._last

    def read(self):
        """Its state, or what its scale makes of millivolts."""
        self._last = self._read_pin(self._name)
        return self._last


class DigitalPin(Driver):
    """A pin's state, or how often it changed, or rose, since it was read before."""

    def __init__(self, sense):
        from machine import Pin  # absent from computers

        pull = {"up": Pin.PULL_UP, "down": Pin.PULL_DOWN}.get(sense.options.get("pull", "none"))
        self._pin = Pin(sense.pins[0], Pin.IN, pull)  # pyright: ignore  None is no pull
        self._is_state = sense.what == "state"
        self._edges = 0
        rising = Pin.IRQ_FALLING if sense.options.get("invert") else Pin.IRQ_RISING
        trigger = rising if sense.what == "count" else Pin.IRQ_RISING | Pin.IRQ_FALLING
        self._pin.irq(self._on_edge, trigger)

    def _on_edge(self, _) -> None:
        self._edges += 1

    @property
    def has_news(self) -> bool:
        """Whether the state has changed since it was read."""
        return self._is_state and self._edges > 0

    def read(self) -> int:
        """The state, or the edges."""
        edges = self._edges
        self._edges -= edges  # one that comes meanwhile stays
        return self._pin.value() if self._is_state else edges


class ChipTemperature(Driver):
    """The temperature inside of the chip."""

    def __init__(self, _):
        import esp32  # absent from computers

        self._esp32 = esp32

    def read(self):
        """In °C; the first ESP32 has whole degrees Fahrenheit."""
        if hasattr(self._esp32, "mcu_temperature"):
            return self._esp32.mcu_temperature()  # pyright: ignore  not in the stubs
        return (self._esp32.raw_temperature() - 32) / 1.8


class WifiSignal(Driver):
    """How strong the access point is heard."""

    def __init__(self, _):
        import network  # absent from computers

        self._station = network.WLAN(network.STA_IF)

    def read(self):
        """In dBm; None without a connection."""
        return self._station.status("rssi") if self._station.isconnected() else None


class Heap(Driver):
    """The free heap."""

    def __init__(self, _):
        pass

    def read(self):
        """In KB."""
        return gc.mem_free() // 1024 if hasattr(gc, "mem_free") else None  # pyright: ignore


class Part(Driver):
    """One of the things that a sensor tells."""

    def __init__(self, sensor, sense):
        self._sensor = sensor
        self._sense = sense

    async def prepare(self) -> None:
        """Measure, unless another sense just let it."""
        sensor = self._sensor
        if sensor.measured is None or ticks_diff(ticks_ms(), sensor.measured) >= _FRESH_MS:
            sensor.measured = None
            await sensor.measure()
            sensor.measured = ticks_ms()

    def read(self):
        """What was measured."""
        return self._sensor.value(self._sense)


class Dht:
    """A DHT11 or DHT22; its measurement blocks for 25 ms, which its protocol needs."""

    measured = None

    def __init__(self, sense):
        import dht  # absent from computers
        from machine import Pin  # likewise

        self._dht = (dht.DHT11 if sense.kind == "dht11" else dht.DHT22)(Pin(sense.pins[0]))

    async def measure(self) -> None:
        """Ask the sensor."""
        self._dht.measure()

    def value(self, sense):
        """Its temperature or humidity."""
        return self._dht.temperature() if sense.what == "temperature" else self._dht.humidity()


class Ds18b20:
    """The thermometers of a one-wire bus."""

    measured = None

    def __init__(self, sense):
        import ds18x20  # absent from computers
        import onewire  # likewise
        from machine import Pin  # likewise

        self._bus = ds18x20.DS18X20(onewire.OneWire(Pin(sense.pins[0])))
        self._roms = []

    async def measure(self) -> None:
        """Let all convert, and wait for it."""
        self._roms = self._roms or [bytes(rom) for rom in self._bus.scan()]
        if not self._roms:
            raise ArgumentError("pin", "no DS18B20 answers there: check its wires and the resistor.")
        self._bus.convert_temp()
        await sleep_ms(_CONVERSION_MS)

    def value(self, sense):
        """The temperature of the one with the sense's address, or of the only one."""
        wanted = sense.options.get("rom")
        found = [str(hexlify(rom), "ascii") for rom in self._roms]
        if wanted is None and len(found) > 1:
            raise ArgumentError("rom", "must say which: there are " + ", ".join(found) + ".")
        if wanted is not None and wanted not in found:
            self._roms = []
            raise ArgumentError("rom", "%s does not answer, only %s." % (wanted, ", ".join(found)))
        return self._bus.read_temp(self._roms[found.index(wanted) if wanted else 0])


class Bme280:
    """A BME280 over I2C, by the module bme280_float, bme280_int or bme280: none is a part of MicroPython."""

    measured = None

    def __init__(self, sense):
        from machine import I2C, Pin  # absent from computers

        bus = I2C(0, scl=Pin(sense.pins[0]), sda=Pin(sense.pins[1]))
        self._sensor = _bme280_module().BME280(i2c=bus, address=sense.options.get("address", 0x76))
        self._figures = (0, 0, 0)

    async def measure(self) -> None:
        """Ask the sensor."""
        self._figures = self._sensor.read_compensated_data()

    def value(self, sense):
        """One of the three; modules that reckon in integers have hundredths, 256ths of a pascal and 1024ths."""
        at, parts, whole = {"temperature": (0, 100, 1), "pressure": (1, 25600, 100), "humidity": (2, 1024, 1)}[
            sense.what
        ]
        figure = self._figures[at]
        return figure / (whole if isinstance(figure, float) else parts)


def _bme280_module():
    for name in ("bme280_float", "bme280_int", "bme280"):
        try:
            return __import__(name)
        except ImportError:
            pass
    raise ArgumentError("kind", "needs a module bme280 on the board; docs/guides/senses.md says which.")


_DRIVERS = {
    "adc": Adc,
    "pin": DigitalPin,
    "chip_temperature": ChipTemperature,
    "wifi_signal": WifiSignal,
    "heap": Heap,
}
_SENSORS = {"dht11": Dht, "dht22": Dht, "ds18b20": Ds18b20, "bme280": Bme280}
"""Those that tell several things, or have several on one bus."""
