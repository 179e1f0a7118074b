"""`engram page`: open the companion's page in a browser, signed in."""

import webbrowser
from typing import Annotated

import typer

from engram_host.cli import output
from engram_host.cli.access import note_command, opened_store
from engram_host.cli.exit_status import CommandError
from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.auth.tokens import operator_token, token_digest
from engram_host.companion.lockfile import running_addresses


@takes(HOME, JSON)
def open_page(
    context: Context,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="only print the address, such as for another computer")
    ] = False,
) -> None:
    """Open the companion's page, signed in by a link that is good once, for ten minutes. Needs a running companion.

    Example: engram page

    Example: engram page --no-browser
    """
    url = running_addresses(context.home).get("http")
    if not url:
        raise CommandError(f"no companion runs on {context.home}: `engram serve` starts one.")
    from engram_host.companion.auth.sessions import make_sign_in_path

    with opened_store(context.home) as (store, _):
        address = url + make_sign_in_path(store.sessions, token_digest(operator_token(context.home)), is_local=False)
        note_command(store.audit, "page")
    if context.json:
        output.print_json({"page": address})
        return
    typer.echo(address)
    if not no_browser and not webbrowser.open(address):
        typer.echo("no browser was found here: open that address in one, within ten minutes.", err=True)
