"""Checks of a companion: ports, database, boards, and what a start checks."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engram_host.companion.auth.exposure import check_exposure, tokens_required
from engram_host.companion.auth.tokens import OPERATOR_FILE, read_secret
from engram_host.companion.diagnosis import checks as setup
from engram_host.companion.diagnosis.findings import Finding, watch, well, wrong
from engram_host.companion.errors import IF_DAMAGED, CompanionError, StoreUnavailable
from engram_host.companion.folders.service import companion_id
from engram_host.companion.folders.sources import folder_sources, list_files
from engram_host.companion.lockfile import bind_socket
from engram_host.companion.settings import Settings, database_file
from engram_host.companion.store.damage import COUNTS, DamagedLines
from engram_host.companion.store.database import bundled_migrations
from engram_host.companion.store.recovery import opened_file
from engram_host.companion.types import FOLDER
from engram_host.wording import counted, format_time

SILENT_SECONDS = 24 * 3600

MOST_TOLD = 20

_APPLIED = "SELECT number, checksum FROM migrations"
_CONNECT_SECONDS = 5
_CHECK_SECONDS = 10.0
"""Time limit of the check of pages; `engram backup` checks all of them."""


def ports(settings: Settings, running: dict[str, str]) -> Iterator[Finding]:
    if running:
        yield well("ports", f"a companion listens at {running.get('http')}")
        return
    host, port = settings.http.host, settings.http.port
    name = f"port {port}"
    try:
        bind_socket(host, port).close()
    except OSError as error:
        do = "stop the program that listens there, or set another http.port."
        yield wrong(name, f"{host}:{port} cannot be used: {error.strerror}", do)
    else:
        yield well(name, f"free at {host}")


# --- the database


def database(settings: Settings) -> Iterator[Finding]:
    """Check that the database is there, whole, and of a known schema; changes nothing."""
    try:
        path = database_file(settings)
        if path is None:
            yield _of_schema("PostgreSQL", _rows_of_postgres(settings.store.url, _APPLIED))
        elif path.exists():
            yield from _sqlite(path)
        else:
            yield well("database", f"{path} will be created at the first start")
    except CompanionError as problem:
        yield wrong("database", "cannot be used", str(problem))


def _sqlite(path: Path) -> Iterator[Finding]:
    try:
        with opened_file(path, "ro") as opened:
            applied = opened.execute(_APPLIED).fetchall()
            verdict = _verdict(opened)
            damaged = _damaged_lines(opened)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        is_busy = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        advice = "close the other program that uses it, and look again." if is_busy else IF_DAMAGED
        yield wrong("database", f"{path}: {error}", advice)
        return
    if verdict != "ok":
        yield wrong("database", f"{path}: {verdict}", IF_DAMAGED)
        return
    yield _of_schema(f"{path}", applied)
    for lines in damaged:
        yield watch("database", lines.sentence, "run `engram serve`: it asks the boards for them.")


def _verdict(opened: sqlite3.Connection) -> str:
    """Return SQLite's complaint about the pages within a few seconds, "ok" if there is none."""
    until = time.monotonic() + _CHECK_SECONDS
    opened.set_progress_handler(lambda: time.monotonic() > until, 10_000)
    try:
        return opened.execute("PRAGMA quick_check(1)").fetchall()[0][0]
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            return "ok"
        raise
    finally:
        opened.set_progress_handler(None, 0)


def _damaged_lines(opened: sqlite3.Connection) -> list[DamagedLines]:
    return [DamagedLines(*row) for row in opened.execute(COUNTS).fetchall()]


def _of_schema(name: str, applied: list[Any]) -> Finding:
    steps = {step.number: step.checksum for step in bundled_migrations()}
    if any(steps.get(number) != checksum for number, checksum in applied):
        return wrong(
            "database", f"{name} was made by another version of Engram", "update Engram, or name another database."
        )
    newest = max((number for number, _ in applied), default=0)
    if newest < max(steps):
        return well("database", f"{name}, schema {newest}; the next start brings it to {max(steps)}")
    return well("database", f"{name}, schema {newest}")


# --- who is there


