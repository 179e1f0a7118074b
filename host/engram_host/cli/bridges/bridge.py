"""`engram bridge`: bridges to IM networks in companion.toml.

A running companion applies each change at once.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled
from engram_host.cli.options import HOME, JSON, URL, Context, takes
from engram_host.companion.bridge_settings import (
    MOST_BRIDGES,
    BridgeSettings,
    check_bridge_name,
    check_servers,
    read_bridges,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engram_host.companion.bridges.kinds import NetworkKind

CHECK_SECONDS = 60.0

app = typer.Typer(help="Let people talk to boards from IM networks.", no_args_is_help=True)

Network = Annotated[str, typer.Argument(help="xmpp, irc, matrix, telegram, discord or slack")]
Name = Annotated[str, typer.Argument(help="the bridge's name; `engram bridge list` lists all")]


@app.command()
@takes(HOME, JSON)
def add(
    context: Context,
    network: Network,
    name: Annotated[
        str, typer.Option(help="the bridge's name, for a second one of a network; default: the network's")
    ] = "",
    given: Annotated[
        list[str] | None, typer.Option("--set", help="a field as FIELD=VALUE; repeatable; no secrets")
    ] = None,
    keyring: Annotated[bool, typer.Option("--keyring", help="keep secrets in the system's keyring")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="replace the bridge of that name")] = False,
    check: Annotated[bool, typer.Option("--check/--no-check", help="sign in before anything is kept")] = True,
) -> None:
    """Add a bridge: asks for what the network needs, signs in, and keeps it. A companion that runs starts it at once.

    Programs give fields with --set, and secrets as lines FIELD=VALUE on stdin.

    Example: engram bridge add matrix

    Example: echo "token=123:abc" | engram bridge add telegram
    """
    from engram_host.cli.bridges.asking import collect_values
    from engram_host.cli.bridges.toml_file import put_bridge
    from engram_host.companion.auth.secrets import SecretStore
    from engram_host.companion.bridges.configured import check_bridge, secret_name
    from engram_host.companion.settings import make_folder

    name = check_bridge_name(name or network)
    table: dict[str, Any] = {"network": network, **({"keyring": True} if keyring else {})}
    kind = check_bridge(read_bridges({name: table})[0])
    _check_place(context.home, name, replace=replace)
    _load(kind)
    if kind.hint:
        typer.echo(kind.hint, err=True)
    values = collect_values(kind, given or [])
    hidden = {field.name for field in kind.fields if field.is_secret}
    shown = {key: value for key, value in values.items() if key not in hidden}
    settings = read_bridges({name: table | shown})[0]
    check_servers((*(each for each in _bridges(context.home) if each.name != name), settings))
    account = _sign_in(kind, values) if check else ""
    make_folder(context.home)
    secrets = SecretStore(context.home)
    for field in sorted(hidden):
        if field in values:
            secrets.keep(secret_name(name, field), values[field], in_keyring=keyring)
        else:
            secrets.remove(secret_name(name, field), in_keyring=keyring)
    put_bridge(context.home, name, table | shown)
    _note(context.home, f"bridge add {name}")
    _tell_added(context, settings, account)


@app.command("list")
@takes(HOME, JSON)
def list_bridges(context: Context) -> None:
    """List the bridges in companion.toml, and how each one is if a companion runs on the folder.

    Example: engram bridge list
    """
    running = {each["name"]: each for each in ask_running(context, "GET", "/v1/bridges") or []}
    rows = [_described(settings, running.get(settings.name, {})) for settings in _bridges(context.home)]
    if context.json:
        output.print_json(rows)
        return
    columns = ("name", "network", "state", "account")
    table = [[row[column] for column in columns] for row in rows]
    output.print_table(columns, table, empty="there is no bridge yet; `engram bridge add NETWORK` makes one.")
    for row in rows:
        if row["reason"]:
            output.print_line(f"{row['name']}: {row['reason']}")


@app.command()
@takes(HOME, JSON)
def remove(context: Context, name: Name) -> None:
    """Remove a bridge with its secrets; a companion that runs ends it. People and what they said stay.

    Example: engram bridge remove matrix
    """
    from engram_host.cli.bridges.toml_file import drop_bridge
    from engram_host.companion.auth.secrets import SecretStore
    from engram_host.companion.bridges.configured import secret_name
    from engram_host.companion.bridges.kinds import KINDS

    settings = _bridge(context.home, name)
    drop_bridge(context.home, name)
    kind = KINDS.get(settings.network)
    for field in kind.fields if kind else ():
        if field.is_secret:
            SecretStore(context.home).remove(secret_name(name, field.name), in_keyring=settings.in_keyring)
    _note(context.home, f"bridge remove {name}")
    ask_running(context, "POST", "/v1/bridges/reload")
    output.print_either({"name": name, "removed": True}, f"the bridge {name} is removed.", is_json=context.json)


@app.command()
@takes(URL, HOME, JSON)
def reload(context: Context) -> None:
    """Let the companion read companion.toml and the secrets of bridges and alerts again. Needs a running companion.

    Bridges that have changed, or were stopped, start again; all others go on.

    Example: engram bridge reload
    """
    with context.open_companion() as companion:
        found = companion.post("/v1/bridges/reload", {})
    if context.json:
        output.print_json(found)
        return
    rows = [(each["name"], each["state"], each["reason"]) for each in found]
    output.print_table(("name", "state", ""), rows, empty="there is no bridge in companion.toml.")


# --- steps


def _bridges(home: Path) -> tuple[BridgeSettings, ...]:
    from engram_host.companion.settings import read_settings

    return read_settings(home, {}).bridges


def _bridge(home: Path, name: str) -> BridgeSettings:
    found = next((each for each in _bridges(home) if each.name == name), None)
    if found is None:
        raise NotFound(f"there is no bridge {name[:40]}; `engram bridge list` lists all.")
    return found


def _check_place(home: Path, name: str, *, replace: bool) -> None:
    there = [each.name for each in _bridges(home)]
    if name in there and not replace:
        raise CommandError(f"there is a bridge {name} already: give --name for a second one, or --replace.")
    if len(there) >= MOST_BRIDGES and name not in there:
        raise CommandError(f"there are {MOST_BRIDGES} bridges, as many as may be: remove one first.")


def _load(kind: "NetworkKind") -> None:
    from engram_host.companion.bridges.errors import BridgeUnavailable
    from engram_host.companion.bridges.kinds import load_network

    try:
        load_network(kind.name)
    except BridgeUnavailable as problem:
        raise NotInstalled(str(problem)) from None


def _sign_in(kind: "NetworkKind", values: "Mapping[str, str]") -> str:
    """Return the account's own name; raises CommandError."""
    from engram_host.companion.bridges.configured import check_account
    from engram_host.companion.bridges.errors import BridgeError

    whole = {field.name: values.get(field.name, field.default) for field in kind.fields}
    try:
        return asyncio.run(check_account(kind, whole, CHECK_SECONDS))
    except BridgeError as problem:
        raise CommandError(f"{kind.title} was not signed in to, and nothing is changed: {problem}") from None


