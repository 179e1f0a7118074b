"""`engram serve`, `stats` and `folders`: run a companion, and look at it."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.options import HOME, JSON, URL, Context, takes
from engram_host.companion.logs import FORMATS, LEVELS, set_up
from engram_host.companion.settings_reader import has_password

if TYPE_CHECKING:
    pass


_NO_PASSWORD = "put a password into companion.toml or "
_OWN_BROKER = f"use this MQTT broker instead of the built-in one; {_NO_PASSWORD}ENGRAM_MQTT_PASSWORD"
_POSTGRES = f"use postgresql://... instead of SQLite; {_NO_PASSWORD}ENGRAM_STORE_URL"

MqttUrl = Annotated[str | None, typer.Option(help=_OWN_BROKER)]
StoreUrl = Annotated[str | None, typer.Option(help=_POSTGRES)]


@takes(HOME, JSON)
def serve(
    context: Context,
    http_host: Annotated[str | None, typer.Option(help="host name or address of the HTTP API")] = None,
    http_port: Annotated[int | None, typer.Option(help="port of the HTTP API; 0: any free port")] = None,
    mqtt_url: MqttUrl = None,
    mqtt_port: Annotated[int | None, typer.Option(help="port of the built-in broker; 0: any free port")] = None,
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
    asyncio.run(_serve(context, given, ready_file))


async def _serve(context: Context, flags: dict[tuple[str, str], object], ready_file: Path | None) -> None:
    began = time.monotonic()
    # What takes long to load is loaded once it is sure to be needed.
    import asyncio

    from engram_host.companion.app import start
    from engram_host.companion.lockfile import lock_home, publish_addresses
    from engram_host.companion.search.malloc import configure_malloc
    from engram_host.companion.settings import make_folder

    configure_malloc()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    make_folder(context.home)
    with lock_home(context.home, alone=False):
        async with start(context.home, flags) as running:
            addresses = running.addresses()
            # Published before it is announced: who reads the banner finds the companion.
            with publish_addresses(context.home, addresses):
                # A link that signs in is for who looks at this terminal, not for who reads a log.
                page = (
                    await asyncio.to_thread(running.page_address) if sys.stdout.isatty() else "`engram page` opens it"
                )
                banner = running.banner(time.monotonic() - began, page)
                typer.echo(json.dumps(addresses) if context.json else "\n".join(banner))
                sys.stdout.flush()
                if ready_file:
                    _write_ready(ready_file, addresses | {"page": await asyncio.to_thread(running.page_address)})
                await running.serve(stop)


def _write_ready(path: Path, addresses: dict[str, str]) -> None:
    """Write the addresses, for nobody but this user: the page's may sign in."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(addresses))
    draft.replace(path)


# --- engram stats


_SHOWN = {
    "up_seconds": ("running for", lambda value: f"{value / 3600:.1f} h"),
    "devices": ("boards", str),
    "lines_taken": ("lines received since then", str),
    "refused": ("messages refused since then", str),
    "waiting_batches": ("batches waiting", str),
    "backlog_lines": ("lines without a vector yet", str),
    "index_bytes": ("indexes in memory", output.format_size),
    "damaged_lines": ("damaged lines in the database", str),
    "archived_records": ("memories archived here", str),
    "flash_most_percent": ("fullest flash of a board", output.format_flash),
    "folder_files": ("Markdown files", str),
    "folder_passages": ("passages in these files", str),
    "database_bytes": ("database on disk", output.format_size),
}


@takes(URL, HOME, JSON)
def stats(
    context: Context,
    limit: Annotated[int, typer.Option(min=1, max=500, help="most boards to show")] = 20,
    after: Annotated[str, typer.Option(help="show boards after this name")] = "",
) -> None:
    """Show the state of the companion, boards' copies and the use of the LLM gateway's limits. Needs a running companion.

    Example: engram stats

    Example: engram stats --limit 500 --json
    """
    with context.open_companion() as companion:
        health, figures = companion.get("/v1/health"), companion.get("/v1/stats")
        devices = companion.get("/v1/devices", after=after, limit=limit + 1)
        gateway = companion.get("/v1/gateway", after=after, limit=limit)
    has_more, devices = len(devices) > limit, devices[:limit]
    if context.json:
        output.print_json({"health": health, "figures": figures, "devices": devices, "gateway": gateway})
        return
    rows = [("status", health["status"]), *((name, health[name]) for name in ("version", "store", "mqtt", "meaning"))]
    rows += [(title, form(figures[name])) for name, (title, form) in _SHOWN.items() if figures[name] is not None]
    output.print_table(("", ""), rows)
    for problem in health["problems"]:
        output.print_line(f"problem: {problem}")
    output.print_line("")
    output.print_devices(devices)
    if gateway["is_set_up"]:
        _show_gateway(gateway)
    if has_more:
        shown = f"{limit} of {figures['devices']} boards"
        typer.echo(f"{shown}; --after {devices[-1]['name']} continues, `engram board list` lists all.", err=True)


def _show_gateway(day: dict[str, Any]) -> None:
    output.print_line("")
    output.print_line(f"usage of the gateway's limits since {output.format_time(day['begins'])}:")
    users = [("all together", day["used"], day["all_limit"])]
    users += [(one["device"], one, day["device_limit"]) for one in day["devices"]]
    rows = [
        (name, *(_used_of(used[what], limit[what]) for what in ("calls", "tokens")), _cost(used))
        for name, used, limit in users
    ]
    output.print_table(("", "calls", "tokens", "cost"), rows)
    if day["following"]:
        typer.echo(f"more boards used the gateway; --after {day['following']} continues.", err=True)


def _cost(used: dict[str, Any]) -> str:
    """ "" without prices."""
    cost = used.get("cost")
    return "" if cost is None else f"cost {cost:.4f}"


def _used_of(used: int, limit: int) -> str:
    return f"{used} of {limit}" if limit else str(used)


# --- engram folders


@takes(URL, HOME, JSON)
def folders(
    context: Context,
    principal: Annotated[str, typer.Option(help="list for this person: only what they may see")] = "owner",
) -> None:
    """List the Markdown folders, their progress, and files that could not be read. Needs a running companion.

    Example: engram folders

    Example: engram folders --principal ann --json
    """
    with context.open_companion() as companion:
        found = companion.get("/v1/folders", principal=principal)
    if context.json:
        output.print_json({"folders": found})
        return
    columns = ("folder", "scope", "state", "files", "passages", "last read")
    output.print_table(
        columns,
        [_row(one) for one in found],
        empty="no folder to show; docs/guides/folders.md explains how to add one.",
    )
    for one in found:
        for problem in _problems(one):
            output.print_line(f"{one['name']}: {problem}")


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    files = f"{one['done']} of {one['total']}"
    return (
        one["name"],
        one["scope"],
        one["state"],
        files,
        str(one["passages"]),
        output.format_time(one["read_at"] or None),
    )


def _problems(one: dict[str, Any]) -> list[str]:
    problems = list(one["problems"])
    if one["more_problems"]:
        problems.append(f"more problems like these: {one['more_problems']}.")
    if one["links"]:
        problems.append(f"symbolic links not followed: {one['links']}.")
    return problems