def companion(settings: Settings, running: dict[str, str]) -> Iterator[Finding]:
    from engram_host.cli.api_client import ApiClient, RequestRefused
    from engram_host.cli.exit_status import CommandError

    if not running:
        yield watch("companion", "none runs in this folder", "`engram serve` starts one.")
        yield from _boards(_heard(settings))
        return
    try:
        with ApiClient("", settings.home, seconds=_CONNECT_SECONDS) as asked:
            health = asked.get("/v1/health")
            heard = {each["name"]: each["heard"] for each in asked.devices()}
    except RequestRefused as problem:
        yield wrong("companion", f"the one at {running.get('http')} cannot serve", str(problem))
        return
    except CommandError as problem:
        yield wrong("companion", f"the one at {running.get('http')} does not answer", str(problem))
        return
    yield well("companion", f"{health['version']} at {running['http']}")
    for problem in health["problems"]:
        yield wrong("companion", problem, "see docs/start/companion.md, and the companion's log.")
    for task in health.get("tasks", []):
        if task["restarts"]:
            times = counted(task["restarts"], "time", "times")
            detail = f"its task {task['name']} was restarted {times}; last error: {task['error']}"
            yield watch("companion", detail, "see the companion's log; --log-level debug shows the traceback.")
    yield from _boards(heard)


def _heard(settings: Settings) -> dict[str, int]:
    """Return when each board last connected; {} if the database cannot simply be read."""
    found = dict(_rows(settings, "SELECT name, heard FROM devices") or ())
    return {name: heard for name, heard in found.items() if not name.startswith(FOLDER)}


def _boards(heard: dict[str, int]) -> Iterator[Finding]:
    now = time.time()
    for name, at in sorted(heard.items(), key=lambda each: (-each[1], each[0]))[:MOST_TOLD]:
        detail = f"last connected {format_time(at)}"
        if now - at > SILENT_SECONDS:
            yield watch(f"board {name}", detail, "check its power and network; /companion on it shows more.")
        else:
            yield well(f"board {name}", detail)
    if len(heard) > MOST_TOLD:
        yield well("boards", f"{len(heard) - MOST_TOLD} more; `engram device list` shows all")


# --- what `engram serve` refuses


def starting(settings: Settings) -> Iterator[Finding]:
    checks = {"tokens": _tokens, "tls": setup.tls, "gateway": setup.gateway, "folders": _folders}
    yield from setup.run_checks(settings, checks)


def _tokens(settings: Settings) -> Iterator[Finding]:
    if (settings.home / OPERATOR_FILE).exists():
        read_secret(settings.home / OPERATOR_FILE)
    has_devices = _has_devices(settings)
    if has_devices is not None:  # else another check reports on the database
        check_exposure(settings.security, settings.http, has_devices=has_devices)
    is_asked = tokens_required(settings.security, settings.http.host)
    yield well("tokens", "required" if is_asked else "not required: only this computer reaches the companion")


def _has_devices(settings: Settings) -> bool | None:
    """True if any board has a token; None if the database cannot be asked."""
    rows = _rows(settings, "SELECT count(*) FROM device_tokens")
    return None if rows is None else bool(rows and rows[0][0])


def _rows(settings: Settings, sql: str) -> list[Any] | None:
    """Return rows, [] without a database; None if it cannot be asked."""
    try:
        path = database_file(settings)
        return _rows_of_sqlite(path, sql) if path else _rows_of_postgres(settings.store.url, sql)
    except (CompanionError, sqlite3.Error, ModuleNotFoundError):
        return None


def _rows_of_sqlite(path: Path, sql: str) -> list[Any]:
    if not path.exists():
        return []
    with opened_file(path, "ro") as opened:
        return opened.execute(sql).fetchall()


def _rows_of_postgres(url: str, sql: str) -> list[Any]:
    """Return rows, [] before the first start. Raise StoreUnavailable."""
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
            return connection.execute(sql).fetchall()  # pyright: ignore[reportCallIssue, reportArgumentType]
    except psycopg.errors.UndefinedTable:
        return []
    except psycopg.Error as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreUnavailable(f"PostgreSQL: {first}: check that it runs, and check store.url.") from None


def _folders(settings: Settings) -> Iterator[Finding]:
    companion_id(settings.home, make=False)
    for place in folder_sources(settings.folders, ""):
        listing = list_files(place, settings.folders.most_files)
        name = f"folder {place.name}"
        if listing is None:
            yield wrong(name, f"{place.root / place.only} is not there", "create it, or remove it from the settings.")
        elif listing.problems:
            yield watch(
                name, listing.problems[0], "GET /v1/folders lists all that is left out, while a companion runs."
            )
        else:
            yield well(name, f"files: {len(listing.files)}")
