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
_BME280 = const(0x76)  # its address on the bus unless the sense has another


def make_driver(sense, shared: dict, read_pin):
    """The driver of a SenseConfig; `shared` keeps what several senses read, by kind, pins and address.

    `read_pin` gives the value of a pin of config.json by its name.
    """
    is_level = sense.what in ("", "state")
    if sense.pin_name and is_level:
        return Level(sense, lambda: read_pin(sense.pin_name))
    make = _SHARED.get(sense.kind)
    if make is None:
        return _DRIVERS[sense.kind](sense)
    key = sense.kind, sense.pins, sense.options.get("address", _BME280)
    if key not in shared:
        shared[key] = make(sense)
    if sense.kind == "adc":
        return Level(sense, shared[key])
    if sense.kind == "pin":
        return Level(sense, shared[key].value) if is_level else Edges(sense, shared[key])
    return Part(shared[key], sense)


class Driver:
    """A kind that tells one thing."""

    has_news = False
    """Whether it is to be read at once."""

    async def prepare(self) -> None:
        """Let a measurement be made, without blocking."""


def _voltage(sense):
    """What reads the voltage at a pin in millivolts: the mean of a few conversions."""
    from machine import ADC, Pin  # absent from computers

    adc = ADC(Pin(sense.pins[0]), atten=ADC.ATTN_11DB)

    def read():
        total = 0
        for _ in range(_SAMPLES):
            total += adc.read_uv()
        return total / (1000 * _SAMPLES)

    return read


class Level(Driver):
    """A pin's state, or its millivolts and what the sense's `scale` makes of them; read() gives either, or None."""

    def __init__(self, sense, read):
        self._is_state = sense.what == "state"
        self._scale = sense.options.get("scale")
        self._read = read
        self._last = None

    @property
    def has_news(self) -> bool:
        """Whether the state has changed since it was read."""
        return self._is_state and self._read() != self._last

    def read(self):
        """The state, or what the scale makes of millivolts."""
        self._last = value = self._read()
        return value if value is None or not self._scale else self._scale[0] * value + self._scale[1]


def _input(sense):
    """The Pin of a sense."""
    from machine import Pin  # absent from computers

    pull = {"up": Pin.PULL_UP, "down": Pin.PULL_DOWN}.get(sense.options.get("pull", "none"))
    return Pin(sense.pins[0], Pin.IN, pull)  # pyright: ignore  None is no pull


class Edges(Driver):
    """How often a pin changed, or rose, since it was read before. A pin has one handler, and so one of these."""

    def __init__(self, sense, pin):
        self._edges = 0
        rising = pin.IRQ_FALLING if sense.options.get("invert") else pin.IRQ_RISING
        pin.irq(self._on_edge, rising if sense.what == "count" else pin.IRQ_RISING | pin.IRQ_FALLING)

    def _on_edge(self, _) -> None:
        self._edges += 1

    def read(self) -> int:
        """The edges."""
        edges = self._edges
        self._edges -= edges  # one that comes meanwhile stays
        return edges


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
        self._sensor = _bme280_module().BME280(i2c=bus, address=sense.options.get("address", _BME280))
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


_DRIVERS = {"chip_temperature": ChipTemperature, "wifi_signal": WifiSignal, "heap": Heap}
_SHARED = {"adc": _voltage, "pin": _input, "dht11": Dht, "dht22": Dht, "ds18b20": Ds18b20, "bme280": Bme280}
"""What several senses read: sensors that measure several things, or have several on one bus, and pins."""
