"""`engram boards`: the boards of a companion as the page shows them, and one of them over days."""

from typing import Annotated, Any

import typer

from engram.clock import day_name
from engram_host.cli import output
from engram_host.cli.options import HOME, JSON, URL, Context, takes


@takes(URL, HOME, JSON)
def list_boards(
    context: Context,
    name: Annotated[str, typer.Argument(help="board name; without one, a list of all")] = "",
    days: Annotated[int, typer.Option(min=1, max=366, help="with a name: so many days")] = 30,
    limit: Annotated[int, typer.Option(min=1, max=500, help="most boards to show")] = 50,
) -> None:
    """List boards with their states and warnings, or show one with its memories and turns a day. Needs a running companion.

    Example: engram boards --limit 500

    Example: engram boards kitchen --days 7
    """
    with context.open_companion() as companion:
        if name:
            board = companion.get(f"/v1/boards/{name}", days=days)
            status = companion.get(f"/v1/boards/{name}/status")
            _show_board(context, board, status, companion.get(f"/v1/boards/{name}/days", days=days))
            return
        found = companion.get("/v1/boards", limit=limit)
    if context.json:
        output.print_json(found)
        return
    columns = ("board", "state", "heard", "lines", "waiting", "firmware", "flash", "warnings")
    output.print_table(columns, [_row(each) for each in found["boards"]], empty="no board has connected yet.")
    if limit < found["total"]:
        typer.echo(f"{limit} of {found['total']} boards; --limit shows more.", err=True)


def _row(each: dict[str, Any]) -> tuple[Any, ...]:
    warnings = " ".join(warning["sentence"] for warning in each["warnings"])
    lines = each["records"] + each["journal"]
    flash = output.format_flash(each["flash_percent"])
    shown = each["name"], each["state"], output.format_time(each["heard"]), lines, each["waiting"]
    return *shown, each["firmware"], flash, warnings


def _show_board(
    context: Context, found: dict[str, Any], status: dict[str, Any], reported: list[dict[str, Any]]
) -> None:
    if context.json:
        output.print_json(found | {"status": status["figures"], "told": status["told"], "reports": reported})
        return
    rows = [("state", found["state"]), ("heard", output.format_time(found["heard"]))]
    rows += [(f"{state} memories", str(count)) for state, count in found["memories"].items()]
    rows += [("turns", str(found["turns"])), ("lines not copied yet", str(found["missing"]))]
    rows += [("messages waiting", str(found["waiting"]))]
    rows += [("tags", ", ".join(f"{each['tag']} {each['memories']}" for each in found["tags"]))]
    rows += _status_rows(status["figures"]) if status["figures"] else []
    output.print_table(("", ""), rows)
    for warning in found["warnings"]:
        output.print_line(f"warning: {warning['sentence']}")
    shown = [each for each in found["days"] if each["memories"] or each["turns"]]
    output.print_line("")
    output.print_table(
        ("day", "memories", "turns"),
        [(day_name(each["day"]), each["memories"], each["turns"]) for each in shown],
        empty="nothing was said or remembered in these days.",
    )
    if reported:
        output.print_line("")
        columns = ("day (UTC)", *_REPORTED)
        output.print_table(columns, [(each["day"], *(each[name] for name in _REPORTED)) for each in reported])


_REPORTED = ("turns", "failed", "calls", "tokens", "searches", "searches_empty", "errors", "flash", "memories")


def _status_rows(figures: dict[str, Any]) -> list[tuple[str, str]]:
    """What a board reported of itself."""
    flash = output.format_flash(figures["flash_percent"])
    rows = [
        ("firmware", f"{figures['firmware']}, {figures['mode']} mode"),
        (
            "flash used",
            f"{output.format_size(figures['flash'])} of {output.format_size(figures['flash_size'])} {flash}",
        ),
        ("heap free", f"{output.format_size(figures['heap'])} of {output.format_size(figures['heap_size'])}"),
        ("model", _with_problem(figures["model"] or "none", figures["model_problem"])),
        ("Telegram", _with_problem(figures["telegram"], figures["telegram_problem"])),
    ]
    if figures["pins"]:
        values = (f"{name}: {'–' if value is None else value}" for name, value in figures["pins"].items())
        rows.append(("pins", ", ".join(values)))
    return rows


def _with_problem(name: str, problem: str) -> str:
    return f"{name} ({problem})" if problem else name
