"""Checks of a companion's folder and of its settings: who may read what is secret, certificates, the gateway's key, alerts."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from engram_host.companion.alerts.apprise_address import URLS, read_addresses
from engram_host.companion.auth.exposure import listener_tls
from engram_host.companion.auth.secrets import FOLDER as SECRETS
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.auth.tokens import OPERATOR_FILE
from engram_host.companion.diagnosis.findings import Finding, watch, well, wrong
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway.api_key import FILE as KEY_FILE
from engram_host.companion.gateway.api_key import VARIABLE, find_api_key
from engram_host.companion.gateway.quota import Prices
from engram_host.companion.gateway.request import service_url
from engram_host.companion.settings import Settings, secrets_in_file
from engram_host.companion.settings_reader import FILE
from engram_host.wording import counted, format_time

RENEW_SECONDS = 30 * 24 * 3600
"""How long before a certificate ends a person may want to know."""

RENEW = "renew it, with `engram tls` if that made it, and restart the companion."


def files(settings: Settings) -> Iterator[Finding]:
    """Who may read the folder and what is secret in it."""
    home = settings.home
    if not home.is_dir():
        yield well("folder", f"{home} will be created at the first start")
        return
    if stat.S_IMODE(home.stat().st_mode) & 0o077:
        yield wrong("folder", f"other users can open {home}", f"chmod 700 {home}")
    else:
        yield well("folder", str(home))
    keys = [home / Path(key).expanduser() for key in (settings.http.key, settings.mqtt.key) if key]
    for path in keys:
        if not path.exists():
            yield wrong("files", f"{path} is not there", "put it there, or remove it from the settings.")
    for path in [home / OPERATOR_FILE, home / KEY_FILE, *keys, *sorted(home.glob("companion.db*"))]:
        if path.exists():
            yield _mode_of(path)
    secrets = home / SECRETS
    for path in [secrets, *sorted(secrets.glob("*"))] if secrets.is_dir() else []:
        yield _mode_of(path)
    if names := secrets_in_file(home):
        yield _mode_of(home / FILE, f", and {' and '.join(names)} in it")


def _mode_of(path: Path, what: str = "") -> Finding:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return wrong("files", f"other users can read {path}{what}", f"chmod 600 {path}")
    return well("files", f"only its owner can read {path.name}")


def tls(settings: Settings) -> Iterator[Finding]:
    """Whether certificates are good for some time. SettingError."""
    http, mqtt = settings.http, settings.mqtt
    if listener_tls("http", http.certificate, http.key, settings.home):
        yield _certificate("the HTTP API", settings.home / Path(http.certificate).expanduser())
    if mqtt.on and not mqtt.url and listener_tls("mqtt", mqtt.certificate, mqtt.key, settings.home):
        yield _certificate("the built-in broker", settings.home / Path(mqtt.certificate).expanduser())


def _certificate(what: str, path: Path) -> Finding:
    from engram_host.companion.auth.certificates import certificate_end  # takes long to load

    end = certificate_end(path)
    detail = f"on for {what}; its certificate ends {format_time(end)[:10]}"
    if end < time.time():
        return wrong("tls", detail.replace("ends", "ended"), RENEW)
    if end < time.time() + RENEW_SECONDS:
        return watch("tls", detail, RENEW)
    return well("tls", detail)


def gateway(settings: Settings) -> Iterator[Finding]:
    """Whether the gateway has a key, and prices that can be read. SettingError."""
    Prices(settings.gateway.prices)
    if not service_url(settings.gateway):
        return
    if find_api_key(settings.home, os.environ):
        yield well("gateway", "has its key")
    else:
        yield watch("gateway", "has no key", f"set {VARIABLE} if the service asks for one.")


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
