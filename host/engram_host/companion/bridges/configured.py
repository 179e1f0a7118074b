"""A bridge's settings from companion.toml, completed by defaults and secrets, and their check."""

import asyncio
from collections.abc import Mapping

from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import BRIDGES_TABLE, BridgeSettings
from engram_host.companion.bridges.errors import BridgeError, NetworkAway
from engram_host.companion.bridges.kinds import KINDS, BridgeField, NetworkKind, make_network
from engram_host.companion.errors import SettingError
from engram_host.companion.supervisor import describe_error

LEAST_REDACTED = 4  # shorter secrets stay in errors, since they are part of many words


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
