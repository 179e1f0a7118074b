"""Commands that run a companion or ask one: `engram serve`, `engram page`, `engram boards` and `engram api`."""

import asyncio
import contextlib
import ctypes
import gc
import json
import os
import signal
import sys
import time
import webbrowser
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.access import note_command, opened_store
from engram_host.cli.exit_status import CommandError, WrongUsage
from engram_host.cli.options import HOME, JSON, URL, Context, takes
from engram_host.companion.auth.tokens import operator_token, token_digest, write_atomically
from engram_host.companion.lockfile import running_addresses
from engram_host.companion.logs import FORMATS, LEVELS, set_up
from engram_host.companion.settings_reader import has_password

_NO_PASSWORD = "put a password into companion.toml or "
_OWN_BROKER = f"use this MQTT broker; {_NO_PASSWORD}ENGRAM_MQTT_PASSWORD"
_POSTGRES = f"use postgresql://... instead of SQLite; {_NO_PASSWORD}ENGRAM_STORE_URL"

MqttUrl = Annotated[str | None, typer.Option(help=_OWN_BROKER)]
StoreUrl = Annotated[str | None, typer.Option(help=_POSTGRES)]

Flags = dict[tuple[str, str], object]


@takes(HOME, JSON)
def serve(
    context: Context,
    http_host: Annotated[str | None, typer.Option(help="host name or address of the HTTP API")] = None,
    http_port: Annotated[int | None, typer.Option(help="port of the HTTP API; 0: any free port")] = None,
    mqtt_url: MqttUrl = None,
    store_url: StoreUrl = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="write the addresses to this file, as JSON, once it listens")
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error")] = "warning",
    log_format: Annotated[str, typer.Option(help="text, or json: one object per line")] = "text",
) -> None:
    """Run the companion, which copies the memory of boards and searches it by words and by meaning.

    Example: engram serve --http-port 8765

    Example: engram serve --log-level info --log-format json
    """
    for name, value, choices in (("--log-level", log_level, LEVELS), ("--log-format", log_format, FORMATS)):
        if value not in choices:
            raise typer.BadParameter(f"must be one of {', '.join(choices)}", param_hint=name)
    for name, value, variable in (
        ("--mqtt-url", mqtt_url, "ENGRAM_MQTT_PASSWORD"),
        ("--store-url", store_url, "ENGRAM_STORE_URL"),
    ):
        if has_password(value or ""):
            sentence = f"has a password in it, which all users of this computer can see here: {_NO_PASSWORD}{variable}"
            raise typer.BadParameter(sentence, param_hint=name)
    set_up(log_format, log_level)
    flags = {
        ("http", "host"): http_host,
        ("http", "port"): http_port,
        ("mqtt", "url"): mqtt_url,
        ("store", "url"): store_url,
    }
    given: Flags = {name: value for name, value in flags.items() if value is not None}
    asyncio.run(_serve(context, given, ready_file))


_ARENA_MAX = -8  # of glibc's malloc.h


def _share_heap() -> None:
    """Let threads share one heap: with one each, what a thread frees stays with it."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another libc
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


async def _serve(context: Context, flags: Flags, ready_file: Path | None) -> None:
    began = time.monotonic()
    _share_heap()
    # Slow imports wait until they are surely needed.
    from engram_host.companion.lockfile import publish_addresses
    from engram_host.companion.serving import start

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with start(context.home, flags) as running:
        gc.freeze()  # what is loaded by now stays, so later collections pass over it
        addresses = running.addresses()
        # Published before the banner, so that its readers find the companion.
        with publish_addresses(context.home, addresses):
            # A link that signs in belongs on this terminal, not in a log.
            page = await asyncio.to_thread(running.page_address) if sys.stdout.isatty() else "`engram page` opens it"
            banner = running.banner(time.monotonic() - began, page)
            typer.echo(json.dumps(addresses) if context.json else "\n".join(banner))
            sys.stdout.flush()
            if ready_file:
                # For this user only: the page's address may sign in.
                ready = addresses | {"page": await asyncio.to_thread(running.page_address)}
                write_atomically(ready_file, json.dumps(ready).encode())
            await running.serve(stop)


# --- asking one


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


@takes(URL, HOME, JSON)
def list_boards(
    context: Context, limit: Annotated[int, typer.Option(min=1, max=500, help="most boards to show")] = 50
) -> None:
    """List boards with their states and warnings. Needs a running companion.

    Example: engram boards --limit 500
    """
    with context.open_companion() as companion:
        found = companion.get("/v1/boards", limit=limit)
    if context.json:
        output.print_json(found)
        return
    columns = ("board", "state", "heard", "lines", "waiting", "firmware", "flash", "warnings")
    output.print_table(columns, [_row(each) for each in found["boards"]], empty="no board has connected yet.")
    if limit < found["total"]:
        typer.echo(f"{limit} of {found['total']} boards; --limit shows more.", err=True)


def _row(each: dict[str, Any]) -> tuple[Any, ...]:
    status = each["told"]["status"] if each["told"] else {"firmware": "", "flash": 0, "flash_size": 0}
    lines = each["records"] + each["journal"]
    shown = each["name"], each["state"], output.format_time(each["heard"]), lines, each["waiting"]
    return *shown, status["firmware"], _flash(status), " ".join(each["warnings"])


def _flash(status: dict[str, Any]) -> str:
    used, size = status["flash"], status["flash_size"]
    return output.format_flash(min(used, size) * 100 // size if size else None)


class Method(StrEnum):
    GET = "GET"
    POST = "POST"
    DELETE = "DELETE"


@takes(URL, HOME)
def api(
    context: Context,
    method: Method,
    path: Annotated[str, typer.Argument(help="path with its query, such as /v1/boards?limit=5")],
    data: Annotated[str, typer.Option(metavar="JSON", help="body of the request")] = "",
) -> None:
    """Send a request to the companion's API and print the response. Needs a running companion.

    Example: engram api GET /v1/boards/kitchen/changes

    Example: engram api POST /v1/boards/kitchen/settings --data '{"name": "llm.retries", "value": "5"}'
    """
    # An absolute URL would take the operator's token to another host.
    if not path.startswith("/") or not path.isprintable():
        raise WrongUsage("a path begins with /, such as /v1/boards.")
    with context.open_companion() as companion:
        response = companion.request(method, path, os.fsencode(data))
    if response.headers.get("content-type") == "application/json":
        typer.echo(json.dumps(response.json(), ensure_ascii=False, indent=2))
    else:
        typer.echo(response.content, nl=False)
