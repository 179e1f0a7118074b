"""Remote settings of boards: which exist, checks by the firmware's own rules, and changes as commands.

A change is queued like any message, by the command /setting, but under a quota of its own, so that it takes no room of a
conversation; the settings are read from the boards' answers.
"""

import json
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from engram.config import SECRETS, SETTINGS, Config, parse_value
from engram.errors import ArgumentError, ConfigError
from engram.link.mqtt import SCHEMES
from engram.net.transport import WEB, split_url
from engram_host.companion.conversations.service import ConversationService, Exchange
from engram_host.companion.types import SECRET_IDS, Conversation, Said
from engram_host.services import LlmService

# --- the firmware's settings


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
        Config(empty, {name: value})
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


# --- settings of a board


ROOM = "settings"
PRINCIPAL = "owner"

MOST_LOOKED_AT = 100

_COMMAND = "/setting"
MODEL_TEST = "/model test"
_IDS = "setting:"
_IS_SET = " is set"


@dataclass(frozen=True)
class BoardSettings:
    """Known settings of a board: `read_at` in Unix seconds (0: never), secrets None, newest change
    first."""

    read_at: int
    values: Mapping[str, Any]
    recent: Sequence[Exchange] = field(default_factory=list[Exchange])

    @property
    def is_waiting(self) -> bool:
        return any(each.message.is_open for each in self.recent)


class BoardSettingsService:
    def __init__(self, conversations: ConversationService):
        self._conversations = conversations

    async def find(self, device: str, recent: int = 10) -> BoardSettings:
        found = await self._conversations.exchanges(device, MOST_LOOKED_AT, room=ROOM)
        read = next((at for at, each in enumerate(found) if _is_list(each)), None)
        values: dict[str, Any] = _parse_list(found[read].answer.lines) if read is not None else {}
        for each in reversed(found[:read]):
            if changed := _done_change(each):
                values[changed[0]] = changed[1]
        return BoardSettings(found[read].message.changed if read is not None else 0, values, found[:recent])

    async def read(self, device: str) -> Conversation:
        found = await self._conversations.list_messages(device, MOST_LOOKED_AT, room=ROOM)
        asked = next((each for each in found if each.is_open and each.said.text == _COMMAND), None)
        return asked or await self._say(device, _IDS, _COMMAND)

    async def change(self, device: str, name: str, value: str) -> Conversation:
        """Queue a change of a setting or secret; raises EngramError if the firmware would refuse
        it."""
        said = value.strip() or '""'
        check_value(name, said)
        ids = SECRET_IDS if all_settings()[name].is_secret else _IDS
        return await self._say(device, ids, f"{_COMMAND} {name} {said}")

    async def choose_service(self, device: str, service: LlmService, computer: str, model: str, key: str) -> None:
        """Queue the settings of a service; its predecessor's key and model for learning are removed."""
        url = service.url_at(computer.strip())
        check_value("llm.url", url)
        await self.change(device, "llm.key", key)
        named = model.strip() or service.model
        values = {"llm.api": service.api, "llm.url": url, "llm.model": named, "extract.model": ""}
        for name, value in values.items():
            await self.change(device, name, value)

    async def test_model(self, device: str) -> Conversation:
        return await self._say(device, _IDS, MODEL_TEST)

    async def _say(self, device: str, ids: str, text: str) -> Conversation:
        said = Said(ids + secrets.token_hex(8), PRINCIPAL, text, ROOM, is_command=True)
        return await self._conversations.say(device, said)


def _is_list(exchange: Exchange) -> bool:
    message, answer = exchange.message, exchange.answer
    return message.said.text == _COMMAND and message.state == "done" and bool(answer.lines) and not answer.problems


def _done_change(exchange: Exchange) -> tuple[str, Any] | None:
    _, _, rest = exchange.message.said.text.partition(" ")
    name, _, said = rest.partition(" ")
    answer = exchange.answer
    is_done = exchange.message.state == "done" and not answer.problems
    if not is_done or name not in all_settings() or not any(line.startswith(name + _IS_SET) for line in answer.lines):
        return None
    return name, None if all_settings()[name].is_secret else _parse_value(name, said)


def _parse_value(name: str, said: str) -> Any:
    if all_settings()[name].kind in ("text", "choice"):
        return "" if said == '""' else said
    return json.loads(said)


def _parse_list(lines: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(" ")
        info = all_settings().get(name)
        if info is None:
            continue
        if info.is_secret:
            found[name] = None
            continue
        try:
            found[name] = json.loads(value)
        except ValueError:
            continue
    return found
