"""`engram device`: tokens of boards, and mosquitto's files made of them.

These commands work on the companion's database itself, whether a companion runs or not: it is shared and transactional, and a
companion that runs sees the change within seconds.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.cli.exit_status import CommandError, NotFound
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.auth import tokens
from engram_host.companion.auth.broker_files import MOSQUITTO_SYSTEM_USER, access_for
from engram_host.companion.auth.broker_secrets import CHECKER, COMPANION, broker_secret
from engram_host.companion.errors import SettingError
from engram_host.companion.types import DEVICE_NAME

if TYPE_CHECKING:
    from engram_host.companion.settings import Settings
    from engram_host.companion.store import CompanionStore

app = typer.Typer(help="Manage the tokens with which boards log in to the companion.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="the board's name: lowercase letters, digits and -, at most 32 characters")]


@app.command()
@takes(HOME, JSON)
def add(context: Context, name: Name) -> None:
    """Create a token for a board and print it. It is shown only once.

    Example: engram device add kitchen
    """
    with _store(context.home) as (store, settings):
        token = tokens.new_token()
        if not store.add_token(tokens.stored_token(_checked(name), token)):
            raise CommandError(f"{name} already has a token; `engram device rotate {name}` replaces it.")
        _show(context, name, token, settings)


@app.command()
@takes(HOME, JSON)
def rotate(context: Context, name: Name) -> None:
    """Replace a board's token; the old one stops working within seconds.

    Example: engram device rotate kitchen
    """
    with _store(context.home) as (store, settings):
        token = tokens.new_token()
        if not store.replace_token(tokens.stored_token(_checked(name), token)):
            raise NotFound(f"{name} has no token; `engram device add {name}` creates one.")
        _show(context, name, token, settings)


@app.command()
@takes(HOME, JSON)
def remove(context: Context, name: Name) -> None:
    """Remove a board's token. The companion keeps its copy of the board's memory.

    Example: engram device remove kitchen
    """
    with _store(context.home) as (store, _):
        if not store.remove_token(_checked(name)):
            raise NotFound(f"{name} has no token.")
    typer.echo(json.dumps({"device": name, "removed": True}) if context.json else f"{name} has no token now.")


@app.command("list")
@takes(HOME, JSON)
def list_devices(context: Context) -> None:
    """List the boards, their tokens and when each last connected.

    Example: engram device list
    """
    with _store(context.home) as (store, _):
        heard = {device.name: device.heard for device in store.devices()}
        made = {token.device: token.made for token in store.tokens()}
    found = [
        {"device": name, "token_made": made.get(name), "heard": heard.get(name)} for name in sorted({*heard, *made})
    ]
    if context.json:
        typer.echo(json.dumps(found))
        return
    for each in found or [None]:
        if each is None:
            typer.echo("no board has a token yet; `engram device add NAME` creates one.")
        else:
            status = f"token made {_day(each['token_made'])}" if each["token_made"] else "no token"
            typer.echo(
                f"{each['device']:32}  {status:22}  {'heard ' + _day(each['heard']) if each['heard'] else ''}".rstrip()
            )


@app.command("mosquitto")
@takes(HOME, JSON)
def write_mosquitto(
    context: Context,
    folder: Annotated[Path, typer.Argument(help="output folder")],
    user: Annotated[str, typer.Option(help="user of this computer as whom mosquitto runs")] = MOSQUITTO_SYSTEM_USER,
) -> None:
    """Write the files for your own mosquitto broker: passwords, topic access and configuration.

    The companion's own password in them stays the same until you set mqtt.password.

    Example: engram device mosquitto build/mosquitto-files
    """
    with _store(context.home) as (store, settings):
        login = tokens.MosquittoUser(
            settings.mqtt.username or tokens.MOSQUITTO_USER, settings.mqtt.password or broker_secret(store, COMPANION)
        )
        checker = tokens.MosquittoUser(tokens.MOSQUITTO_CHECKER, broker_secret(store, CHECKER))
        where = folder.expanduser().absolute()
        access = access_for(user, where)
        written = tokens.write_mosquitto_files(where, store.tokens(), login, checker, access)
    is_set = bool(settings.mqtt.password)
    if context.json:
        status = {"files": [str(path) for path in written]}
        status |= {} if is_set else {"username": login.name, "password": login.password}
        typer.echo(json.dumps(status | ({"advice": access.advice} if access.advice else {})))
        return
    for path in written:
        typer.echo(str(path))
    if access.advice:
        typer.echo(access.advice, err=True)
    if not is_set:
        typer.echo(f'\nIn companion.toml:\n[mqtt]\nurl = "mqtt://HOST:1883"\nusername = "{login.name}"')
        typer.echo(f'password = "{login.password}"')


@contextlib.contextmanager
def _store(home: Path) -> "Iterator[tuple[CompanionStore, Settings]]":
    """The companion's store."""
    from engram_host.companion.settings import make_folder, read_settings, store_url
    from engram_host.companion.store import open_store

    settings = read_settings(home, {})
    make_folder(settings.home)
    store = open_store(store_url(settings.store, settings.home))
    try:
        yield store, settings
    finally:
        store.close()


def _checked(name: str) -> str:
    if not re.fullmatch(DEVICE_NAME, name):
        raise SettingError(
            repr(name[:40]), "is not a board name: use lowercase letters, digits and -, at most 32 characters."
        )
    return name


def _show(context: Context, name: str, token: str, settings: "Settings") -> None:
    if context.json:
        typer.echo(json.dumps({"device": name, "token": token}))
        return
    url = settings.mqtt.url or f"{'mqtts' if settings.mqtt.certificate else 'mqtt'}://HOST:{settings.mqtt.port}"
    config = {"companion": {"url": url.rpartition("@")[2] if "@" in url else url, "device": name}}
    typer.echo(f"The token of {name}, which is not shown again:\n\n  {token}\n")
    typer.echo(f"On the board, in config.json (HOST is this computer):\n\n  {json.dumps(config)}\n")
    typer.echo(f"and in secrets.json:\n\n  {json.dumps({'companion': {'token': token}})}")


def _day(seconds: object) -> str:
    return datetime.fromtimestamp(float(str(seconds)), UTC).strftime("%Y-%m-%d")
