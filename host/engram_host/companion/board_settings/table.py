"""The firmware's settings: names, defaults, bounds, and its rules for values."""

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
    "companion": ("companion", "archive"),
    "people": ("people", "telegram"),
    "console": ("console",),
    "network": ("network", "watchdog", "log"),
    "secrets": (),
}

ON_CONSOLE = "companion.chat"
"""Set on the console only: a link must not extend its own permissions."""

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
"""Settings whose valid values may keep a board from starting or from reaching the companion."""

_URLS = {"llm.url": WEB, "telegram.url": WEB, "companion.url": (*WEB, *SCHEMES)}
_DEVICE_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_HOST_NAME = _DEVICE_NAME | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SHORTEST_WATCHDOG = 30

Kind = Literal["choice", "flag", "number", "text", "secret"]


@dataclass(frozen=True)
class SettingInfo:
    """A setting: type, default, bounds of a number or a text's length, choices."""

    name: str
    section: str
    kind: Kind
    default: Any = ""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    @property
    def is_secret(self) -> bool:
        return self.kind == "secret"

    @property
    def is_risky(self) -> bool:
        return self.name in RISKY


@cache
def all_settings() -> dict[str, SettingInfo]:
    found = [_parse(line) for line in SETTINGS.strip().split("\n")]
    found += [SettingInfo(name, "secrets", "secret", most=500 if name != "wifi" else 2000) for name in SECRETS]
    return {each.name: each for each in found}


def settings_of(section: str) -> Sequence[SettingInfo]:
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
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False)


def check_value(name: str, said: str) -> None:
    """Raise EngramError, in the firmware's words, if it would refuse the value now or at its next
    start."""
    if name not in all_settings():
        raise ArgumentError(name[:40], "there is no such setting; see docs/reference/settings.md.")
    if name == ON_CONSOLE:
        raise ArgumentError(name, "is set by /setting companion.chat, on the board's console only.")
    if "\n" in said or "\r" in said:
        raise ArgumentError(name, "must be one line.")
    value = parse_value(name, said)
    with tempfile.TemporaryDirectory() as empty:
        Config(str(Path(empty)), {name: value})
    _check_at_start(name, value)


def _check_at_start(name: str, value: Any) -> None:
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
