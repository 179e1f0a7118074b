"""Settings: config.json, and secrets.json for what must never be shown, exported or synchronised.

Each line of SETTINGS is a name and, in JSON, its default with the lowest and the highest value, or the bounds of a text's
length, or the list of the values allowed: one text takes a third of the heap of tuples. In the files the names are nested:
{"llm": {"url": "..."}} sets llm.url.
docs/reference/settings.md says what each is for; a test keeps the two in step.
"""

import json

from engram import files, tables, text
from engram.clock import Zone, zone_minutes
from engram.errors import ConfigError
from engram.schema_check import fits, wanted
from engram.text.utf8 import is_printable_ascii

_FILE = const("config.json")
_SECRETS = const("secrets.json")
_NO_ZONE = (
    "must be an offset such as +01:00, or a rule such as CET-1CEST,M3.5.0,M10.5.0/3; see docs/reference/settings.md."
)
_MOST_NETWORKS = const(8)  # each is tried in turn when none is in reach, which takes seconds
_NETWORKS = const(
    'must be a list of at most %d networks such as {"ssid": "Home", "password": "..."}: ssid has 1 to 32 bytes, '
    "password 8 to 63 ASCII characters; leave it out for an open network."
)
_LARGEST = const(8192)  # bytes of either file: it is read whole

SETTINGS = "\n" + tables.read("settings")
"""Name, default and bounds of each setting."""

SECRETS = ("llm.key", "telegram.token", "companion.token", "wifi")

TABLES = ("pins", "senses")
"""Objects in config.json with freely chosen names, checked by their users."""


class Config:
    """The settings of one board, with defaults."""

    def __init__(self, folder: str = "", overrides=None):
        self._folder = folder
        self._values = {}
        self._secrets = {}
        self._assumed = {}
        """Values in place of defaults."""
        values = _read(folder + "/" + _FILE, _FILE)
        self._tables = {name: _take_table(values, name) for name in TABLES if name in values}
        for name, value in _flat(values):
            self._set(name, value)
        for name, value in _flat(_read(folder + "/" + _SECRETS, _SECRETS)):
            self._set_secret(name, value)
        for name, value in overrides.items() if overrides else ():
            if name in TABLES:
                self._tables[name] = _table(name, value)
            elif name in SECRETS:
                self._set_secret(name, value)
            else:
                self._set(name, value)

    def get(self, name: str):
        if name in self._values:
            return self._values[name]
        return self._assumed[name] if name in self._assumed else _row(name)[0]

    def is_set(self, name: str) -> bool:
        return name in self._values

    def assume(self, name: str, value) -> None:
        """Take a value in place of a default until the restart."""
        self._assumed[name] = value

    def table(self, name: str) -> dict:
        """Return an object of config.json named in TABLES, or {}."""
        return self._tables.get(name, {})

    def secret(self, name: str):
        """Return a secret, or "" if unset; wifi is a list of networks."""
        return self._secrets.get(name, "")

    def save(self, name: str, value) -> None:
        """Save one setting in config.json."""
        _check(name, value)
        self._store(_FILE, name, value)
        self._values[name] = value

    def change(self, name: str, said: str) -> None:
        """Set a setting or a secret from a person's text."""
        value = parse_value(name, said)
        if name in SECRETS:
            self._set_secret(name, value)
            self._store(_SECRETS, name, value)
        else:
            self.save(name, value)

    def lines(self):
        """Yield a line for each changed setting, and for each secret without its value."""
        for name in sorted(self._values):
            yield name + " " + text.dumps(self._values[name])
        for name in sorted(self._tables):
            yield name + " " + text.dumps(self._tables[name])
        for name in sorted(self._secrets):
            yield name + " is set"

    def _store(self, file: str, name: str, value) -> None:
        path = self._folder + "/" + file
        stored = _read(path, file)
        group, _, key = name.rpartition(".")
        stored.pop(name, None)
        holder = stored.setdefault(group, {}) if group else stored
        holder[key] = value
        files.write(path, text.dumps(stored))

    def _set(self, name: str, value) -> None:
        if name in SECRETS:
            raise ConfigError(name, "is a secret: it belongs in " + _SECRETS + ", not in " + _FILE + ".")
        _check(name, value)
        self._values[name] = value

    def _set_secret(self, name: str, value) -> None:
        if name not in SECRETS:
            raise ConfigError(name, "is not a secret; " + _SECRETS + " takes " + ", ".join(SECRETS) + ".")
        if name == "wifi":
            is_list = isinstance(value, list) and len(value) <= _MOST_NETWORKS
            if not is_list or not all(_is_network(each) for each in value):
                raise ConfigError("wifi", _NETWORKS % _MOST_NETWORKS)
        elif not isinstance(value, str) or len(value) > 500 or " " in value or not is_printable_ascii(value):
            raise ConfigError(name, "must be a text of at most 500 printable ASCII characters.")
        self._secrets[name] = value


