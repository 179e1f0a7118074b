"""Reads settings. Precedence: command-line flag, companion.toml, environment, default.

Each setting is a field of a dataclass (see settings.py) with type, default, bounds or choices, and environment variable.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from engram_host.companion.errors import SettingError

FILE = "companion.toml"

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")


def setting(
    default: Any,
    environment: str = "",
    *,
    low: float | None = None,
    high: float | None = None,
    one_of: tuple[str, ...] = (),
    secret: bool = False,
) -> Any:
    """Declare a setting; `high` is a text's longest size, or a list's most entries."""
    rules = {"environment": environment, "low": low, "high": high, "one_of": one_of, "secret": secret}
    return field(default=default, repr=not secret, metadata=rules)


Section = TypeVar("Section")


def read_section(
    section: type[Section], name: str, table: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> Section:
    """Read a settings class from companion.toml and the environment; raises SettingError."""
    rules = {each.name: each for each in fields(section)}  # pyright: ignore[reportArgumentType]
    for key in table:
        if key not in rules:
            raise SettingError(f"{name}.{key}", "there is no such setting; see docs/reference/companion-settings.md.")
    values = {}
    for key, each in rules.items():
        variable = each.metadata["environment"]
        if key in table:
            values[key] = checked(f"{name}.{key}", table[key], each)
        elif variable and environment.get(variable):
            values[key] = checked(variable, _parsed(variable, environment[variable], each.default), each)
    return section(**values)


def _parsed(name: str, text: str, default: Any) -> Any:
    """Parse a value of the environment by the type of the setting's default."""
    text = text.strip()
    if isinstance(default, bool):
        if text.lower() not in _YES + _NO:
            raise SettingError(name, "must be true or false.")
        return text.lower() in _YES
    if isinstance(default, tuple):
        return [part for part in text.split(os.pathsep) if part]
    try:
        return type(default)(text)
    except ValueError:
        raise SettingError(name, "must be a number.") from None


def checked(name: str, value: Any, rule: Any) -> Any:
    """Return a value that passes its rule; raises SettingError, which shows no secret."""
    wanted, rules = type(rule.default), rule.metadata
    if wanted is float and type(value) is int:
        value = float(value)
    if wanted is tuple and type(value) is list:
        value = tuple(value)
    if type(value) is not wanted:
        kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", tuple: "a list"}
        raise SettingError(name, f"must be {kinds.get(wanted, 'of another kind')}.")
    if rules["one_of"] and value not in rules["one_of"]:
        raise SettingError(name, f"must be one of {', '.join(rules['one_of'])}.")
    low, high = rules["low"], rules["high"]
    if wanted is tuple:
        if high is not None and len(value) > high:
            raise SettingError(name, f"must be a list of at most {high} entries.")
    elif wanted is str:
        if high is not None and len(value) > high:
            raise SettingError(name, f"must be a text of at most {high} characters.")
    elif (low is not None and value < low) or (high is not None and value > high):
        raise SettingError(name, f"must be a number from {low} to {high}.")
    return value


def has_password(url: str) -> bool:
    """True if a URL contains a password, before its host or as a parameter."""
    try:
        where = urlsplit(url)
    except ValueError:
        return "@" in url
    return bool(where.password) or any(name.endswith("password") for name, _ in parse_qsl(where.query))


def secrets_in(kind: type, table: Mapping[str, Any]) -> list[str]:
    found = []
    for each in fields(kind):  # pyright: ignore[reportArgumentType]
        value = table.get(each.name)
        is_secret = has_password(str(value)) if each.name == "url" else each.metadata["secret"]
        if value and is_secret:
            found.append(each.name)
    return found


def read_file(home: Path) -> dict[str, Any]:
    path = home / FILE
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(str(path), f"is not valid TOML: {error}.") from None
    except OSError as error:
        raise SettingError(str(path), f"cannot be read: {error.strerror}.") from None


def without_login(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    return scheme + mark + rest.rpartition("@")[2]
