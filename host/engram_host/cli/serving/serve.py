"""`engram serve`: run a companion, as one process or as several workers."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.cli.options import HOME, JSON, Context, takes
from engram_host.companion.logs import FORMATS, LEVELS, set_up
from engram_host.companion.settings_reader import has_password

if TYPE_CHECKING:
    from engram_host.companion.workers.place import WorkerPlace

MOST_WORKERS = 64
"""Each has connections to the database. A server takes 100 unless it is set up otherwise."""

_NO_PASSWORD = "put a password into companion.toml or "
_OWN_BROKER = f"use this MQTT broker instead of the built-in one; {_NO_PASSWORD}ENGRAM_MQTT_PASSWORD"
_POSTGRES = f"use postgresql://... instead of SQLite; {_NO_PASSWORD}ENGRAM_STORE_URL"

MqttUrl = Annotated[str | None, typer.Option(help=_OWN_BROKER)]
StoreUrl = Annotated[str | None, typer.Option(help=_POSTGRES)]

_WORKERS = "number of processes that share the work; more than 1 needs PostgreSQL and a mosquitto of your own"

Flags = dict[tuple[str, str], object]


@takes(HOME, JSON)
def serve(
    context: Context,
    http_host: Annotated[str | None, typer.Option(help="host name or address of the HTTP API")] = None,
    http_port: Annotated[int | None, typer.Option(help="port of the HTTP API; 0: any free port")] = None,
    mqtt_url: MqttUrl = None,
    mqtt_port: Annotated[int | None, typer.Option(help="port of the built-in broker; 0: any free port")] = None,
    store_url: StoreUrl = None,
    workers: Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help=_WORKERS)] = 1,
    ready_file: Annotated[
        Path | None, typer.Option(help="write the addresses to this file, as JSON, once it listens")
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error")] = "warning",
    log_format: Annotated[str, typer.Option(help="text, or json: one object per line")] = "text",
) -> None:
    """Run the companion, which copies the memory of boards and searches it by words and by meaning.

    Example: engram serve --http-port 8765

    Example: engram serve --log-level info --log-format json

    Example: engram serve --workers 3
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
        ("mqtt", "port"): mqtt_port,
        ("store", "url"): store_url,
    }
    given: Flags = {name: value for name, value in flags.items() if value is not None}
    logging = ["--log-level", log_level, "--log-format", log_format]
    asyncio.run(_serve(context, given, workers, ready_file, logging))


async def _serve(context: Context, flags: Flags, workers: int, ready_file: Path | None, logging: list[str]) -> None:
    began = time.monotonic()
    # What takes long to load is loaded once it is sure to be needed.
    from engram_host.companion.lockfile import lock_home
    from engram_host.companion.settings import make_folder
    from engram_host.companion.workers.place import take_place

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    make_folder(context.home)
    with lock_home(context.home, alone=False):
        if place := take_place():
            await _serve_as_worker(context, flags, place, stop, began)
        elif workers > 1:
            await _serve_by_workers(context, flags, workers, ready_file, stop, logging)
        else:
            await _serve_alone(context, flags, ready_file, stop, began)


async def _serve_alone(
    context: Context, flags: Flags, ready_file: Path | None, stop: asyncio.Event, began: float
) -> None:
    from engram_host.companion.lockfile import publish_addresses
    from engram_host.companion.serving.running import start

    async with start(context.home, flags) as running:
        addresses = running.addresses()
        # Published before it is announced: who reads the banner finds the companion.
        with publish_addresses(context.home, addresses):
            # A link that signs in is for who looks at this terminal, not for who reads a log.
            page = await asyncio.to_thread(running.page_address) if sys.stdout.isatty() else _PAGE_OPENS
            _announce(context, addresses, running.banner(time.monotonic() - began, page))
            if ready_file:
                _write_ready(ready_file, addresses | {"page": await asyncio.to_thread(running.page_address)})
            await running.serve(stop)


async def _serve_as_worker(
    context: Context, flags: Flags, place: "WorkerPlace", stop: asyncio.Event, began: float
) -> None:
    """Serve as one of several workers. The process that started this one prints what a person reads."""
    from engram_host.companion.serving.running import start
    from engram_host.companion.workers.pool import wait_for_parent_end, write_report

    async with start(context.home, flags, place) as running:
        page = await asyncio.to_thread(running.page_address)
        banner = running.banner(time.monotonic() - began, _PAGE_OPENS)
        write_report(place, {"addresses": running.addresses(), "page": page, "banner": banner})
        orphaned = asyncio.create_task(wait_for_parent_end())
        orphaned.add_done_callback(lambda _: stop.set())
        try:
            await running.serve(stop)
        finally:
            orphaned.cancel()


async def _serve_by_workers(
    context: Context, flags: Flags, workers: int, ready_file: Path | None, stop: asyncio.Event, logging: list[str]
) -> None:
    from engram_host.companion.auth.tokens import operator_token
    from engram_host.companion.lockfile import publish_addresses
    from engram_host.companion.serving.running import listen
    from engram_host.companion.settings import read_settings, store_url
    from engram_host.companion.store import open_store
    from engram_host.companion.workers.place import check_shareable
    from engram_host.companion.workers.pool import WorkerPool

    settings = read_settings(context.home, flags)
    check_shareable(settings)
    operator_token(context.home)
    # One brings the database up to date before the others need it.
    store = await asyncio.to_thread(open_store, store_url(settings.store, settings.home))
    await asyncio.to_thread(store.close)
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(listen(settings.http))

        def on_ready(report: dict[str, Any]) -> None:
            addresses = report["addresses"]
            stack.enter_context(publish_addresses(context.home, addresses))
            _announce(context, addresses, [*report["banner"], f"  workers   {workers}"])
            if ready_file:
                _write_ready(ready_file, addresses | {"page": report["page"]})

        command = [sys.executable, "-m", "engram_host", "serve", "--home", str(context.home), *logging]
        await WorkerPool([*command, *_words_of(flags)], workers, listener).run(stop, on_ready)


def _words_of(flags: Flags) -> list[str]:
    """Flags as they stand on a command line."""
    return [word for (table, name), value in flags.items() for word in (f"--{table}-{name}", str(value))]


_PAGE_OPENS = "`engram page` opens it"


def _announce(context: Context, addresses: dict[str, str], banner: list[str]) -> None:
    typer.echo(json.dumps(addresses) if context.json else "\n".join(banner))
    sys.stdout.flush()


def _write_ready(path: Path, addresses: dict[str, str]) -> None:
    """Write the addresses, for nobody but this user: the page's may sign in."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(addresses))
    draft.replace(path)
