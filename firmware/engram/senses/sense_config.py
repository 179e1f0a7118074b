"""The senses of config.json, checked in full at the start."""

from collections import namedtuple

from engram.errors import ArgumentError, ConfigError
from engram.memory.access import tag
from engram.schema_check import check, check_fields
from engram.senses.values import check_name
from engram.tools.pin_config import PIN, UNIT, check_allowed

MOST = const(16)

_RULES = {"kind": "string", "every": "1..86400", "unit": UNIT, "decimals": "0..3"}
_CLIMATE = const("temperature|humidity")
_NAMED = {"type": "string", "description": "the name of one of config.json's pins"}
_KINDS = {
    "adc": {"pin": _NAMED},
    "pin": {"pin": _NAMED, "what": "state|count"},
    "dht11": {"pin": PIN, "what": _CLIMATE},
    "dht22": {"pin": PIN, "what": _CLIMATE},
    "ds18b20": {"pin": PIN, "rom": {"type": "string", "maxLength": 16}},
    "code": {},
}
"""Fields of each kind besides the common ones; `what` begins with its default."""

_MODES = {"adc": "adc", "pin": "in"}
"""The mode of the pin that a kind reads."""
_UNITS = {"temperature": "°C", "humidity": "%", "ds18b20": "°C"}

SenseConfig = namedtuple("SenseConfig", "name kind pin what every unit decimals rom")
"""One sense; `pin` is a number, or a pin's name for the kinds of _MODES."""


def parse_senses(table: dict, named_pins: dict, forbidden) -> list:
    if len(table) > MOST:
        raise ConfigError("senses", "has %d senses, at most %d fit." % (len(table), MOST))
    found = {}
    for name in sorted(table):
        try:
            key = tag(check_name(name))
            if key in found:
                raise ArgumentError("name", "is the same name as %s." % found[key].name)
            found[key] = _parse_sense(name, table[name], named_pins, forbidden)
        except ArgumentError as error:
            raise ConfigError("senses." + name, str(error)) from None
    return list(found.values())


def _parse_sense(name: str, entry: dict, named_pins: dict, forbidden) -> SenseConfig:
    check("kind", entry.get("kind"), "|".join(sorted(_KINDS)))
    kind = entry["kind"]
    own = _KINDS[kind]
    rules = dict(_RULES)
    rules.update(own)
    check_fields(entry, rules, ("pin",) if "pin" in own else ())
    pin, named = entry.get("pin"), {}
    if kind in _MODES:
        named = _named_pin(pin, named_pins, _MODES[kind])
    elif "pin" in own:
        _check_number(pin, named_pins, forbidden)
    what = entry.get("what", own.get("what", "").split("|")[0])
    unit = _UNITS.get(what or kind) or named.get("unit", "mV" if kind == "adc" else "")
    return SenseConfig(
        name=name,
        kind=kind,
        pin=pin,
        what=what,
        every=entry.get("every", 60),
        unit=entry.get("unit", unit),
        decimals=entry.get("decimals", 0 if kind == "pin" else 1),
        rom=entry.get("rom"),
    )


def _named_pin(name, named_pins: dict, mode: str) -> dict:
    pin = named_pins.get(name)
    if pin is None or pin.get("mode") != mode:
        raise ArgumentError("pin", "must be the name of one of config.json's pins with the mode %s." % mode)
    return pin


def _check_number(number, named_pins: dict, forbidden) -> None:
    check_allowed(number, forbidden)
    for name, pin in named_pins.items():
        if pin.get("pin") == number:
            raise ArgumentError("pin", "%d is the pin %s: choose another one." % (number, name))
