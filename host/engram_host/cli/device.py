"""`engram device`: tokens of boards, and mosquitto's files made of them.

These commands change the shared database directly; a running companion sees a change within seconds.
"""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.access import checked_name, note_command, opened_store, read_duration
from engram_host.cli.exit_status import CommandError, NotFound
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.auth import mosquitto, tokens
from engram_host.companion.auth.mosquitto import (
    COMPANION,
    HOME_ASSISTANT,
    MOSQUITTO_SYSTEM_USER,
    PROGRAM,
    access_for,
    broker_secret,
    sense_topics,
)
from engram_host.companion.settings_reader import without_login

if TYPE_CHECKING:
    from engram_host.companion.settings import Settings

app = typer.Typer(help="Manage the tokens with which boards log in to the companion.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="the board's name: lowercase letters, digits and -, at most 32 characters")]


@app.command()
@takes(HOME, JSON)
def add(context: Context, name: Name) -> None:
    """Create a token for a board and print it. It is shown only once.

    Example: engram device add kitchen
    """
    with opened_store(context.home) as (store, settings):
        token = tokens.new_token()
        if not store.tokens.add_token(tokens.stored_token(checked_name(name), token)):
            raise CommandError(f"{name} already has a token; `engram device rotate {name}` replaces it.")
        note_command(store.audit, f"device add {name}")
        _show(context, name, token, settings)


@app.command()
@takes(HOME, JSON)
def rotate(
    context: Context,
    name: Name,
    grace: Annotated[
        str, typer.Option(help="the old token works this much longer, such as 30m, 24h or 7d; default: not at all")
    ] = "",
) -> None:
    """Replace a board's token. The old one stops working within seconds, or after the grace time.

    Example: engram device rotate kitchen

    Example: engram device rotate kitchen --grace 24h
    """
    ends = int(time.time()) + read_duration("--grace", grace) if grace else 0
    with opened_store(context.home) as (store, settings):
        token = tokens.new_token()
        if not store.tokens.replace_token(tokens.stored_token(checked_name(name), token), ends):
            raise NotFound(f"{name} has no token; `engram device add {name}` creates one.")
        until = f"until {output.format_time(ends)}" if ends else "no longer"
        note_command(store.audit, f"device rotate {name}, the old token is valid {until}")
        _show(context, name, token, settings)
    if ends and not context.json:
        typer.echo(f"\nThe old token is valid {until}; your own mosquitto knows only the new one.")


@app.command()
@takes(HOME, JSON)
def remove(context: Context, name: Name) -> None:
    """Remove a board's token. The companion keeps its copy of the board's memory.

    Example: engram device remove kitchen
    """
    with opened_store(context.home) as (store, _):
        if not store.tokens.remove_token(checked_name(name)):
            raise NotFound(f"{name} has no token.")
        note_command(store.audit, f"device remove {name}")
    output.print_either({"device": name, "removed": True}, f"{name} has no token now.", is_json=context.json)


@app.command("list")
@takes(HOME, JSON)
def list_devices(context: Context) -> None:
    """List the boards: their tokens, and when each last connected.

    Example: engram device list
    """
    with opened_store(context.home) as (store, _):
        heard = {device.name: device.heard for device in store.boards.devices()}
        made = {token.device: token.made for token in store.tokens.tokens()}
        former = store.tokens.former_tokens(int(time.time()))
    found = [
        {"device": name, "token_made": made.get(name), "former_ends": former.get(name), "heard": heard.get(name)}
        for name in sorted({*heard, *made})
    ]
    if context.json:
        output.print_json(found)
        return
    empty = "no board has a token yet; `engram device add NAME` creates one."
    output.print_table(("device", "token", "heard", ""), [_row(each) for each in found], empty)


@app.command("mosquitto")
@takes(HOME, JSON)
def write_mosquitto(
    context: Context,
    folder: Annotated[Path, typer.Argument(help="output folder")],
    user_name: Annotated[
        str, typer.Option("--user", help="user of this computer as whom mosquitto runs")
    ] = MOSQUITTO_SYSTEM_USER,
) -> None:
    """Write the files for your own mosquitto broker: passwords, topic access and configuration.

    The companion's own password in them stays the same until you set mqtt.password.

    Example: engram device mosquitto build/mosquitto-files
    """
    from engram_host.companion.home_assistant.publisher import discovery_prefix

    with opened_store(context.home) as (store, settings):
        prefix = discovery_prefix(settings.mqtt)
        login = mosquitto.MosquittoUser(
            settings.mqtt.username or mosquitto.MOSQUITTO_USER,
            settings.mqtt.password or broker_secret(store.values, COMPANION),
            mosquitto.COMPANION_TOPICS + (sense_topics(prefix, "readwrite") if prefix else ()),
        )
        programs: dict[str, mosquitto.MosquittoUser] = {}
        if settings.chat.mqtt:
            password = broker_secret(store.values, PROGRAM)
            user = mosquitto.MosquittoUser(mosquitto.MOSQUITTO_PROGRAM, password, mosquitto.PROGRAM_TOPICS)
            programs["Programs that talk to boards"] = user
        if prefix:
            rights = (*sense_topics(prefix, "read"), f"write {prefix}/status")
            password = broker_secret(store.values, HOME_ASSISTANT)
            user = mosquitto.MosquittoUser(mosquitto.MOSQUITTO_HOME_ASSISTANT, password, rights)
            programs["Home Assistant"] = user
        where = folder.expanduser().absolute()
        access = access_for(user_name, where)
        written = mosquitto.write_mosquitto_files(where, store.tokens.tokens(), [login, *programs.values()], access)
        note_command(store.audit, "device mosquitto")
    is_set = bool(settings.mqtt.password)
    if context.json:
        status = {"files": [str(path) for path in written]}
        status |= {} if is_set else {"username": login.name, "password": login.password}
        status |= {"programs": {user.name: user.password for user in programs.values()}} if programs else {}
        typer.echo(json.dumps(status | ({"advice": access.advice} if access.advice else {})))
        return
    for path in written:
        typer.echo(str(path))
    if access.advice:
        typer.echo(access.advice, err=True)
    if not is_set:
        typer.echo(f'\nIn companion.toml:\n[mqtt]\nurl = "mqtt://HOST:1883"\nusername = "{login.name}"')
        typer.echo(f'password = "{login.password}"')
    for who, program in programs.items():
        typer.echo(f"\n{who}: user {program.name}, password {program.password}")


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    made, heard, former = each["token_made"], each["heard"], each["former_ends"]
    return (
        each["device"],
        f"token made {output.format_day(made)}" if made else "no token",
        f"heard {output.format_day(heard)}" if heard else "",
        f"old token until {output.format_time(former)}" if former else "",
    )


def _show(context: Context, name: str, token: str, settings: "Settings") -> None:
    if context.json:
        typer.echo(json.dumps({"device": name, "token": token}))
        return
    scheme = "https" if settings.http.certificate else "http"
    url = without_login(settings.mqtt.url) or f"{scheme}://HOST:{settings.http.port}"
    config = {"companion": {"url": url, "device": name}}
    typer.echo(f"The token of {name}, which is not shown again:\n\n  {token}\n")
    typer.echo(f"On the board, in config.json (HOST is this computer):\n\n  {json.dumps(config)}\n")
    typer.echo(f"and in secrets.json:\n\n  {json.dumps({'companion': {'token': token}})}")