def parse_value(name: str, said: str):
    """Parse a setting's value: a text as it is, anything else as JSON."""
    is_text = isinstance(_row(name)[0], str) if name not in SECRETS else name != "wifi"
    if is_text and said != '""':
        return said
    try:
        return text.loads(said)
    except ValueError:
        return said


def zone_of(setting: str) -> tuple:
    """Return (standard minutes east of Greenwich, Zone or None) of `timezone`; ValueError."""
    if setting[:1] in "+-":
        return zone_minutes(setting), None
    zone = Zone(setting)
    return zone.standard, zone


def _row(name: str) -> list:
    at = SETTINGS.find("\n" + name + " [")
    if at < 0:
        raise ConfigError(name, "there is no such setting; see docs/reference/settings.md.")
    at += len(name) + 2
    return json.loads(SETTINGS[at : SETTINGS.find("\n", at)])


def _rule(default, *bounds) -> dict:
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(bounds[0], list):
        return {"type": "string", "enum": bounds[0]}
    low, high = bounds
    if isinstance(default, int):
        return {"type": "integer", "minimum": low, "maximum": high}
    return {"type": "string", "format": "line", "minLength": low, "maxLength": high}


def _check(name: str, value) -> None:
    rule = _rule(*_row(name))
    if not fits(value, rule):
        raise ConfigError(name, "must be " + wanted(rule) + ".")
    if name == "timezone":
        try:
            zone_of(str(value))
        except ValueError:
            raise ConfigError(name, _NO_ZONE) from None


def _is_network(value) -> bool:
    if not isinstance(value, dict) or not set(value) <= {"ssid", "password"}:
        return False
    name, password = value.get("ssid"), value.get("password", "")
    if not isinstance(name, str) or not isinstance(password, str) or not 1 <= len(name.encode()) <= 32:
        return False
    return not password or (8 <= len(password) <= 63 and is_printable_ascii(password))


def _read(path: str, name: str) -> dict:
    data = files.read(path, _LARGEST)
    if data is None or not data.strip():
        return {}
    values = text.object_in(data)
    if values is None:
        raise ConfigError(name, "is not a valid JSON object; see docs/reference/settings.md.")
    return values


def _take_table(values: dict, name: str) -> dict:
    """Remove and return a table; entries that are no objects are settings, such as senses.bytes."""
    value = values.pop(name)
    if isinstance(value, dict):
        settings = {key: entry for key, entry in value.items() if not isinstance(entry, dict)}
        if settings:
            values[name] = settings
        value = {key: entry for key, entry in value.items() if key not in settings}
    return _table(name, value)


def _table(name: str, value) -> dict:
    if not isinstance(value, dict) or not all(isinstance(entry, dict) for entry in value.values()):
        raise ConfigError(name, "must be a JSON object of objects; see docs/reference/settings.md.")
    return value


def _flat(values: dict, prefix: str = ""):
    for key, value in values.items():
        if isinstance(value, dict) and not prefix:
            yield from _flat(value, key + ".")
        else:
            yield prefix + key, value
