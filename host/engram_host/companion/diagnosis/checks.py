"""Checks of a companion's folder and settings; `engram doctor` runs these, and more from outside."""

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from engram_host.companion.alerts.apprise_address import URLS, read_addresses
from engram_host.companion.auth.exposure import http_tls
from engram_host.companion.auth.secrets import FOLDER as SECRETS
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.auth.tokens import OPERATOR_FILE
from engram_host.companion.diagnosis.computer import clock, disk, find_stat
from engram_host.companion.diagnosis.findings import CHECKS, REFUSED, Finding, watch, well, wrong
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway.request import service_url
from engram_host.companion.gateway.service import NAME, find_api_key
from engram_host.companion.settings import Settings, secrets_in_file
from engram_host.companion.settings_reader import FILE
from engram_host.wording import format_day

RENEW_SECONDS = 30 * 24 * 3600


def files(settings: Settings) -> Iterator[Finding]:
    home = settings.home
    if not home.is_dir():
        yield well("folder", CHECKS.say("folder_missing", folder=str(home)))
        return
    if stat.S_IMODE(home.stat().st_mode) & 0o077:
        yield wrong("folder", CHECKS.say("folder_open", folder=str(home)), f"chmod 700 {home}")
    else:
        yield well("folder", str(home))
    keys = [home / Path(settings.http.key).expanduser()] if settings.http.key else []
    for path in keys:
        if not path.exists():
            yield wrong("files", CHECKS.say("file_missing", file=str(path)), CHECKS.say("replace_file"))
    for path in [home / OPERATOR_FILE, *keys, *sorted(home.glob("companion.db*"))]:
        yield from _mode_of(path)
    secrets = home / SECRETS
    for path in [secrets, *sorted(secrets.glob("*"))] if secrets.is_dir() else []:
        yield from _mode_of(path)
    if names := secrets_in_file(home):
        yield from _mode_of(home / FILE, " and ".join(names))


def _mode_of(path: Path, secrets: str = "") -> Iterator[Finding]:
    found = find_stat(path)
    if not found:
        return
    if not stat.S_IMODE(found.st_mode) & 0o077:
        yield well("files", CHECKS.say("file_private", file=path.name))
        return
    detail = CHECKS.say("file_open", file=str(path))
    if secrets:
        detail = CHECKS.say("file_open_secrets", file=str(path), names=secrets)
    yield wrong("files", detail, f"chmod 600 {path}")


def tls(settings: Settings) -> Iterator[Finding]:
    if not http_tls(settings.http, settings.home):
        return
    from engram_host.companion.auth.certificates import certificate_end  # slow import

    end = certificate_end(settings.home / Path(settings.http.certificate).expanduser())
    left = end - time.time()
    detail = CHECKS.say("tls_ended" if left < 0 else "tls", day=format_day(end))
    if left < 0:
        yield wrong("tls", detail, CHECKS.say("renew"))
    elif left < RENEW_SECONDS:
        yield watch("tls", detail, CHECKS.say("renew"))
    else:
        yield well("tls", detail)


def gateway(settings: Settings) -> Iterator[Finding]:
    """Check the gateway's key, and whether its model looks for habits; raises SettingError."""
    yield well("habits", CHECKS.say("habits" if settings.gateway.has_model else "no_habits"))
    if not service_url(settings.gateway):
        return
    secrets = SecretStore(settings.home)
    if find_api_key(secrets):
        yield well("gateway", CHECKS.say("gateway_key"))
    else:
        yield watch("gateway", CHECKS.say("gateway_no_key"), CHECKS.say("set_key", variable=secrets.variable(NAME)))


def alerts(settings: Settings) -> Iterator[Finding]:
    """Check that the alert URLs can be parsed; sends nothing."""
    secrets, in_keyring = SecretStore(settings.home, os.environ), settings.alerts.keyring
    if not settings.alerts.on or not secrets.may_have(URLS, in_keyring=in_keyring):
        return
    try:
        addresses = read_addresses(secrets.find(URLS, in_keyring=in_keyring))
    except SettingError as problem:
        yield wrong("alerts", CHECKS.say("no_alerts"), str(problem))
    else:
        yield well("alerts", CHECKS.say("alerts", n=len(addresses)))


def check_companion(settings: Settings) -> list[Finding]:
    """Check disk, clock, secrets, certificates, gateway and alerts; blocks for some ms."""
    checks = {"files": files, "tls": tls, "gateway": gateway, "alerts": alerts}
    return [disk(settings.home), clock(settings.home), *run_checks(settings, checks)]


def run_checks(settings: Settings, checks: Mapping[str, Callable[[Settings], Iterator[Finding]]]) -> Iterator[Finding]:
    for name, check in checks.items():
        try:
            yield from check(settings)
        except SettingError as problem:
            yield wrong(name, REFUSED, str(problem))
        except OSError as error:  # such as a file that vanishes meanwhile
            advice = CHECKS.say("look_again", problem=str(error.strerror or error))
            yield wrong(name, CHECKS.say("unreadable"), advice)
