"""The senses of config.json, checked in full at the start: a mistake is named then, and not when the sensor is read."""

from collections import namedtuple

from engram.compat import const
from engram.errors import ArgumentError, ConfigError
from engram.senses import registry
from engram.senses.values import scale

MOST = const(16)
"""Senses of a board: the highest value of senses.most."""

_EVERY = const(60)  # seconds between two readings
_SHORTEST = const(1)
_LONGEST = const(86400)
_HIGHEST_PIN = const(48)
_FIELDS = const(" kind every unit decimals limits shared ")  # of each kind

_PINS = ("pin", "scl", "sda")
"""The fields that name pins: each that a kind has is to be there."""

_MORE = {
    "adc": "pin scale ",
    "pin": "pin pull what ",
    "dht11": "pin what ",
    "dht22": "pin what ",
    "ds18b20": "pin rom ",
    "bme280": "scl sda what address ",
}
"""Other fields of a kind."""

_CLIMATE = ("temperature", "humidity")
_WHAT = {
    "pin": ("state", "changes", "count"),
    "dht11": _CLIMATE,
    "dht22": _CLIMATE,
    "bme280": _CLIMATE + ("pressure",),
}
"""What a kind can measure; the first is the default."""

_UNITS = {
    "temperature": "°C", "humidity": "%", "pressure": "hPa",
    "adc": "mV", "chip_temperature": "°C", "ds18b20": "°C", "wifi_signal": "dBm", "heap": "KB",
}  # fmt: skip
"""By what is measured, or by the kind if that measures one thing."""

_WHOLE = ("pin", "wifi_signal", "heap")
"""Kinds whose readings are whole numbers."""

KINDS = ("adc", "pin", "chip_temperature", "dht11", "dht22", "ds18b20", "bme280", "wifi_signal", "heap", "code")

_SHARED_PIN = const("shares pin %d with %s: that takes the same kind and pull, and only one of changes or count.")

SenseConfig = namedtuple("SenseConfig", "name kind pins pin_name what every unit decimals limits options")
"""One sense of config.json: `pins` are numbers, `pin_name` is what config.json's pins call it, `options` are other fields."""


def names_numbers(table: dict) -> bool:
    """Whether a sense of config.json names a pin by its number."""
    return any(isinstance(entry.get(field), int) for entry in table.values() for field in _PINS)


def parse_senses(table: dict, named_pins: dict, forbidden, most: int) -> list:
    """Each SenseConfig of config.json by its name; ConfigError if one is wrong.

    A pin is a number, which may not be in `forbidden`, or a name of config.json's pins.
    """
    if len(table) > most:
        raise ConfigError("senses", "has %d senses, at most %d fit (senses.most)." % (len(table), most))
    found = []
    for name in sorted(table):
        sense = _parse_sense(name, table[name], named_pins, forbidden)
        for other in found:
            if registry.key_of(other.name) == registry.key_of(name):
                raise ConfigError("senses." + name, "is the same name as %s." % other.name)
            _check_beside(sense, other)
        found.append(sense)
    return found


def _parse_sense(name: str, entry: dict, named_pins: dict, forbidden) -> SenseConfig:
    key = "senses." + name
    try:
        if registry.check_name(name) != name:
            raise ArgumentError("name", "has needless spaces.")
        kind = entry.get("kind")
        if kind not in KINDS:
            raise ArgumentError("kind", "must be one of " + ", ".join(KINDS) + ".")
        _check_fields(kind, entry)
        named = entry.get("pin")
        pin_name = named if isinstance(named, str) else ""
        if pin_name:
            entry = _with_pin(kind, entry, named_pins.get(pin_name))
        fields = [field for field in _PINS if field in _MORE.get(kind, "").split()]
        pins = [_pin(field, entry.get(field), named_pins, forbidden, pin_name) for field in fields]
        each = _WHAT.get(kind, ("",))
        what = entry.get("what", each[0])
        if what not in each:
            raise ArgumentError("what", "must be one of " + ", ".join(sorted(each)) + ".")
        unit = registry.check_unit(entry.get("unit", _UNITS.get(what or kind, "")))
        decimals = _whole("decimals", entry.get("decimals", 0 if kind in _WHOLE else 1), 0, registry.MOST_DECIMALS)
        every = _whole("every", entry.get("every", _EVERY), _SHORTEST, _LONGEST)
        limits = _limits(entry, decimals)
        options = {field: entry[field] for field in ("scale", "pull", "invert", "rom", "address") if field in entry}
        _check_options(options)
        if not isinstance(entry.get("shared", False), bool):
            raise ArgumentError("shared", "must be true or false.")
        return SenseConfig(name, kind, tuple(pins), pin_name, what, every, unit, decimals, limits, options)
    except ArgumentError as error:
        raise ConfigError(key, str(error)) from None


