"""The modules of sensors: dht, onewire and ds18x20, as strict as the real ones are.

A DHT refuses to be asked twice within its pause, a DS18B20 has no temperature before its conversion is over.
"""

import sys

from fakes import world

ETIMEDOUT = 116

on_pins = {}
"""What is connected: by a pin's number the (temperature, humidity) of a DHT, or {address: temperature} of thermometers."""

faults = []
"""What the next reads raise, one each."""

conversions = 0

_CONVERSION_MS = 750
_PAUSE_MS = 2000
_measured = {}


def begin_anew() -> None:
    """Nothing is connected."""
    global conversions
    on_pins.clear()
    _measured.clear()
    del faults[:]
    conversions = 0


def _fail() -> None:
    if faults:
        raise faults.pop(0)


class _Dht:
    def __init__(self, pin):
        self._number = pin.id
        self._found = 0, 0

    def measure(self):
        assert world.now - _measured.get(self._number, -_PAUSE_MS) >= _PAUSE_MS, "a DHT needs its pause"
        _measured[self._number] = world.now
        _fail()
        if self._number not in on_pins:
            raise OSError(ETIMEDOUT)
        self._found = on_pins[self._number]

    def temperature(self):
        return self._found[0]

    def humidity(self):
        return self._found[1]


class _OneWire:
    def __init__(self, pin):
        self.number = pin.id


class _Ds18x20:
    def __init__(self, onewire):
        self._number = onewire.number
        self._ready_at = None

    def scan(self):
        return [bytearray(bytes.fromhex(rom)) for rom in sorted(on_pins.get(self._number, {}))]

    def convert_temp(self):
        global conversions
        conversions += 1
        self._ready_at = world.now + _CONVERSION_MS

    def read_temp(self, rom):
        assert self._ready_at is not None and world.now >= self._ready_at, "the conversion is not over"
        assert isinstance(rom, bytes) and len(rom) == 8
        _fail()
        thermometers = on_pins[self._number]
        if rom.hex() not in thermometers:
            raise Exception("CRC error")  # noqa: TRY002 as the real one does
        return thermometers[rom.hex()]


class _Module:
    """A module with what it is given."""

    def __init__(self, **names):
        for name, value in names.items():
            setattr(self, name, value)


def install() -> None:
    """Put the stand-ins in the place of the modules."""
    modules: dict = sys.modules
    modules["dht"] = _Module(DHT11=_Dht, DHT22=_Dht)
    modules["onewire"] = _Module(OneWire=_OneWire)
    modules["ds18x20"] = _Module(DS18X20=_Ds18x20)
