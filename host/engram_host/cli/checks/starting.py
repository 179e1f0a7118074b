"""Checks of what a companion looks at before it starts, by the same functions: what `engram serve` refuses is found here."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from engram_host.cli.checks.finding import REFUSED, Finding, watch, well, wrong
from engram_host.companion.auth.exposure import check_exposure, listener_tls, listeners, tokens_required
from engram_host.companion.auth.tokens import OPERATOR_FILE, read_secret
from engram_host.companion.errors import CompanionError, SettingError
from engram_host.companion.folders.reader import list_files
from engram_host.companion.folders.service import companion_id
from engram_host.companion.folders.sources import folder_sources
from engram_host.companion.gateway.api_key import VARIABLE, find_api_key
from engram_host.companion.gateway.request import service_url
from engram_host.companion.home import Settings, database_file

_CONNECT_SECONDS = 5
_TOKENS = "SELECT count(*) FROM device_tokens"


def starting(settings: Settings) -> Iterator[Finding]:
    """Tokens, certificates, the gateway and the folders, as the companion takes them when it starts."""
    checks: dict[str, Callable[[Settings], Iterator[Finding]]] = {
        "tokens": _tokens,
        "tls": _tls,
        "gateway": _gateway,
        "folders": _folders,
    }
    for name, check in checks.items():
        try:
            yield from check(settings)
        except SettingError as problem:
            yield wrong(name, REFUSED, str(problem))


def _tokens(settings: Settings) -> Iterator[Finding]:
    if (settings.home / OPERATOR_FILE).exists():
        read_secret(settings.home / OPERATOR_FILE)
    where = listeners(settings.http, settings.mqtt)
    has_devices = _has_devices(settings)
    if has_devices is not None:  # else another check tells of the database
        check_exposure(settings.security, where, has_devices=has_devices)
    is_asked = tokens_required(settings.security, where)
    yield well("tokens", "asked for" if is_asked else "not asked for: only this computer reaches the companion")


def _has_devices(settings: Settings) -> bool | None:
    """Whether any device has a token; None where the database cannot be asked."""
    try:
        path = database_file(settings)
        return _count_sqlite(path) if path else _count_postgres(settings.store.url)
    except (CompanionError, sqlite3.Error, ModuleNotFoundError):
        return None


def _count_sqlite(path: Path) -> bool:
    if not path.exists():
        return False
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_CONNECT_SECONDS)) as opened:
        return bool(opened.execute(_TOKENS).fetchall()[0][0])


def _count_postgres(url: str) -> bool | None:
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            return bool(connection.execute(_TOKENS).fetchall()[0][0])
    except psycopg.errors.UndefinedTable:
        return False
    except psycopg.Error:
        return None


def _tls(settings: Settings) -> Iterator[Finding]:
    http, mqtt = settings.http, settings.mqtt
    if listener_tls("http", http.certificate, http.key, settings.home):
        yield well("tls", "the HTTP API has it")
    if mqtt.on and not mqtt.url and listener_tls("mqtt", mqtt.certificate, mqtt.key, settings.home):
        yield well("tls", "the broker inside has it")


def _gateway(settings: Settings) -> Iterator[Finding]:
    if not service_url(settings.gateway):
        return
    if find_api_key(settings.home, os.environ):
        yield well("gateway", "it has its key")
    else:
        yield watch("gateway", "it has no key", f"set {VARIABLE} if the service asks for one.")


def _folders(settings: Settings) -> Iterator[Finding]:
    companion_id(settings.home, make=False)
    for place in folder_sources(settings.folders, ""):
        listing = list_files(place, settings.folders.most_files)
        name = f"folder {place.name}"
        if listing is None:
            yield wrong(name, f"{place.root / place.only} is not there", "make it, or take it out of the settings.")
        elif listing.told:
            yield watch(name, listing.told[0], "GET /v1/folders tells all that is left out, while a companion runs.")
        else:
            yield well(name, f"{len(listing.files)} files")
