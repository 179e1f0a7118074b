"""Pins as config.json names them, checked in full: nothing but these is ever reached."""

from collections import namedtuple

from engram import files, text
from engram.compat import const
from engram.errors import ArgumentError, ConfigError
from engram.schema_check import check, check_fields

MOST = const(24)
"""Pins on one board."""

PIN = const("0..48")
"""The numbers that the pins of any chip have, as a rule of schema_check.py."""
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
    "adc": {
        "scale": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}},
        "unit": UNIT,
    },
}
"""The modes, and the fields that each has beside those of all."""

_WRONG_NAME = const("a name has at most 32 characters, no space and no dot, begins with no digit and is not like m12.")
_FORBIDDEN = const(
    "%d is never allowed on this board: it belongs to the flash, the PSRAM, the boot or the serial line."
)

Pin = namedtuple("Pin", "name pin mode pull freq safe invert scale unit")
"""One pin. A value is 0 or 1, in per cent for pwm, in millivolts for adc; `scale` is None or
[a, b]: a * millivolts + b."""

_DEFAULTS = {"pull": "none", "freq": 1000, "safe": 0, "invert": False, "scale": None}


def parse_pins(table: dict, forbidden) -> list:
    """Return the Pins of config.json, by their names in order; ConfigError if one is wrong."""
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
    """Return one Pin; ConfigError if it is wrong, or its number is one of `forbidden`."""
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
    """ArgumentError if a name could be taken for something else on a command line."""
    check("name", name, _NAME)
    if not name or name[0].isdigit() or is_memory_id(name) or " " in name or "." in name:
        raise ArgumentError("name", _WRONG_NAME)


def check_allowed(number: int, forbidden) -> None:
    """ArgumentError if a pin is one of those that are never allowed."""
    if number in forbidden:
        raise ArgumentError("pin", _FORBIDDEN % number)


def forbidden_pins(folder: str) -> list:
    """Return the numbers that are never allowed on this board, as its deploy has written them."""
    found = read_object(folder + _CODE_JSON, _CODE_JSON_LONGEST).get("forbidden_pins")
    if not isinstance(found, list):
        raise ConfigError("pins", "need the board's list of pins that are never allowed: deploy Engram to it again.")
    return found


def read_object(path: str, longest: int) -> dict:
    """Return the JSON object in a file, {} if there is none."""
    try:
        found = text.loads(files.read(path, longest) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def is_memory_id(name: str) -> bool:
    """Return True if a text is the id of a memory, such as m12."""
    return name[:1] == "m" and text.encode(name[1:]).isdigit()
