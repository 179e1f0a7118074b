"""The settings of a board as the firmware has them: names, defaults, bounds; and its rules for values."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from engram.config import SECRETS, SETTINGS, Config, parse_value
from engram.errors import ArgumentError, ConfigError
from engram.net.mqtt import SCHEMES
from engram.net.transport import WEB, split_url

SECTIONS: dict[str, tuple[str, ...]] = {
    "general": ("mode", "timezone"),
    "model": ("llm",),
    "prompt": ("session", "recall"),
    "learning": ("extract", "flush", "distill"),
    "memory": ("records", "journal", "notes", "principals"),
    "senses": ("senses",),
    "timers": ("timers",),
    "companion": ("companion", "archive"),
    "people": ("people", "telegram"),
    "console": ("console",),
    "network": ("network", "watchdog", "log"),
    "secrets": (),
}
"""The groups of settings, as docs/reference/settings.md has them."""

ON_CONSOLE = "companion.chat"
"""What only the board's console sets: who speaks over the link is not to allow the link more."""

RISKY = frozenset(
    {
        "timezone",
        "llm.api",
        "llm.url",
        "llm.model",
        "llm.roots",
        "companion.url",
        "companion.device",
        "companion.token",
        "telegram.url",
        "network.hostname",
        "watchdog.seconds",
        "wifi",
    }
)
"""Settings whose values, though within bounds, can keep a board from starting, or from reaching the companion."""

_URLS = {"llm.url": WEB, "telegram.url": WEB, "companion.url": (*WEB, *SCHEMES)}
_DEVICE_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_HOST_NAME = _DEVICE_NAME | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SHORTEST_WATCHDOG = 30

Kind = Literal["choice", "flag", "number", "text", "secret"]


@dataclass(frozen=True)
class SettingInfo:
    """A setting: what kind of value it has, its default, bounds of a number or of a text's length, or its choices."""

    name: str
    section: str
    kind: Kind
    default: Any = ""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    @property
    def is_secret(self) -> bool:
        """Whether nobody may see its value."""
        return self.kind == "secret"

    @property
    def is_risky(self) -> bool:
        """Whether a value in its bounds can keep a board from starting or from the companion."""
        return self.name in RISKY


@cache
def all_settings() -> dict[str, SettingInfo]:
    """All settings and secrets of a board by name, in the firmware's order."""
    found = [_parse(line) for line in SETTINGS.strip().split("\n")]
    found += [SettingInfo(name, "secrets", "secret", most=500 if name != "wifi" else 2000) for name in SECRETS]
    return {each.name: each for each in found}


def settings_of(section: str) -> Sequence[SettingInfo]:
    """The settings of a section."""
    return [each for each in all_settings().values() if each.section == section]


def _parse(line: str) -> SettingInfo:
    name, _, value = line.partition(" ")
    default, *bounds = json.loads(value)
    group = name.partition(".")[0]
    section = next((key for key, groups in SECTIONS.items() if group in groups), "general")
    if isinstance(default, bool):
        return SettingInfo(name, section, "flag", default, choices=("true", "false"))
    if isinstance(bounds[0], list):
        return SettingInfo(name, section, "choice", default, choices=tuple(bounds[0]))
    kind: Kind = "number" if isinstance(default, int) else "text"
    return SettingInfo(name, section, kind, default, *bounds)


def written(value: Any) -> str:
    """A value as a person writes it in the command /setting."""
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False)


def check_value(name: str, said: str) -> None:
    """Refuse a value that the firmware would refuse, now or when it starts next. EngramError with the firmware's sentence."""
    if name not in all_settings():
        raise ArgumentError(name[:40], "there is no such setting; see docs/reference/settings.md.")
    if name == ON_CONSOLE:
        raise ArgumentError(name, "is set by /companion chat, on the board's console only.")
    if "\n" in said or "\r" in said:
        raise ArgumentError(name, "must be one line.")
    value = parse_value(name, said)
    with tempfile.TemporaryDirectory() as empty:
        Config(str(Path(empty)), {name: value})
    _check_at_start(name, value)


def _check_at_start(name: str, value: Any) -> None:
    """What the firmware's parts look at when they are made of their settings."""
    if name in _URLS and value:
        try:
            split_url(value, _URLS[name])
        except ArgumentError as error:
            raise ConfigError(name, error.problem) from None
    elif name == "companion.device" and not _DEVICE_NAME.issuperset(value):
        raise ConfigError(name, "must have only a to z, 0 to 9 and -.")
    elif name == "network.hostname" and (not _HOST_NAME.issuperset(value) or value[0] == "-"):
        raise ConfigError(name, "must be letters, digits and hyphens, such as engram-2.")
    elif name == "watchdog.seconds" and 0 < value < _SHORTEST_WATCHDOG:
        raise ConfigError(name, f"must be 0 (none), or {_SHORTEST_WATCHDOG} and more.")
