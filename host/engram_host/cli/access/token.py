"""`engram token`: named tokens of operators; and `engram audit`: who did what."""

import json
import time
from typing import Annotated

import typer

from engram_host.cli import output
from engram_host.cli.access.store import checked_name, format_day, note_command, opened_store, read_duration
from engram_host.cli.exit_status import CommandError, NotFound, WrongUsage
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.auth import tokens
from engram_host.companion.types import OperatorToken

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
        if not store.add_operator_token(entry):
            raise CommandError(f"{name} already is a token; `engram token remove {name}` removes it.")
        note_command(store, f"token add {name}, {_status(entry)}")
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
        if not store.remove_operator_token(checked_name(name, "token name")):
            raise NotFound(f"there is no token {name}; `engram token list` lists all.")
        note_command(store, f"token remove {name}")
    typer.echo(json.dumps({"name": name, "removed": True}) if context.json else f"the token {name} is removed.")


@app.command("list")
@takes(HOME, JSON)
def list_tokens(context: Context) -> None:
    """List the tokens, what they may do and when they end.

    Example: engram token list
    """
    with opened_store(context.home) as (store, _):
        found = store.operator_tokens()
    if context.json:
        fields = [{"name": each.name, "read_only": each.is_read_only, "made": each.made} for each in found]
        ends = [{"ends": each.ends or None} for each in found]
        typer.echo(json.dumps([one | two for one, two in zip(fields, ends, strict=True)]))
        return
    rows = [(each.name, f"made {format_day(each.made)}", _status(each)) for each in found]
    output.print_table(
        ("name", "made", ""), rows, empty="there is no named token yet; `engram token add NAME` makes one."
    )


def _status(token: OperatorToken) -> str:
    what = "read-only" if token.is_read_only else "may do everything"
    if not token.ends:
        return f"{what}, without end"
    return f"{what}, {'ended' if token.ends <= time.time() else 'ends'} {format_day(token.ends)}"


@takes(HOME, JSON)
def audit(
    context: Context,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="most entries")] = 50,
    before: Annotated[int, typer.Option(min=0, help="continue below this number")] = 0,
) -> None:
    """Show who did what: requests with an operator's token, and changes of tokens. Newest first.

    Example: engram audit

    Example: engram audit --limit 500 --json
    """
    with opened_store(context.home) as (store, _):
        found = store.audit(limit, before)
    if context.json:
        names = ("number", "at", "who", "action", "outcome", "address")
        output.print_json([{name: getattr(each, name) for name in names} for each in found])
        return
    rows = [
        (str(each.number), output.format_time(each.at), each.who, each.action, each.outcome, each.address)
        for each in found
    ]
    output.print_table(("number", "at", "who", "what", "outcome", "from"), rows, empty="nothing has been noted yet.")
    if len(found) == limit:
        typer.echo(f"there may be more: --before {found[-1].number} continues.", err=True)