def _check_beside(sense, other) -> None:
    """ConfigError if two senses cannot share a pin: it serves one kind of sensor, and has one pull and one handler of edges."""
    uses = [(each.kind, each.pins, each.options.get("pull", "none")) for each in (sense, other)]
    both_count = sense.kind == "pin" and "state" not in (sense.what, other.what)
    for pin in sense.pins:
        if pin in other.pins and (both_count or uses[0] != uses[1]):
            raise ConfigError("senses." + sense.name, _SHARED_PIN % (pin, other.name))


def _check_fields(kind: str, entry: dict) -> None:
    known = _FIELDS + _MORE.get(kind, "")
    for field in entry:
        if " " + field + " " not in known:
            raise ArgumentError(field, "is no field of the kind %s: it takes %s." % (kind, ", ".join(known.split())))


def _with_pin(kind: str, entry: dict, named) -> dict:
    """A sense's fields with those of the pin of config.json that it names."""
    mode = {"adc": "adc", "pin": "in"}.get(kind)
    if named is None or named.get("mode") != mode:
        wanted = "a pin of config.json's pins with the mode %s" % mode if mode else "a number"
        raise ArgumentError("pin", "must be %s." % wanted)
    if "scale" in entry and "scale" in named:
        raise ArgumentError("scale", "is given by the pin already: remove one of the two.")
    given = {field: named[field] for field in ("unit", "pull", "invert") if field in named}
    given.update(entry)
    given["pin"] = named.get("pin")
    return given


def _pin(field: str, value, named_pins: dict, forbidden, pin_name: str) -> int:
    number = _whole(field, value, 0, _HIGHEST_PIN)
    if pin_name:
        return number  # checked where pins are
    if number in forbidden:
        problem = "%d is never allowed on this board: it belongs to the flash, the PSRAM, the boot or the serial line."
        raise ArgumentError(field, problem % number)
    for name, pin in named_pins.items():
        if pin.get("pin") == number:
            raise ArgumentError(field, "%d is the pin %s: give that name." % (number, name))
    return number


def _whole(field: str, value, lowest: int, highest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise ArgumentError(field, "must be a whole number from %d to %d." % (lowest, highest))
    return value


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value - value == 0


def _limits(entry: dict, decimals: int) -> dict:
    limits = entry.get("limits", {})
    is_right = isinstance(limits, dict) and all(field in ("low", "high") for field in limits)
    if not is_right or not all(_is_number(value) for value in limits.values()):
        raise ArgumentError("limits", 'must be an object such as {"low": 5, "high": 30}.')
    for side, value in limits.items():
        try:
            scale(value, decimals)
        except (ArgumentError, OverflowError):
            raise ArgumentError(
                "limits", "have a %s one that is too large for %d decimals." % (side, decimals)
            ) from None
    if "low" in limits and "high" in limits and limits["low"] >= limits["high"]:
        raise ArgumentError("limits", "have a low one that is not below the high one.")
    return limits


def _check_options(options: dict) -> None:
    scale = options.get("scale", [1, 0])
    if not isinstance(scale, list) or len(scale) != 2 or not all(_is_number(value) for value in scale):
        raise ArgumentError("scale", "must be two numbers [a, b]: the reading is a * millivolts + b.")
    if options.get("pull", "none") not in ("up", "down", "none"):
        raise ArgumentError("pull", "must be one of up, down, none.")
    rom = options.get("rom", "00")
    if not isinstance(rom, str) or len(rom) not in (2, 16) or not all(sign in "0123456789abcdef" for sign in rom):
        raise ArgumentError("rom", "must be 16 hexadecimal digits in lower case.")
    _whole("address", options.get("address", 0x76), 0x08, 0x77)
