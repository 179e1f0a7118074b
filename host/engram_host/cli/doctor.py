"""`engram doctor`: checks the setup, and says how to fix it."""

import asyncio
import itertools
import os
import ssl
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from engram_host.cli import output
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.diagnosis.computer import clock, disk
from engram_host.companion.diagnosis.findings import REFUSED, WATCH, WELL, WRONG, Finding, watch, well, wrong
from engram_host.companion.errors import SettingError
from engram_host.extras import EXTRAS, install_command, missing_packages

if TYPE_CHECKING:  # without the companion's packages the other checks are done all the same
    import aiomqtt

    from engram_host.companion.auth.secrets import SecretStore
    from engram_host.companion.bridge_settings import BridgeSettings
    from engram_host.companion.settings import Settings

_MARKS = {WELL: "ok", WATCH: "look", WRONG: "WRONG"}


@takes(HOME, JSON)
def doctor(context: Context) -> None:
    """Diagnose the setup and say how to fix what is wrong; exits with status 1 then. Needs no companion.

    Example: engram doctor

    Example: engram doctor --home ~/.engram/companion --json
    """
    found = list(_findings(context.home))
    is_well = all(finding.state != WRONG for finding in found)
    if context.json:
        output.print_json({"well": is_well, "checks": [_as_json(finding) for finding in found]})
    else:
        rows = [
            (_MARKS[each.state], each.name, f"{each.detail}: {each.advice}" if each.advice else each.detail)
            for each in found
        ]
        output.print_table(("", "what", "how it is"), rows)
    raise typer.Exit(0 if is_well else 1)


def _as_json(finding: Finding) -> dict[str, str]:
    return {"name": finding.name, "state": finding.state, "told": finding.detail, "do": finding.advice}


def _findings(home: Path) -> Iterator[Finding]:
    yield _python()
    try:
        from engram_host.cli import doctor_checks as companion
        from engram_host.companion.diagnosis import checks
        from engram_host.companion.settings import read_settings
    except ModuleNotFoundError:
        # Without the companion's packages its settings cannot be read, nor checked.
        yield from _packages(())
        yield from (disk(home), clock(home), _micropython())
        return
    from engram_host.companion.lockfile import running_addresses

    try:
        settings = read_settings(home, {}, os.environ)
    except SettingError as problem:
        yield wrong("settings", "one is wrong", str(problem))
        return
    running = running_addresses(home)
    found: list[Iterable[Finding]] = [
        _packages(_extras(settings)),
        [_embedder(settings), disk(home), clock(home), _micropython()],
        checks.files(settings),
        companion.starting(settings),
        companion.ports(settings, running),
        companion.database(settings),
        _broker(settings),
        _bridges(settings),
        checks.alerts(settings),
        companion.companion(settings, running),
    ]
    yield from itertools.chain.from_iterable(found)


def _extras(settings: "Settings") -> set[str]:
    postgres = {"postgres"} if settings.store.url.startswith("postgres") else set[str]()
    return postgres | {bridge.network for bridge in settings.bridges if bridge.is_on}


# --- the installation

_OLDEST = (3, 11)

_NOT_LOCAL = ("auto", "openai")


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info[:2] < _OLDEST:
        return wrong("python", version, "install Python 3.11 or newer, and Engram with it.")
    return well("python", version)


_ALWAYS = ("companion", "board")


def _packages(needed: Collection[str]) -> Iterator[Finding]:
    """Yield findings on packages; `needed` are the extras beside _ALWAYS."""
    for extra, packages in EXTRAS.items():
        if extra not in _ALWAYS and extra not in needed:
            continue
        missing = missing_packages(extra)
        what = f"packages: {extra}"
        if not missing:
            yield well(what, f"{len(packages)} packages are installed")
        elif extra == "board":
            yield watch(what, f"not installed: {', '.join(missing)}", f"for `engram board`: {install_command(extra)}")
        else:
            yield wrong(what, f"not installed: {', '.join(missing)}", install_command(extra))


