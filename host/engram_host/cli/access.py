"""Access to the companion: `engram token` for operators' tokens, `engram tls` for private certificates.

Like other commands, these open the companion's database themselves and write each change to its audit log.
"""

import contextlib
import getpass
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, WrongUsage
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.auth import tokens
from engram_host.companion.errors import SettingError
from engram_host.companion.types import DEVICE_NAME, AuditEntry, OperatorToken

if TYPE_CHECKING:
    from engram_host.companion.auth.certificates import Issued, TlsFiles
    from engram_host.companion.settings import Settings
    from engram_host.companion.store import CompanionStore
    from engram_host.companion.store.tokens import AuditTable


_UNITS = {"m": 60, "h": 3600, "d": 86400}
_LONGEST = 3650 * 86400


@contextlib.contextmanager
def opened_store(home: Path) -> "Iterator[tuple[CompanionStore, Settings]]":
    from engram_host.companion.settings import make_folder, read_settings, store_url
    from engram_host.companion.store import open_store

    settings = read_settings(home, {})
    make_folder(settings.home)
    with contextlib.closing(open_store(store_url(settings.store, settings.home))) as store:
        yield store, settings


def note_command(audit: "AuditTable", action: str) -> None:
    audit.add_audit(command_entry(action))


def command_entry(action: str) -> AuditEntry:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        user = str(os.getuid())
    return AuditEntry(int(time.time()), f"command of {user}", action, "done")


def read_duration(option: str, value: str) -> int:
    """Return the seconds of a duration such as 30m, 24h or 90d; raises WrongUsage."""
    found = re.fullmatch(r"([0-9]{1,7})([mhd])", value)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= _LONGEST:
        raise WrongUsage(f"{option} takes minutes, hours or days, such as 30m, 24h or 90d, at most 3650d.")
    return seconds


def checked_name(name: str, what: str = "board name") -> str:
    """Return a valid name of a board or a token; raises SettingError."""
    if not re.fullmatch(DEVICE_NAME, name):
        raise SettingError(
            repr(name[:40]), f"is not a {what}: use lowercase letters, digits and -, at most 32 characters."
        )
    return name


app = typer.Typer(help="Manage the tokens of people and programs that use the companion.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="the token's name: lowercase letters, digits and -, at most 32 characters")]


@app.command()
@takes(HOME, JSON)
def add(
    context: Context,
    name: Name,
    read_only: Annotated[bool, typer.Option("--read-only", help="it may read and search, and change nothing")] = False,
    expires_in: Annotated[str, typer.Option(help="it ends after this time, such as 12h or 90d; default: never")] = "",
) -> None:
    """Create a token for a person or a program, and print it. It is shown only once.

    Example: engram token add grafana --read-only --expires-in 90d
    """
    checked_name(name, "token name")
    if name == tokens.OPERATOR_NAME:
        raise WrongUsage(f"{name} is the name of the token in {tokens.OPERATOR_FILE}: choose another one.")
    seconds = read_duration("--expires-in", expires_in) if expires_in else 0
    with opened_store(context.home) as (store, _):
        token = tokens.new_token()
        entry = tokens.operator_token_entry(name, token, read_only, seconds)
        if not store.tokens.add_operator_token(entry):
            raise CommandError(f"{name} already is a token; `engram token remove {name}` removes it.")
        note_command(store.audit, f"token add {name}, {_status(entry)}")
    if context.json:
        typer.echo(json.dumps({"name": name, "token": token, "read_only": read_only, "ends": entry.ends or None}))
        return
    typer.echo(f"The token {name}, which is not shown again ({_status(entry)}):\n\n  {token}")


@app.command()
@takes(HOME, JSON)
def remove(context: Context, name: Name) -> None:
    """Remove a token; it stops working within seconds.

    Example: engram token remove grafana
    """
    with opened_store(context.home) as (store, _):
        if not store.tokens.remove_operator_token(checked_name(name, "token name")):
            raise NotFound(f"there is no token {name}; `engram token list` lists all.")
        note_command(store.audit, f"token remove {name}")
    typer.echo(json.dumps({"name": name, "removed": True}) if context.json else f"the token {name} is removed.")


@app.command("list")
@takes(HOME, JSON)
def list_tokens(context: Context) -> None:
    """List the tokens, what they may do and when they end.

    Example: engram token list
    """
    with opened_store(context.home) as (store, _):
        found = store.tokens.operator_tokens()
    if context.json:
        rows = [(each.name, each.is_read_only, each.made, each.ends or None) for each in found]
        output.print_json([dict(zip(("name", "read_only", "made", "ends"), row, strict=True)) for row in rows])
        return
    rows = [(each.name, f"made {output.format_day(each.made)}", _status(each)) for each in found]
    output.print_table(
        ("name", "made", ""), rows, empty="there is no named token yet; `engram token add NAME` makes one."
    )


def _status(token: OperatorToken) -> str:
    what = "read-only" if token.is_read_only else "may do everything"
    if not token.ends:
        return f"{what}, without end"
    return f"{what}, {'ended' if token.ends <= time.time() else 'ends'} {output.format_day(token.ends)}"


FOLDER = "tls"

Names = Annotated[
    list[str] | None,
    typer.Argument(help="host names and addresses under which boards reach the companion; default: as the last time"),
]


@takes(HOME, JSON)
def tls(context: Context, names: Names = None) -> None:
    """Make a private authority, a certificate of the companion and the roots.pem of boards. Run it again to renew.

    Example: engram tls 192.168.1.10 companion.lan
    """
    from engram_host.companion.auth.certificates import TlsFiles, issue_certificate
    from engram_host.companion.settings import make_folder

    settings = context.read_settings()
    make_folder(context.home)
    files = TlsFiles(context.home / FOLDER)
    issued = issue_certificate(files, names or [])
    if context.json:
        output.print_json(
            {
                "certificate": str(files.certificate),
                "key": str(files.key),
                "authority": str(files.authority),
                "roots": str(files.roots),
                "names": issued.names,
                "ends": issued.ends,
                "new_authority": issued.is_new_authority,
            }
        )
        return
    _show(files, issued, settings)


def _show(files: "TlsFiles", issued: "Issued", settings: "Settings") -> None:
    output.print_line(f"A certificate for {', '.join(issued.names)}, until {output.format_day(issued.ends)}.")
    if not issued.is_new_authority:
        output.print_line("Restart the companion to use it. Boards that trust the authority need nothing new.")
        return
    lines = f'certificate = "{FOLDER}/{files.certificate.name}"\nkey = "{FOLDER}/{files.key.name}"'
    name = issued.names[0]
    host = f"[{name}]" if ":" in name else name
    typer.echo(f"\nIn companion.toml:\n\n[http]\n{lines}\n")
    typer.echo(f"On each board {files.roots} has to be the file roots.pem:\n\n  mpremote cp {files.roots} :roots.pem\n")
    url = f"https://{host}:{settings.http.port}"
    typer.echo(f"and companion.url is {url}.\n\nKeep {files.authority_key} to yourself:")
    typer.echo("whoever has it can pretend to be any service that these boards use.")
