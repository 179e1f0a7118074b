"""Checks of bridges and alerts: the library is installed, the secret is there and private, the account can be signed in to."""

import asyncio
import os
from collections.abc import Iterator

from engram_host.cli.doctor.checks import REFUSED, Finding, watch, well, wrong
from engram_host.companion.alerts.apprise_address import URLS, read_addresses
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.checking import check_account
from engram_host.companion.bridges.configured import check_bridge, complete_values
from engram_host.companion.bridges.errors import BridgeError, BridgeUnavailable
from engram_host.companion.bridges.kinds import load_network
from engram_host.companion.errors import SettingError
from engram_host.companion.settings import Settings
from engram_host.wording import counted

SIGN_IN_SECONDS = 20.0
"""How long one account may take."""


def bridges(settings: Settings) -> Iterator[Finding]:
    """One finding for each bridge: the first thing that is wrong with it, or that it can be signed in to. Sends nothing."""
    secrets = SecretStore(settings.home, os.environ)
    for bridge in settings.bridges:
        yield _bridge(bridge, secrets) if bridge.is_on else watch(f"bridge {bridge.name}", "off")


def alerts(settings: Settings) -> Iterator[Finding]:
    """Whether the addresses that alerts are sent to can be read. Sends nothing."""
    secrets, in_keyring = SecretStore(settings.home, os.environ), settings.alerts.keyring
    if not settings.alerts.on or not secrets.may_have(URLS, in_keyring=in_keyring):
        return
    try:
        addresses = read_addresses(secrets.find(URLS, in_keyring=in_keyring))
    except SettingError as problem:
        yield wrong("alerts", "no alert is sent", str(problem))
    else:
        yield well("alerts", f"{counted(len(addresses), 'address', 'addresses')}; `engram alert test` sends to each")


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
