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
LINE = {"type": "string", "maxLength": 80, "format": "line"}
UNIT = {"type": "string", "maxLength": 8, "format": "line"}
WHO = {
    "anyOf": [
        {"type": "string", "enum": ["owner", "all"]},
        {"type": "array", "minItems": 1, "maxItems": 16, "items": {"type": "string"}},
    ]
}
"""The rule of those who may use a pin or a tool."""

_NAME_LONGEST = const(32)  # characters
_CODE_JSON = const("/code.json")
_CODE_JSON_LONGEST = const(16384)  # bytes
_RULES = {"pin": PIN, "mode": "out|in|pwm|adc", "who": WHO, "groups": "boolean", "note": LINE}
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

_NAME = const("a name has at most 32 characters, no space and no dot, begins with no digit and is not like m12.")
_FORBIDDEN = const(
    "%d is never allowed on this board: it belongs to the flash, the PSRAM, the boot or the serial line."
)

Pin = namedtuple("Pin", "name number mode pull freq safe invert scale unit who groups note")
"""One pin. A value is 0 or 1, in per cent for pwm, in millivolts for adc; `scale` is None or
[a, b]: a * millivolts + b."""


def parse_pins(table: dict, forbidden) -> list:
    """Return the Pins of config.json, by their names in order; ConfigError if one is wrong."""
    if len(table) > MOST:
        raise ConfigError("pins", "has %d pins, at most %d fit." % (len(table), MOST))
    pins = []
    for name in sorted(table):
        pin = parse_pin(name, table[name], forbidden)
        for other in pins:
            if other.number == pin.number:
                raise ConfigError("pins." + name, "is the same pin as %s." % other.name)
        pins.append(pin)
    return pins


def parse_pin(name: str, entry: dict, forbidden) -> Pin:
    """Return one Pin; ConfigError if it is wrong, or its number is one of `forbidden`."""
    if not _is_name(name):
        raise ConfigError("pins." + name, _NAME)
    try:
        check("mode", entry.get("mode"), _RULES["mode"])
        mode = entry["mode"]
        rules = dict(_RULES)
        rules.update(_MODES[mode])
        check_fields(entry, rules, ("pin",))
        check_allowed(entry["pin"], forbidden)
    except ArgumentError as error:
        raise ConfigError("pins." + name, str(error)) from None
    get = entry.get
    return Pin(
        name=name,
        number=entry["pin"],
        mode=mode,
        pull=get("pull", "none"),
        freq=get("freq", 1000),
        safe=get("safe", 0),
        invert=get("invert", False),
        scale=get("scale"),
        unit=get("unit", "mV" if mode == "adc" else ""),
        who=get("who", "owner"),
        groups=get("groups", False),
        note=get("note", ""),
    )


def check_allowed(number: int, forbidden) -> None:
    """ArgumentError if a pin is one of those that are never allowed."""
    if number in forbidden:
        raise ArgumentError("pin", _FORBIDDEN % number)


def forbidden_pins(folder: str):
    """Return the numbers that are never allowed on this board, as its deploy has written them."""
    code = read_json(folder + _CODE_JSON, _CODE_JSON_LONGEST)
    found = code.get("forbidden_pins")
    if not isinstance(found, list):
        raise ConfigError("pins", "need the board's list of pins that are never allowed: deploy Engram to it again.")
    return found


def read_json(path: str, longest: int) -> dict:
    """Return the JSON object in a file, {} if there is none."""
    try:
        found = text.loads(files.read(path, longest) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_name(name: str) -> bool:
    is_line = text.printable(name) == name and not [sign for sign in " .\n\t" if sign in name]
    return is_line and 0 < len(name) <= _NAME_LONGEST and not name[0].isdigit() and not is_memory_id(name)


def is_memory_id(name: str) -> bool:
    """Return True if a text is the id of a memory, such as m12."""
    return name[:1] == "m" and text.encode(name[1:]).isdigit()
