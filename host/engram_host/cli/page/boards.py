"""`engram boards`: all boards of a companion, or one of them over days."""

import json
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
            found = companion.get(f"/v1/boards/{name}", days=days)
            if context.json:
                output.print_json(found)
            else:
                _show_board(found)
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
    status = each["told"]["status"] if each["told"] else {"firmware": "", "flash": 0, "flash_size": 0}
    lines = each["records"] + each["journal"]
    shown = each["name"], each["state"], output.format_time(each["heard"]), lines, each["waiting"]
    return *shown, status["firmware"], _flash(status), " ".join(each["warnings"])


def _flash(status: dict[str, Any]) -> str:
    used, size = status["flash"], status["flash_size"]
    return output.format_flash(min(used, size) * 100 // size if size else None)


def _show_board(found: dict[str, Any]) -> None:
    board, figures = found["board"], found["figures"]
    rows = [("state", board["state"]), ("heard", output.format_time(board["heard"]))]
    rows += [(f"{state} memories", str(count)) for state, count in figures["states"].items()]
    rows += [("turns", str(figures["turns"])), ("lines not copied yet", str(board["missing"]))]
    rows += [("messages waiting", str(board["waiting"]))]
    rows += [("tags", ", ".join(f"{tag} {count}" for tag, count in figures["tags"]))]
    rows += _status_rows(board["told"]["status"]) if board["told"] else []
    output.print_table(("", ""), rows)
    for warning in board["warnings"]:
        output.print_line(f"warning: {warning}")
    shown = [each for each in figures["days"] if each["memories"] or each["turns"]]
    output.print_line("")
    output.print_table(
        ("day", "memories", "turns"),
        [(each["day"], each["memories"], each["turns"]) for each in shown],
        empty="nothing was said or remembered in these days.",
    )
    if found["reports"]:
        output.print_line("")
        rows = [(day_name(each["day"]), *(each[name] for name in _REPORTED)) for each in found["reports"]]
        output.print_table(("day (UTC)", *_REPORTED), rows)


_REPORTED = ("turns", "failed", "calls", "tokens", "searches", "searches_empty", "errors", "flash", "memories")


def _status_rows(figures: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("firmware", f"{figures['firmware']}, {figures['mode']} mode"),
        (
            "flash used",
            f"{output.format_size(figures['flash'])} of {output.format_size(figures['flash_size'])} {_flash(figures)}",
        ),
        ("heap free", f"{output.format_size(figures['heap'])} of {output.format_size(figures['heap_size'])}"),
        ("model", _with_problem(figures["model"] or "none", figures["model_problem"])),
        ("Telegram", _with_problem(figures["telegram"], figures["telegram_problem"])),
    ]
    if figures["pins"]:
        pins = json.loads(figures["pins"])
        values = (f"{name}: {'–' if value is None else value}" for name, value in pins.items())
        rows.append(("pins", ", ".join(values)))
    return rows


def _with_problem(name: str, problem: str) -> str:
    return f"{name} ({problem})" if problem else name
