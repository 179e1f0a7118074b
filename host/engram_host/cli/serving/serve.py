"""`engram serve`: run a companion."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from engram_host.cli.options import HOME, JSON, Context, takes
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


async def _serve(context: Context, flags: Flags, ready_file: Path | None) -> None:
    began = time.monotonic()
    # Slow imports wait until they are surely needed.
    from engram_host.companion.lockfile import publish_addresses
    from engram_host.companion.serving.running import start

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with start(context.home, flags) as running:
        addresses = running.addresses()
        # Published before the banner, so that its readers find the companion.
        with publish_addresses(context.home, addresses):
            # A link that signs in belongs on this terminal, not in a log.
            page = await asyncio.to_thread(running.page_address) if sys.stdout.isatty() else "`engram page` opens it"
            banner = running.banner(time.monotonic() - began, page)
            typer.echo(json.dumps(addresses) if context.json else "\n".join(banner))
            sys.stdout.flush()
            if ready_file:
                _write_ready(ready_file, addresses | {"page": await asyncio.to_thread(running.page_address)})
            await running.serve(stop)


def _write_ready(path: Path, addresses: dict[str, str]) -> None:
    """Write the addresses, readable by this user only: the page's may sign in."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(addresses))
    draft.replace(path)
