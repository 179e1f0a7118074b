"""`engram bridge`: bridges to IM networks in companion.toml.

A running companion applies each change at once.
"""

import asyncio
import getpass
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled, WrongUsage
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

    from engram_host.companion.bridges.kinds import BridgeField, NetworkKind

CHECK_SECONDS = 60.0
_MOST_INPUT = 64 * 4096

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
    from engram_host.cli.bridges.toml_file import put_bridge
    from engram_host.companion.auth.secrets import SecretStore
    from engram_host.companion.bridges.kinds import check_bridge, secret_name
    from engram_host.companion.settings import make_folder

    name = check_bridge_name(name or network)
    table: dict[str, Any] = {"network": network, **({"keyring": True} if keyring else {})}
    kind = check_bridge(read_bridges({name: table})[0])
    _check_place(context.read_settings().bridges, name, replace=replace)
    _load(kind)
    if kind.hint:
        typer.echo(kind.hint, err=True)
    values = _collect_values(kind, given or [])
    hidden = {field.name for field in kind.fields if field.is_secret}
    shown = {key: value for key, value in values.items() if key not in hidden}
    settings = read_bridges({name: table | shown})[0]
    check_servers((*(each for each in context.read_settings().bridges if each.name != name), settings))
    account = _sign_in(kind, values) if check else ""
    make_folder(context.home)
    secrets = SecretStore(context.home)
    for field in sorted(hidden):
        if field in values:
            secrets.keep(secret_name(name, field), values[field], in_keyring=keyring)
        else:
            secrets.remove(secret_name(name, field), in_keyring=keyring)
    put_bridge(context.home, name, table | shown)
    _note(context, f"bridge add {name}")
    _tell_added(context, settings, account)


@app.command("list")
@takes(HOME, JSON)
def list_bridges(context: Context) -> None:
    """List the bridges in companion.toml, and how each one is if a companion runs on the folder.

    Example: engram bridge list
    """
    running = {each["name"]: each for each in ask_running(context, "GET", "/v1/bridges") or []}
    rows = [_described(settings, running.get(settings.name, {})) for settings in context.read_settings().bridges]
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
    from engram_host.companion.bridges.kinds import KINDS, secret_name

    settings = next((each for each in context.read_settings().bridges if each.name == name), None)
    if settings is None:
        raise NotFound(f"there is no bridge {name[:40]}; `engram bridge list` lists all.")
    drop_bridge(context.home, name)
    kind = KINDS.get(settings.network)
    for field in kind.fields if kind else ():
        if field.is_secret:
            SecretStore(context.home).remove(secret_name(name, field.name), in_keyring=settings.in_keyring)
    _note(context, f"bridge remove {name}")
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


def _check_place(bridges: tuple[BridgeSettings, ...], name: str, *, replace: bool) -> None:
    there = [each.name for each in bridges]
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
    from engram_host.companion.bridges.errors import BridgeError
    from engram_host.companion.bridges.kinds import check_account

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


def _note(context: Context, action: str) -> None:
    from engram_host.cli.backup import note_quietly
    from engram_host.companion.settings import database_file

    settings = context.read_settings()
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


# --- fields, from --set, from lines of a pipe, or from questions on a terminal


def _collect_values(kind: "NetworkKind", given: list[str]) -> dict[str, str]:
    """Return the fields' values; asks for missing ones on a terminal. Raises WrongUsage."""
    fields = {field.name: field for field in kind.fields}
    values = _parsed(kind, given, fields)
    for name in values:
        if fields[name].is_secret:
            problem = f"--set {name} would show a secret to all users of this computer: pipe a line {name}=... into the command"
            raise WrongUsage(f"{problem}, or let it ask.")
    is_asked = sys.stdin.isatty()
    if not is_asked:
        lines = [line.rstrip("\r\n") for line in sys.stdin.readlines(_MOST_INPUT)]
        values = _parsed(kind, [line for line in lines if line.strip()], fields) | values
    for field in kind.fields:
        if is_asked and field.name not in values:
            values[field.name] = _ask(field)
        if not values.get(field.name) and not field.default and not field.is_optional:
            how = f"a line {field.name}=... on its stdin" if field.is_secret else f"--set {field.name}=..."
            raise WrongUsage(f"{kind.title} needs {field.name} ({field.question}): give {how}.")
    return {name: value for name, value in values.items() if value}


def _parsed(kind: "NetworkKind", given: list[str], fields: "dict[str, BridgeField]") -> dict[str, str]:
    values: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or name not in fields:
            raise WrongUsage(f"{kind.title} has the fields {', '.join(fields)}, each given as FIELD=VALUE.")
        values[name] = value.strip() if not fields[name].is_secret else value
    return values


def _ask(field: "BridgeField") -> str:
    hint = f" [{field.default}]" if field.default else " (empty: none)" if field.is_optional else ""
    question = output.printable_line(f"{field.question}{hint}: ")
    while True:
        answer = getpass.getpass(question) if field.is_secret else input(question).strip()
        if answer or field.default or field.is_optional:
            return answer or field.default
