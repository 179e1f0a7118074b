"""Checks of bridges: the library, the secret and who can read it, and signing in."""

import asyncio
import os
from collections.abc import Iterator

from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.checking import check_account
from engram_host.companion.bridges.configured import check_bridge, complete_values
from engram_host.companion.bridges.errors import BridgeError, BridgeUnavailable
from engram_host.companion.bridges.kinds import load_network
from engram_host.companion.diagnosis.findings import REFUSED, Finding, watch, well, wrong
from engram_host.companion.errors import SettingError
from engram_host.companion.settings import Settings

SIGN_IN_SECONDS = 20.0


def bridges(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each bridge: its first problem, or that it can sign in. Sends nothing."""
    secrets = SecretStore(settings.home, os.environ)
    for bridge in settings.bridges:
        yield _bridge(bridge, secrets) if bridge.is_on else watch(f"bridge {bridge.name}", "off")


def _bridge(bridge: BridgeSettings, secrets: SecretStore) -> Finding:
    name = f"bridge {bridge.name}"
    try:
        kind = check_bridge(bridge)
    except SettingError as problem:
        return wrong(name, REFUSED, str(problem))
    try:
        load_network(kind.name)
        values = complete_values(bridge, secrets)
        account = asyncio.run(check_account(kind, values, SIGN_IN_SECONDS))
    except BridgeUnavailable as problem:
        return wrong(name, "cannot run", str(problem))
    except SettingError as problem:
        return wrong(name, "a setting is missing or cannot be read", str(problem))
    except BridgeError as problem:
        return wrong(name, f"cannot sign in to {kind.title}", str(problem))
    return well(name, f"signs in to {kind.title} as {account}")
