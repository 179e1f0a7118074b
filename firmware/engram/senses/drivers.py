"""Reads the sensors of config.json: a class for each kind, made when its sense is sampled first.

`await read()` gives a number, or None if there is nothing to tell now. What fails raises: the
drivers of MicroPython raise even Exception itself.
"""

import gc
from binascii import hexlify

from engram.compat import const, sleep_ms, ticks_diff, ticks_ms
from engram.errors import ArgumentError

_CONVERSION_MS = const(750)  # a DS18B20's longest
_FRESH_MS = const(2000)  # a measurement serves all senses of a sensor that are read within this time
_BME280 = const(0x76)  # its address on the bus unless the sense has another


def make_driver(config, shared: dict, pins):
    """Return the driver of a SenseConfig; `shared` keeps the sensors that several senses read.

    `pins` are the board's Pins.
    """
    if config.kind == "adc" or config.what == "state":
        return Level(config, pins)
    if config.kind == "pin":
        return Edges(config, pins)
    if config.kind in _FIGURES:
        return Figure(_FIGURES[config.kind]())
    key = config.kind, config.pins, config.options.get("address", _BME280)
    if key not in shared:
        shared[key] = _SENSORS[config.kind](config)
    return Part(shared[key], config)


class Figure:
    """A kind that one function reads."""

    has_news = False
    """True if it is to be read at once."""

    def __init__(self, read):
        self._read = read

    async def read(self):
        return self._read()


class Level(Figure):
    """A pin's state, or what its scale makes of millivolts."""

    def __init__(self, config, pins):
        super().__init__(lambda: pins.number(config.pins[0]))
        self._is_state = config.what == "state"
        self._last = None

    @property
    def has_news(self) -> bool:
        return self._is_state and self._read() != self._last

    async def read(self):
        self._last = self._read()
        return self._last


class Edges(Figure):
    """The number of times that a pin changed, or rose, since it was read before."""

    def __init__(self, config, pins):
        super().__init__(self._take)
        self._edges = 0
        pins.on_edge(config.pins[0], self._on_edge, config.what == "count")

    def _on_edge(self, _) -> None:
        self._edges += 1

    def _take(self) -> int:
        edges = self._edges
        self._edges -= edges  # one that comes meanwhile stays
        return edges


class Part(Figure):
    """One of the things that a sensor measures."""

    def __init__(self, sensor, config):
        super().__init__(lambda: sensor.value(config))
        self._sensor = sensor

    async def read(self):
        sensor = self._sensor
        if sensor.measured is None or ticks_diff(ticks_ms(), sensor.measured) >= _FRESH_MS:
            sensor.measured = None
            await sensor.measure()
            sensor.measured = ticks_ms()
        return self._read()


def _chip_temperature():
    import esp32  # absent from computers

    if hasattr(esp32, "mcu_temperature"):
        return esp32.mcu_temperature  # pyright: ignore  not in the stubs
    return lambda: (esp32.raw_temperature() - 32) / 1.8  # the first ESP32


def _wifi_signal():
    import network  # absent from computers

    station = network.WLAN(network.STA_IF)
    return lambda: station.status("rssi") if station.isconnected() else None


def _heap():
    return lambda: gc.mem_free() // 1024 if hasattr(gc, "mem_free") else None  # pyright: ignore


class Dht:
    """A DHT11 or DHT22; its measurement blocks for 25 ms, which its protocol needs."""

    measured = None

    def __init__(self, config):
        import dht  # absent from computers
        from machine import Pin  # likewise

        self._dht = (dht.DHT11 if config.kind == "dht11" else dht.DHT22)(Pin(config.pins[0]))

    async def measure(self) -> None:
        self._dht.measure()

    def value(self, config):
        return self._dht.temperature() if config.what == "temperature" else self._dht.humidity()


class Ds18b20:
    """The thermometers of a one-wire bus."""

    measured = None

    def __init__(self, config):
        import ds18x20  # absent from computers
        import onewire  # likewise
        from machine import Pin  # likewise

        self._bus = ds18x20.DS18X20(onewire.OneWire(Pin(config.pins[0])))
        self._roms = {}

    async def measure(self) -> None:
        self._roms = self._roms or {str(hexlify(rom), "ascii"): rom for rom in map(bytes, self._bus.scan())}
        if not self._roms:
            raise ArgumentError("pin", "no DS18B20 answers there: check its wires and the resistor.")
        self._bus.convert_temp()
        await sleep_ms(_CONVERSION_MS)

    def value(self, config):
        """Return the temperature of the one with the sense's address, or of the only one."""
        rom, names = config.options.get("rom"), ", ".join(sorted(self._roms))
        if rom is None and len(self._roms) > 1:
            raise ArgumentError("rom", "must say which: there are %s." % names)
        rom = rom or names
        if rom not in self._roms:
            self._roms = {}
            raise ArgumentError("rom", "%s does not answer, only %s." % (rom, names))
        return self._bus.read_temp(self._roms[rom])


class Bme280:
    """A BME280 over I2C, by the module bme280_float, bme280_int or bme280: none is a part of MicroPython."""

    measured = None

    def __init__(self, config):
        from machine import I2C, Pin  # absent from computers

        bus = I2C(0, scl=Pin(config.pins[0]), sda=Pin(config.pins[1]))
        self._sensor = _bme280_module().BME280(i2c=bus, address=config.options.get("address", _BME280))
        self._figures = (0, 0, 0)

    async def measure(self) -> None:
        self._figures = self._sensor.read_compensated_data()

    def value(self, config):
        """Return one of the three; modules that reckon in integers have hundredths, 256ths of a pascal and 1024ths."""
        at, parts, whole = _FIGURES_OF_BME280[config.what]
        figure = self._figures[at]
        return figure / (whole if isinstance(figure, float) else parts)


_FIGURES_OF_BME280 = {"temperature": (0, 100, 1), "pressure": (1, 25600, 100), "humidity": (2, 1024, 1)}


def _bme280_module():
    for name in ("bme280_float", "bme280_int", "bme280"):
        try:
            return __import__(name)
        except ImportError:
            pass
    raise ArgumentError("kind", "needs a module bme280 on the board; docs/guides/senses.md says which.")


_FIGURES = {"chip_temperature": _chip_temperature, "wifi_signal": _wifi_signal, "heap": _heap}
_SENSORS = {"dht11": Dht, "dht22": Dht, "ds18b20": Ds18b20, "bme280": Bme280}
