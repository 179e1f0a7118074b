"""`engram serve`: the companion, until Ctrl-C or SIGTERM."""

import asyncio
import json
import logging
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from engram_host.companion.errors import CompanionError, SettingError
from engram_host.companion.heap import return_what_is_freed

LEVELS = ("debug", "info", "warning", "error")
DEFAULT_HOME = "~/.engram/companion"


def serve(
    home: Annotated[Path, typer.Option(envvar="ENGRAM_COMPANION_HOME", help="the folder of its files")] = Path(
        DEFAULT_HOME
    ),
    http_host: Annotated[str | None, typer.Option(help="where the HTTP API listens")] = None,
    http_port: Annotated[int | None, typer.Option(help="its port, 0 for a free one")] = None,
    mqtt_url: Annotated[str | None, typer.Option(help="your MQTT broker, in place of the one inside")] = None,
    mqtt_port: Annotated[int | None, typer.Option(help="the port of the broker inside, 0 for a free one")] = None,
    store_url: Annotated[str | None, typer.Option(help="postgresql://... in place of SQLite")] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="write where it listens to this file, as JSON, once it does")
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error")] = "warning",
) -> None:
    """Run the companion: it keeps a copy of what boards remember, and finds it again by words and by meaning.

    Example: engram serve --http-port 8765
    """
    if log_level not in LEVELS:
        raise typer.BadParameter(f"must be one of {', '.join(LEVELS)}", param_hint="--log-level")
    logging.basicConfig(level=log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    flags = {
        ("http", "host"): http_host,
        ("http", "port"): http_port,
        ("mqtt", "url"): mqtt_url,
        ("mqtt", "port"): mqtt_port,
        ("store", "url"): store_url,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        asyncio.run(_serve(home.expanduser().absolute(), given, ready_file))
    except SettingError as problem:
        typer.echo(f"engram serve: {problem}", err=True)
        raise typer.Exit(2) from None
    except CompanionError as problem:
        typer.echo(f"engram serve: {problem}", err=True)
        raise typer.Exit(1) from None


async def _serve(home: Path, flags: dict[tuple[str, str], object], ready_file: Path | None) -> None:
    began = time.monotonic()
    return_what_is_freed()
    # What takes long to load is loaded once it is sure to be needed.
    from engram_host.companion.start import start

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with start(home, flags) as running:
        for line in running.banner(time.monotonic() - began):
            typer.echo(line)
        sys.stdout.flush()
        if ready_file:
            draft = ready_file.with_suffix(".new")
            draft.write_text(json.dumps(running.addresses()))
            draft.replace(ready_file)
        await stop.wait()
