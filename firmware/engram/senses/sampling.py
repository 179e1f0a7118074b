"""Reads the sensors of config.json in one task, making each driver at its first reading. Failures raise,
even plain Exception from MicroPython's drivers.
"""

from binascii import hexlify

from engram import diag
from engram.compat import sleep_ms, ticks_add, ticks_diff, ticks_ms
from engram.errors import ArgumentError

_LOOK_MS = const(1000)  # between two looks at pins, which are read when they change
_CONVERSION_MS = const(750)  # a DS18B20's longest
_FRESH_MS = const(2000)  # a measurement serves all senses of a sensor that are read within this time


class Sampling:
    """A sampler of sensors at their own paces; `pins` are the board's Pins."""

    def __init__(self, senses, configs: list, pins):
        self._senses = senses
        self._pins = pins
        self._samplers = [_Sampler(config) for config in configs]
        self._shared = {}

    async def run(self) -> None:
        """Read each sensor when due, forever."""
        while True:
            for sampler in self._samplers:
                await self._read_if_due(sampler)
            now = ticks_ms()
            left = [ticks_diff(sampler.due, now) for sampler in self._samplers]
            await sleep_ms(max(1, min([_LOOK_MS] + left)))

    async def _read_if_due(self, sampler) -> None:
        config = sampler.config
        try:
            if not sampler.is_due():
                return
            sampler.set_next()
            if sampler.driver is None:
                sampler.driver = self._make_driver(config)
            value = await sampler.driver.read(config)
            if value is not None:
                self._senses.observe(config.name, value, config.unit)
        except Exception as error:  # noqa: BLE001 MicroPython's drivers of sensors raise it: wrong checksums, no answer
            if not sampler.has_failed:
                sampler.has_failed = True
                problem = str(error) or type(error).__name__
                diag.warning("senses", "%s cannot be read: %s; trying on" % (config.name, problem))
            return
        if sampler.has_failed:
            sampler.has_failed = False
            diag.info("senses", "%s is read again" % config.name)

    def _make_driver(self, config):
        if config.kind in ("adc", "pin"):
            return (Edges if config.what == "count" else Level)(config, self._pins)
        key = config.kind, config.pin
        if key not in self._shared:
            self._shared[key] = (Ds18b20 if config.kind == "ds18b20" else Dht)(config)
        return self._shared[key]


class _Sampler:
    """A sense's sensor and its next reading time."""

    def __init__(self, config):
        self.config = config
        self.driver = None
        self.has_failed = False
        self.due = ticks_ms()

    def is_due(self) -> bool:
        return ticks_diff(ticks_ms(), self.due) >= 0 or (self.driver is not None and self.driver.has_news)

    def set_next(self) -> None:
        """Schedule the next multiple of the pace, skipping missed ones."""
        now, pace = ticks_ms(), 1000 * self.config.every
        late = ticks_diff(now, self.due)
        if late >= 0:
            self.due = ticks_add(self.due, (late // pace + 1) * pace)


class Level:
    def __init__(self, config, pins):
        self._read = lambda: pins.number(config.pin)
        self._is_state = config.what == "state"
        self._last = None

    @property
    def has_news(self) -> bool:
        """True if it should be read at once."""
        return self._is_state and self._read() != self._last

    async def read(self, _config):
        self._last = self._read()
        return self._last


class Edges:
    has_news = False

    def __init__(self, config, pins):
        self._edges = 0
        pins.on_rise(config.pin, self._on_rise)

    def _on_rise(self, _) -> None:
        self._edges += 1

    async def read(self, _config) -> int:
        edges = self._edges
        self._edges -= edges  # one that comes meanwhile stays
        return edges


class Sensor:
    """A sensor with one measurement for all senses read soon after."""

    has_news = False
    measured = None

    async def read(self, config):
        if self.measured is None or ticks_diff(ticks_ms(), self.measured) >= _FRESH_MS:
            self.measured = None
            await self.measure()  # pyright: ignore[reportAttributeAccessIssue]  each sensor's own
            self.measured = ticks_ms()
        return self.value(config)  # pyright: ignore[reportAttributeAccessIssue]  likewise


class Dht(Sensor):
    """A DHT11 or DHT22; a measurement blocks for 25 ms."""

    def __init__(self, config):
        import dht  # absent from computers
        from machine import Pin  # likewise

        self._dht = (dht.DHT11 if config.kind == "dht11" else dht.DHT22)(Pin(config.pin))

    async def measure(self) -> None:
        self._dht.measure()

    def value(self, config):
        return self._dht.temperature() if config.what == "temperature" else self._dht.humidity()


class Ds18b20(Sensor):
    def __init__(self, config):
        import ds18x20  # absent from computers
        import onewire  # likewise
        from machine import Pin  # likewise

        self._bus = ds18x20.DS18X20(onewire.OneWire(Pin(config.pin)))
        self._roms = {}

    async def measure(self) -> None:
        self._roms = self._roms or {str(hexlify(rom), "ascii"): rom for rom in map(bytes, self._bus.scan())}
        if not self._roms:
            raise ArgumentError("pin", "no DS18B20 answers there: check its wires and the resistor.")
        self._bus.convert_temp()
        await sleep_ms(_CONVERSION_MS)

    def value(self, config):
        """Return the temperature at the sense's address, or of the only thermometer."""
        names = ", ".join(sorted(self._roms))
        if config.rom is None and len(self._roms) > 1:
            raise ArgumentError("rom", "must say which: there are %s." % names)
        rom = config.rom or names
        if rom not in self._roms:
            self._roms = {}
            raise ArgumentError("rom", "%s does not answer, only %s." % (rom, names))
        return self._bus.read_temp(self._roms[rom])