def ask_running(context: Context, method: str, path: str) -> Any:
    """Return the answer of the running companion; None, with a message, if there is none."""
    from engram_host.companion.lockfile import running_addresses

    if not running_addresses(context.home):
        return None
    try:
        with context.open_companion() as companion:
            return companion.get(path) if method == "GET" else companion.post(path, {})
    except CommandError as problem:
        typer.echo(f"the companion did not take it up: {problem}", err=True)
        return None


def _note(home: Path, action: str) -> None:
    from engram_host.cli.backup import note_quietly
    from engram_host.companion.settings import database_file, read_settings

    settings = read_settings(home, {})
    path = database_file(settings)
    if path is None or path.exists():  # a missing audit log is not created
        note_quietly(settings, action)


def _tell_added(context: Context, settings: BridgeSettings, account: str) -> None:
    running = ask_running(context, "POST", "/v1/bridges/reload") is not None
    shown = {"name": settings.name, "network": settings.network, "account": account, "running": running}
    signed_in = f", signed in as {account}" if account else ""
    where = "The companion runs it now." if running else "`engram serve` runs it."
    output.print_either(shown, f"The bridge {settings.name} is kept{signed_in}. {where}", is_json=context.json)
    if not context.json:
        output.print_line("Write to it: it answers with a code. Then `engram people approve CODE` lets you talk;")
        output.print_line("with --owner you share the memory of the board's console.")


def _described(settings: BridgeSettings, running: dict[str, Any]) -> dict[str, Any]:
    shown = {"name": settings.name, "network": settings.network, "boards": list(settings.boards)}
    state = "not running" if settings.is_on else "off"
    return {**shown, "settings": dict(settings.fields), "state": state, "account": "", "reason": "", **running}
