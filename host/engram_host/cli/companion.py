"""`engram stats` and `folders`: look at a companion."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.options import HOME, JSON, URL, Context, takes

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
