"""The senses of config.json, checked in full at the start."""

from collections import namedtuple

from engram.compat import const
from engram.errors import ArgumentError, ConfigError
from engram.schema_check import check, check_fields
from engram.senses.values import check_name, key_of, scale
from engram.tools.pin_config import PIN, UNIT, check_allowed

MOST = const(16)
"""Senses of a board: the highest value of senses.most."""

_LIMITS = {"type": "object", "properties": {"low": "number", "high": "number"}, "description": 'such as {"low": 5}'}
_RULES = {
    "kind": "string", "every": "1..86400", "unit": UNIT, "decimals": "0..3", "limits": _LIMITS, "shared": "boolean",
}  # fmt: skip
_CLIMATE = const("temperature|humidity")
_NAMED = {"type": "string", "description": "the name of one of config.json's pins"}
_KINDS = {
    "adc": {"pin": _NAMED},
    "pin": {"pin": _NAMED, "what": "state|changes|count"},
    "chip_temperature": {},
    "dht11": {"pin": PIN, "what": _CLIMATE},
    "dht22": {"pin": PIN, "what": _CLIMATE},
    "ds18b20": {"pin": PIN, "rom": {"type": "string", "maxLength": 16}},
    "bme280": {"scl": PIN, "sda": PIN, "what": _CLIMATE + "|pressure", "address": "8..119"},
    "wifi_signal": {},
    "heap": {},
    "code": {},
}
"""The kinds, and the fields that each has beside those of all; `what` is first what it is by default."""

_MODES = {"adc": "adc", "pin": "in"}
"""The mode of the pin that a kind reads."""
_UNITS = {
    "temperature": "°C", "humidity": "%", "pressure": "hPa",
    "chip_temperature": "°C", "ds18b20": "°C", "wifi_signal": "dBm", "heap": "KB",
}  # fmt: skip
_WHOLE = ("pin", "wifi_signal", "heap")
"""Kinds whose readings are whole numbers."""

SenseConfig = namedtuple("SenseConfig", "name kind pins what every unit decimals limits shared options")
"""One sense: `pins` are numbers, or the name of a pin for the kinds of _MODES; `options` are its
fields as they are written."""


def parse_senses(table: dict, named_pins: dict, forbidden, most: int) -> list:
    """Return each SenseConfig of config.json by its name; ConfigError if one is wrong."""
    if len(table) > most:
        raise ConfigError("senses", "has %d senses, at most %d fit (senses.most)." % (len(table), most))
    found = []
    for name in sorted(table):
        try:
            sense = _parse_sense(name, table[name], named_pins, forbidden)
            for other in found:
                _check_beside(sense, other)
        except ArgumentError as error:
            raise ConfigError("senses." + name, str(error)) from None
        found.append(sense)
    return found


def _parse_sense(name: str, entry: dict, named_pins: dict, forbidden) -> SenseConfig:
    if check_name(name) != name:
        raise ArgumentError("name", "has needless spaces.")
    check("kind", entry.get("kind"), "|".join(sorted(_KINDS)))
    kind = entry["kind"]
    more = _KINDS[kind]
    rules = dict(_RULES)
    rules.update(more)
    fields = [field for field in ("pin", "scl", "sda") if field in more]
    check_fields(entry, rules, fields)
    pins = tuple([entry[field] for field in fields])
    named = {}
    for pin in pins:
        if kind in _MODES:
            named = _named_pin(pin, named_pins, _MODES[kind])
        else:
            _check_number(pin, named_pins, forbidden)
    what = entry.get("what", more.get("what", "").split("|")[0])
    unit = entry.get("unit", _UNITS.get(what or kind) or named.get("unit", "mV" if kind == "adc" else ""))
    decimals = entry.get("decimals", 0 if kind in _WHOLE else 1)
    limits = entry.get("limits", {})
    _check_limits(limits, decimals)
    return SenseConfig(
        name=name,
        kind=kind,
        pins=pins,
        what=what,
        every=entry.get("every", 60),
        unit=unit,
        decimals=decimals,
        limits=limits,
        shared=entry.get("shared", False),
        options=entry,
    )


def _named_pin(name: str, named_pins: dict, mode: str) -> dict:
    pin = named_pins.get(name)
    if pin is None or pin.get("mode") != mode:
        raise ArgumentError("pin", "must be the name of one of config.json's pins with the mode %s." % mode)
    return pin


def _check_number(number: int, named_pins: dict, forbidden) -> None:
    check_allowed(number, forbidden)
    for name, pin in named_pins.items():
        if pin.get("pin") == number:
            raise ArgumentError("pin", "%d is the pin %s: choose another one." % (number, name))


def _check_limits(limits: dict, decimals: int) -> None:
    for value in limits.values():
        try:
            scale(value, decimals)
        except (ArgumentError, OverflowError):
            raise ArgumentError("limits", "are too large for %d decimals." % decimals) from None
    if "low" in limits and "high" in limits and limits["low"] >= limits["high"]:
        raise ArgumentError("limits", "must have a low one that is below the high one.")


def _check_beside(sense, other) -> None:
    """ArgumentError if two senses cannot share a name, or a pin."""
    if key_of(other.name) == key_of(sense.name):
        raise ArgumentError("name", "is the same name as %s." % other.name)
    is_one_part = (sense.kind, sense.pins) == (other.kind, other.pins)
    both_count = sense.kind == "pin" and "state" not in (sense.what, other.what)
    for pin in sense.pins:
        if pin in other.pins and (both_count or not is_one_part):
            raise ArgumentError("pin", "%s is read by %s already, in another way." % (pin, other.name))
