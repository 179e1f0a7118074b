"""`engram alert`: addresses for alerts; they are secrets and are never shown."""

import asyncio
import getpass
import importlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from engram_host.cli import output
from engram_host.cli.bridges.bridge import ask_running
from engram_host.cli.exit_status import CommandError, NotFound
from engram_host.cli.options import HOME, JSON, Context, takes

if TYPE_CHECKING:
    from engram_host.companion.alerts.apprise_address import AppriseAddress

app = typer.Typer(help="Let the companion tell services outside what happens.", no_args_is_help=True)


@app.command()
@takes(HOME, JSON)
def add(
    context: Context,
    check: Annotated[bool, typer.Option("--check/--no-check", help="send a first alert before it is kept")] = True,
) -> None:
    """Add an address, such as ntfy://TOPIC, which is asked for or read from stdin. A first alert is sent to it.

    Example: engram alert add

    Example: echo ntfy://my-topic | engram alert add --json
    """
    url = (getpass.getpass("address: ") if sys.stdin.isatty() else sys.stdin.readline(4096)).strip()
    urls = [*_urls(context), url]
    address = _addresses(urls)[-1]
    if check and not asyncio.run(address.send("Engram", "Alerts of the companion are sent here from now on.")):
        raise CommandError(f"{address.name} did not take an alert, and nothing is changed: check the address.")
    _keep(context, urls)
    output.print_either({"number": len(urls), "name": address.name}, f"{address.name} is kept.", is_json=context.json)


@app.command()
@takes(HOME, JSON)
def test(context: Context) -> None:
    """Send an alert to each address.

    Example: engram alert test
    """
    addresses = _addresses(_urls(context))
    if not addresses:
        raise NotFound("there is no address; `engram alert add` adds one.")
    failed = [each.name for each in addresses if not asyncio.run(each.send("Engram", "This is a test."))]
    if failed:
        raise CommandError(f"not taken by {', '.join(failed)}: check the address.")
    sent = [each.name for each in addresses]
    output.print_either({"sent": sent}, f"sent to {', '.join(sent)}.", is_json=context.json)


@app.command()
@takes(HOME, JSON)
def remove(context: Context, number: Annotated[int, typer.Argument(help="as `engram alert test` counts")]) -> None:
    """Remove an address.

    Example: engram alert remove 1
    """
    urls = _urls(context)
    if not 1 <= number <= len(urls):
        raise NotFound(f"there is no address {number}; `engram alert test` names all.")
    del urls[number - 1]
    _keep(context, urls)
    removed = {"number": number, "removed": True}
    output.print_either(removed, f"the alert address {number} is removed.", is_json=context.json)


def _addresses(urls: list[str]) -> "list[AppriseAddress]":
    from engram_host.companion.alerts.apprise_address import read_addresses

    if urls:
        importlib.import_module("apprise")  # the error says what to install, with the status for that
    return read_addresses(" ".join(urls))


def _urls(context: Context) -> list[str]:
    from engram_host.companion.alerts.apprise_address import URLS
    from engram_host.companion.auth.secrets import SecretStore

    return SecretStore(context.home).find(URLS, in_keyring=context.read_settings().alerts.keyring).split()


def _keep(context: Context, urls: list[str]) -> None:
    from engram_host.companion.alerts.apprise_address import URLS
    from engram_host.companion.auth.secrets import SecretStore
    from engram_host.companion.settings import make_folder

    make_folder(context.home)
    secrets, in_keyring = SecretStore(context.home), context.read_settings().alerts.keyring
    if urls:
        secrets.keep(URLS, " ".join(urls), in_keyring=in_keyring)
    else:
        secrets.remove(URLS, in_keyring=in_keyring)
    ask_running(context, "POST", "/v1/bridges/reload")
