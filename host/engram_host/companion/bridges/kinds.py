"""The supported networks: their settings, completed by defaults and secrets, and the module of each.

A network's library is imported once a bridge of it is made.
"""

import asyncio
import importlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from types import ModuleType
from typing import cast

from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import BRIDGES_TABLE, BridgeSettings
from engram_host.companion.bridges.errors import BridgeError, BridgeUnavailable, NetworkAway
from engram_host.companion.bridges.network import Network
from engram_host.companion.errors import SettingError
from engram_host.companion.supervisor import describe_error
from engram_host.extras import missing_package

LEAST_REDACTED = 4  # shorter secrets stay in errors, since they are part of many words


@dataclass(frozen=True)
class BridgeField:
    """A setting of a bridge."""

    name: str
    question: str
    default: str = ""  # "": must be given, unless optional
    is_secret: bool = False  # never in companion.toml
    is_optional: bool = False


@dataclass(frozen=True)
class NetworkKind:
    """A network: its title, settings and module; `hint` says where to get its credentials."""

    name: str
    title: str
    fields: tuple[BridgeField, ...]
    hint: str = ""


def _read_kinds() -> dict[str, NetworkKind]:
    text = (resources.files("engram_host.companion.bridges") / "kinds.toml").read_text(encoding="utf-8")
    return {
        name: NetworkKind(name, fields=tuple(BridgeField(**each) for each in table.pop("fields")), **table)
        for name, table in tomllib.loads(text).items()
    }


KINDS = _read_kinds()


def make_network(kind: str, values: Mapping[str, str]) -> Network:
    """Create a network's connection from all its fields, or raise BridgeUnavailable."""
    return cast(Callable[[Mapping[str, str]], Network], load_network(kind).connect)(values)


def load_network(kind: str) -> ModuleType:
    """Import a network's module and library, which takes seconds; may raise BridgeUnavailable."""
    try:
        return importlib.import_module(f"engram_host.companion.bridges.{KINDS[kind].name}.bridge")
    except ModuleNotFoundError as error:
        raise BridgeUnavailable(missing_package(error.name)) from None


# --- one bridge


def check_bridge(settings: BridgeSettings) -> NetworkKind:
    """Return the bridge's network, or raise SettingError for an unknown network, setting or secret."""
    kind = KINDS.get(settings.network)
    if kind is None:
        raise SettingError(settings.setting_name("network"), f"must be one of {', '.join(KINDS)}.")
    fields = {field.name: field for field in kind.fields}
    for name in settings.fields:
        if name not in fields:
            known = ", ".join(each.name for each in kind.fields if not each.is_secret)
            raise SettingError(
                settings.setting_name(name), f"{kind.title} has no such setting; it has {known or 'none'}."
            )
        if fields[name].is_secret:
            problem = f"is a secret, and not for companion.toml: remove it, and let {_add_command(settings)} keep it."
            raise SettingError(settings.setting_name(name), problem)
    return kind


def complete_values(settings: BridgeSettings, secrets: SecretStore) -> dict[str, str]:
    """Return a value for each field of the network, "" if unset; blocks, may raise SettingError."""
    return {field.name: _value(settings, field, secrets) for field in check_bridge(settings).fields}


async def check_account(kind: NetworkKind, values: Mapping[str, str], seconds: float) -> str:
    """Sign in and out again; return the account's own name, or raise BridgeError without secrets."""
    try:
        async with asyncio.timeout(seconds):
            return await make_network(kind.name, values).check()
    except BridgeError as problem:
        raise type(problem)(redact_values(str(problem), kind, values)) from None
    except TimeoutError:
        raise NetworkAway(f"it did not answer within {seconds:.0f} s.") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a library may raise whatever it likes
        raise NetworkAway(redact_values(f"{describe_error(error)}.", kind, values)) from None


def secret_name(bridge: str, field: str) -> str:
    return f"{BRIDGES_TABLE}.{bridge}.{field}"


def redact_values(text: str, kind: NetworkKind, values: Mapping[str, str]) -> str:
    hidden = (values.get(field.name, "") for field in kind.fields if field.is_secret)
    for secret in sorted(hidden, key=len, reverse=True):
        text = text.replace(secret, "***") if len(secret) >= LEAST_REDACTED else text
    return text


def _value(settings: BridgeSettings, field: BridgeField, secrets: SecretStore) -> str:
    if field.is_secret:
        value = secrets.find(secret_name(settings.name, field.name), in_keyring=settings.in_keyring)
    else:
        value = settings.fields.get(field.name, "") or field.default
    if not value and not field.is_optional:
        raise SettingError(settings.setting_name(field.name), f"is missing: {_add_command(settings)} asks for it.")
    return value


def _add_command(settings: BridgeSettings) -> str:
    named = "" if settings.name == settings.network else f" --name {settings.name}"
    return f"`engram bridge add {settings.network}{named}`"
