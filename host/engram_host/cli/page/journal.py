"""`engram journal`: the days of a board, and what was said, noted and remembered on one."""

from datetime import date, timedelta
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.memory import cut_text
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes


@takes(DEVICE, URL, HOME, JSON)
def journal(
    context: Context,
    day: Annotated[str, typer.Argument(help="day such as 2026-01-31, in the board's zone; without it, a list")] = "",
    days: Annotated[int, typer.Option(min=1, max=365, help="without a day: so many up to today")] = 30,
    principal: Annotated[str, typer.Option(help="with a day: whose note")] = "owner",
    offset: Annotated[int, typer.Option(min=0, help="with a day: leave out so many turns before")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=500, help="with a day: most turns to show")] = 60,
) -> None:
    """Show what was said, noted and remembered on a day of a board, or list its days. Needs a running companion.

    Example: engram journal --device kitchen --days 7

    Example: engram journal 2026-01-31 --device kitchen
    """
    with context.open_companion() as companion:
        name = companion.device(context.device)
        path = f"/v1/boards/{name}/journal"
        if day:
            asked = {"principal": principal, "offset": offset, "limit": limit}
            found = companion.get(f"{path}/{checked_day(day)}", **asked)
        else:
            first = date.today() - timedelta(days=days - 1)
            found = companion.get(path, first=str(first), days=days + 1)  # it may be tomorrow where the board is
    if context.json:
        output.print_json({"device": name, **found})
    elif day:
        _show_day(found)
    else:
        rows = [(each["day"], each["turns"], each["memories"], each["notes"]) for each in found["days"]]
        output.print_table(("day", "turns", "memories", "notes"), rows, empty="nothing was said in these days.")


def checked_day(day: str) -> str:
    """A day that a person typed; WrongUsage."""
    try:
        return str(date.fromisoformat(day))
    except ValueError:
        raise WrongUsage(f"{day[:20]!r} is no day: one is such as 2026-01-31.") from None


def _show_day(found: dict[str, Any]) -> None:
    columns = ("id", "at", "session", "who", "text")
    rows = [
        (each["id"], output.format_time(each["at"]), each["session"], each["who"], cut_text(each["text"]))
        for each in found["turns"]
    ]
    output.print_table(columns, rows, empty="nothing was said on that day.")
    for title, key in (("remembered", "memories"), ("made of its note", "made")):
        if found[key]:
            output.print_line("")
            output.print_line(f"{title}:")
            shown = [
                (each["id"], each["state"], ", ".join(each["tags"]), cut_text(each["content"])) for each in found[key]
            ]
            output.print_table(("id", "state", "tags", "memory"), shown)
    if found["note"]["lines"]:
        output.print_line("")
        output.print_line(f"{found['note']['name']}:")
        for line in found["note"]["lines"]:
            output.print_line(line)
    last = found["offset"] + len(found["turns"])
    if last < found["turns_total"]:
        typer.echo(f"{last} of {found['turns_total']} turns; --offset {last} continues.", err=True)
