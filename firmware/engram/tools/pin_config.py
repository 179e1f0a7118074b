"""Pins as config.json names them, checked in full: nothing but these is ever reached."""

from collections import namedtuple

from engram import files, text
from engram.compat import const
from engram.errors import ArgumentError, ConfigError
from engram.tools.own_tool import check_who

MOST = const(24)
"""Pins on one board."""

_NAME_LONGEST = const(32)  # characters
_UNIT_LONGEST = const(8)
_NOTE_LONGEST = const(80)
_HIGHEST = const(48)  # the highest number that any chip has
_FREQ_HIGHEST = const(100_000)
_CODE_JSON = const("/code.json")
_CODE_JSON_LONGEST = const(16384)  # bytes
_FIELDS = const(" pin mode who groups note ")
_MODES = const((
    ("out", " safe invert "),
    ("in", " pull invert "),
    ("pwm", " freq safe invert "),
    ("adc", " scale unit "),
))  # fmt: skip
"""The modes, and the fields that each has beside those of all."""

Pin = namedtuple("Pin", "name number mode pull freq safe invert scale unit who groups note")
"""One pin. A value is 0 or 1, in per cent for pwm, in millivolts for adc; `scale` is None or (a, b): a * millivolts + b."""


def parse_pins(table: dict, forbidden) -> list:
    """The Pins of config.json, by their names in order; ConfigError if one is wrong or its number is in `forbidden`."""
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
    """One Pin; ConfigError if it is wrong."""
    key = "pins." + name
    _check_name(key, name)
    mode = entry.get("mode")
    _check_fields(key, entry, mode)
    number = _whole(key, entry, "pin", None, 0, _HIGHEST)
    if number in forbidden:
        problem = (
            "pin %d is never allowed on this board: it belongs to the flash, the PSRAM, the boot or the serial line."
        )
        raise ConfigError(key, problem % number)
    pull = entry.get("pull", "none")
    if pull not in ("up", "down", "none"):
        raise ConfigError(key, "pull must be one of up, down, none.")
    return Pin(
        name,
        number,
        mode,
        pull,
        _whole(key, entry, "freq", 1000, 1, _FREQ_HIGHEST),
        _whole(key, entry, "safe", 0, 0, 100 if mode == "pwm" else 1),
        _flag(key, entry, "invert"),
        _scale(key, entry.get("scale")),
        _short(key, entry, "unit", "mV" if mode == "adc" else "", _UNIT_LONGEST),
        _who(key, entry),
        _flag(key, entry, "groups"),
        _short(key, entry, "note", "", _NOTE_LONGEST),
    )


def forbidden_pins(folder: str):
    """The numbers that are never allowed on this board, as its deploy has written them; ConfigError if none has."""
    code = read_json(folder + _CODE_JSON, _CODE_JSON_LONGEST)
    found = code.get("forbidden_pins")
    if not isinstance(found, list):
        raise ConfigError("pins", "need the board's list of pins that are never allowed: deploy Engram to it again.")
    return found


def read_json(path: str, longest: int) -> dict:
    """The JSON object in a file, {} if there is none."""
    try:
        found = text.loads(files.read(path, longest) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _check_name(key: str, name: str) -> None:
    is_plain = 0 < len(name) <= _NAME_LONGEST and _is_line(name) and " " not in name and "." not in name
    if not is_plain or name[:1].isdigit() or is_memory_id(name):
        problem = "a name has at most %d characters, no space and no dot, begins with no digit and is not like m12."
        raise ConfigError(key, problem % _NAME_LONGEST)


def _check_fields(key: str, entry: dict, mode) -> None:
    for known, fields in _MODES:
        if mode == known:
            for field in entry:
                if " %s " % field not in _FIELDS + fields:
                    raise ConfigError(key, "has no %s in the mode %s." % (text.printable(field)[:_NAME_LONGEST], mode))
            return
    raise ConfigError(key, "mode must be one of out, in, pwm, adc.")


def is_memory_id(name: str) -> bool:
    """Whether a text is the id of a memory, such as m12."""
    return name[:1] == "m" and text.encode(name[1:]).isdigit()


def _is_line(value: str) -> bool:
    return text.printable(value) == value and "\n" not in value and "\t" not in value


def _whole(key: str, entry: dict, field: str, default, lowest: int, highest: int) -> int:
    value = entry.get(field, default)
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        raise ConfigError(key, "%s must be a number from %d to %d." % (field, lowest, highest))
    return value


def _flag(key: str, entry: dict, field: str) -> bool:
    value = entry.get(field, False)
    if not isinstance(value, bool):
        raise ConfigError(key, field + " must be true or false.")
    return value


def _who(key: str, entry: dict):
    try:
        return check_who("who", entry.get("who", "owner"))
    except ArgumentError as error:
        raise ConfigError(key, str(error)) from None


def _scale(key: str, scale):
    if scale is None:
        return None
    is_pair = isinstance(scale, list) and len(scale) == 2
    if not is_pair or not all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in scale):
        raise ConfigError(key, "scale must be [a, b]: the value is a times the millivolts, and b more.")
    return tuple(scale)


def _short(key: str, entry: dict, field: str, default: str, longest: int) -> str:
    value = entry.get(field, default)
    if not isinstance(value, str) or len(value) > longest or not _is_line(value):
        raise ConfigError(key, "%s must be a text of at most %d characters." % (field, longest))
    return value
