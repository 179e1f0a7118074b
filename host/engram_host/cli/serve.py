"""`engram serve`: the companion, until Ctrl-C or SIGTERM."""

import json
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from engram_host.cli.options import DEFAULT_HOME, AsJson, Home
from engram_host.companion.logs import FORMATS, LEVELS, set_up
from engram_host.companion.malloc import configure_malloc
from engram_host.companion.settings import has_password

_NO_PASSWORD = "a password goes into companion.toml or into "
_OWN_BROKER = f"your MQTT broker, in place of the one inside; {_NO_PASSWORD}ENGRAM_MQTT_PASSWORD"
_POSTGRES = f"postgresql://... in place of SQLite; {_NO_PASSWORD}ENGRAM_STORE_URL"

MqttUrl = Annotated[str | None, typer.Option(help=_OWN_BROKER)]
StoreUrl = Annotated[str | None, typer.Option(help=_POSTGRES)]


def serve(
    home: Home = DEFAULT_HOME,
    http_host: Annotated[str | None, typer.Option(help="where the HTTP API listens")] = None,
    http_port: Annotated[int | None, typer.Option(help="its port, 0 for a free one")] = None,
    mqtt_url: MqttUrl = None,
    mqtt_port: Annotated[int | None, typer.Option(help="the port of the broker inside, 0 for a free one")] = None,
    store_url: StoreUrl = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="write where it listens to this file, as JSON, once it does")
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error")] = "warning",
    log_format: Annotated[str, typer.Option(help="text, or json: one object a line")] = "text",
    as_json: AsJson = False,
) -> None:
    """Run the companion: it keeps a copy of what boards remember, and finds it again by words and by meaning.

    Example: engram serve --http-port 8765

    Example: engram serve --log-level info --log-format json
    """
    for name, value, choices in (("--log-level", log_level, LEVELS), ("--log-format", log_format, FORMATS)):
        if value not in choices:
            raise typer.BadParameter(f"must be one of {', '.join(choices)}", param_hint=name)
    import asyncio

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
        ("mqtt", "port"): mqtt_port,
        ("store", "url"): store_url,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    asyncio.run(_serve(home.expanduser().absolute(), given, ready_file, as_json))


async def _serve(home: Path, flags: dict[tuple[str, str], object], ready_file: Path | None, as_json: bool) -> None:
    began = time.monotonic()
    configure_malloc()
    # What takes long to load is loaded once it is sure to be needed.
    import asyncio

    from engram_host.companion.home import make_folder
    from engram_host.companion.lockfile import lock_home, publish_addresses
    from engram_host.companion.start import start

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    make_folder(home)
    with lock_home(home, alone=False):
        async with start(home, flags) as running:
            addresses = running.addresses()
            banner = running.banner(time.monotonic() - began)
            typer.echo(json.dumps(addresses) if as_json else "\n".join(banner))
            sys.stdout.flush()
            if ready_file:
                draft = ready_file.with_suffix(".new")
                draft.write_text(json.dumps(addresses))
                draft.replace(ready_file)
            with publish_addresses(home, addresses):
                await running.serve(stop)
