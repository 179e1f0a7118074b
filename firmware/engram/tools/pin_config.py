"""The pins of config.json, fully checked; no other pin can be reached."""

from collections import namedtuple

from engram import files, text
from engram.errors import ArgumentError, ConfigError
from engram.schema_check import check, check_fields

MOST = const(24)

PIN = const("0..48")
"""Valid pin numbers of any chip, as a rule of schema_check.py."""
UNIT = {"type": "string", "maxLength": 8, "format": "line"}
OUTPUTS = ("out", "pwm")
_NAME = {"type": "string", "maxLength": 32, "format": "line"}
_CODE_JSON = const("/code.json")
_CODE_JSON_LONGEST = const(16384)  # bytes
_RULES = {"pin": PIN, "mode": "out|in|pwm|adc"}
_MODES = {
    "out": {"safe": "0..1", "invert": "boolean"},
    "in": {"pull": "up|down|none", "invert": "boolean"},
    "pwm": {"freq": "1..100000", "safe": "0..100", "invert": "boolean"},
    "adc": {"scale": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}, "unit": UNIT},
}
"""Fields of each mode besides the common ones."""

_WRONG_NAME = const("a name has at most 32 characters, no space and no dot, begins with no digit and is not like m12.")
_FORBIDDEN = "%d is never allowed on this board: it belongs to the flash, the PSRAM, the boot or the serial line."

Pin = namedtuple("Pin", "name pin mode pull freq safe invert scale unit")
"""One pin: 0 or 1, per cent (pwm) or millivolts (adc, with `scale` [a, b] as a * mV + b)."""

_DEFAULTS = {"pull": "none", "freq": 1000, "safe": 0, "invert": False, "scale": None}


def parse_pins(table: dict, forbidden) -> list:
    """Return the Pins of config.json in order of names; ConfigError."""
    if len(table) > MOST:
        raise ConfigError("pins", "has %d pins, at most %d fit." % (len(table), MOST))
    pins = []
    for name in sorted(table):
        pin = parse_pin(name, table[name], forbidden)
        for other in pins:
            if other.pin == pin.pin:
                raise ConfigError("pins." + name, "is the same pin as %s." % other.name)
        pins.append(pin)
    return pins


def parse_pin(name: str, entry: dict, forbidden) -> Pin:
    try:
        check_name(name)
        check("mode", entry.get("mode"), _RULES["mode"])
        rules = dict(_RULES)
        rules.update(_MODES[entry["mode"]])
        check_fields(entry, rules, ("pin",))
        check_allowed(entry["pin"], forbidden)
    except ArgumentError as error:
        raise ConfigError("pins." + name, str(error)) from None
    fields = dict(_DEFAULTS)
    fields["unit"] = "mV" if entry["mode"] == "adc" else ""
    fields.update(entry)
    return Pin(name=name, **fields)


def check_name(name: str) -> None:
    """Raise ArgumentError for an ambiguous name on a command line."""
    check("name", name, _NAME)
    if not name or name[0].isdigit() or is_memory_id(name) or " " in name or "." in name:
        raise ArgumentError("name", _WRONG_NAME)


def check_allowed(number: int, forbidden) -> None:
    if number in forbidden:
        raise ArgumentError("pin", _FORBIDDEN % number)


def forbidden_pins(folder: str) -> list:
    """Return the forbidden pin numbers, written by deploy."""
    found = read_object(folder + _CODE_JSON, _CODE_JSON_LONGEST).get("forbidden_pins")
    if not isinstance(found, list):
        raise ConfigError("pins", "need the board's list of pins that are never allowed: deploy Engram to it again.")
    return found


def read_object(path: str, longest: int) -> dict:
    return files.read_json(path, longest, dict) or {}


def is_memory_id(name: str) -> bool:
    """True for a memory's id such as m12."""
    return name[:1] == "m" and text.encode(name[1:]).isdigit()