def _embedder(settings: "Settings") -> Finding:
    provider = settings.embedding.provider
    name = "embedder"
    is_missing = False
    if provider == "none":
        return watch(name, "none: searches use words only", 'set embedding.provider to "auto" to search by meaning.')
    try:
        from engram_host.companion.embedding.local_embedder import LOCAL, local_models

        model = local_models(LOCAL if provider in _NOT_LOCAL else provider)[0]
        is_missing = provider == "auto" and not model.is_installed
        model.check(model.folder())
    except ImportError as missing:
        return wrong(name, f"the package {missing.name} is not installed", install_command("companion"))
    except Exception as problem:  # noqa: BLE001 - whatever is wrong with the model is what is looked for
        detail = str(problem)
        what = "the local model cannot be used"
        if is_missing:
            return watch(name, "without the optional local model searches use words only", detail)
        if provider != "openai":
            return wrong(name, what, detail)
        return watch(name, f"{provider}; {what} in its place", detail)
    missing = missing_packages("onnx")
    if missing:
        return wrong(name, f"the local model {model.name} needs {', '.join(missing)}", install_command("onnx"))
    return well(name, f"{provider}, and the local model {model.name} is complete")


def _micropython() -> Finding:
    from engram_host.simulator import board

    try:
        return well("micropython", f"{board.find_micropython()}")
    except board.NoMicroPython as problem:
        return watch("micropython", "only `engram run` needs it, and it is not there", str(problem))


# --- the broker and bridges

_BROKER_SECONDS = 5.0
_SIGN_IN_SECONDS = 20.0


def _broker(settings: "Settings") -> Iterator[Finding]:
    if not settings.mqtt.url:
        yield well("broker", "none: boards connect over HTTP")
        return
    try:
        yield asyncio.run(_reach_broker(settings))
    except SettingError as problem:
        yield wrong("broker", REFUSED, str(problem))


async def _reach_broker(settings: "Settings") -> Finding:
    import aiomqtt

    from engram_host.companion.auth.exposure import tokens_required
    from engram_host.companion.mqtt import broker_login, parse_broker_url

    where, login = parse_broker_url(settings.mqtt.url), broker_login(settings.mqtt, settings.home)
    is_secure = where.scheme == "mqtts"
    port = where.port or (8883 if is_secure else 1883)
    name = f"{where.hostname}:{port}"

    def client(user: str | None, password: str | None) -> "aiomqtt.Client":
        tls = (login.tls or ssl.create_default_context()) if is_secure else None
        host = where.hostname or ""
        return aiomqtt.Client(host, port, username=user, password=password, tls_context=tls, timeout=_BROKER_SECONDS)

    try:
        async with client(where.username or login.name or None, where.password or login.password or None):
            pass
    except (aiomqtt.MqttError, OSError, ValueError) as error:
        return wrong("broker", f"{name}: {error}", "check that it runs, and check the mqtt settings.")
    try:
        async with client(None, None):
            finding = wrong if tokens_required(settings.security, settings.http.host) else watch
            advice = "run `engram device mosquitto FOLDER`, and let the broker read the files."
            return finding("broker", "anybody connects to it without a password, and reads what boards send", advice)
    except aiomqtt.MqttError:
        return well("broker", f"{name} is reached, and asks for a password")


def _bridges(settings: "Settings") -> Iterator[Finding]:
    """Yield a finding for each bridge: its first problem, or that it can sign in. Sends nothing."""
    from engram_host.companion.auth.secrets import SecretStore

    secrets = SecretStore(settings.home, os.environ)
    for bridge in settings.bridges:
        yield _bridge(bridge, secrets) if bridge.is_on else watch(f"bridge {bridge.name}", "off")


def _bridge(bridge: "BridgeSettings", secrets: "SecretStore") -> Finding:
    from engram_host.companion.bridges.errors import BridgeError, BridgeUnavailable
    from engram_host.companion.bridges.kinds import check_account, check_bridge, complete_values, load_network

    name = f"bridge {bridge.name}"
    try:
        kind = check_bridge(bridge)
    except SettingError as problem:
        return wrong(name, REFUSED, str(problem))
    try:
        load_network(kind.name)
        values = complete_values(bridge, secrets)
        account = asyncio.run(check_account(kind, values, _SIGN_IN_SECONDS))
    except BridgeUnavailable as problem:
        return wrong(name, "cannot run", str(problem))
    except SettingError as problem:
        return wrong(name, "a setting is missing or cannot be read", str(problem))
    except BridgeError as problem:
        return wrong(name, f"cannot sign in to {kind.title}", str(problem))
    return well(name, f"signs in to {kind.title} as {account}")
