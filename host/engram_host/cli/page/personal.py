"""`engram people memories`, `days` and `search`: what a person sees on their own page."""

from typing import Annotated
from urllib.parse import quote

import typer

from engram_host.cli import output
from engram_host.cli.bridges.people import Who
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.cli.page.journal import checked_day
from engram_host.cli.page.memories import MEMORY_COLUMNS, TURN_COLUMNS, memory_row, turn_row
from engram_host.cli.page.search import print_hits


@takes(DEVICE, URL, HOME, JSON)
def memories(
    context: Context,
    who: Who,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="maximum number of memories")] = 50,
    offset: Annotated[int, typer.Option(min=0, help="skip this many memories")] = 0,
) -> None:
    """List the memories of a board that somebody sees: their own and those of all. Needs a running companion.

    Example: engram people memories ann --device kitchen
    """
    with context.open_companion() as companion:
        path = _path(who, companion.device(context.device))
        found = companion.get(f"{path}/memories", limit=limit, offset=offset)
    if context.json:
        output.print_json(found)
        return
    rows = [memory_row(each) for each in found["entries"]]
    output.print_table(MEMORY_COLUMNS, rows, empty=f"{who} sees no memory there.")
    if (last := offset + len(rows)) < found["total"]:
        typer.echo(f"{last} of {found['total']} memories; --offset {last} continues.", err=True)


@takes(DEVICE, URL, HOME, JSON)
def days(
    context: Context,
    who: Who,
    day: Annotated[str, typer.Argument(help="day such as 2026-01-31, in the board's zone; default: the latest")] = "",
) -> None:
    """Show what was said with somebody on a day, and name their other days. Needs a running companion.

    Example: engram people days ann --device kitchen

    Example: engram people days ann 2026-01-31 --device kitchen
    """
    with context.open_companion() as companion:
        path = _path(who, companion.device(context.device))
        found = companion.get(f"{path}/days", day=checked_day(day) if day else "")
    if context.json:
        output.print_json(found)
        return
    rows = [turn_row(each) for each in found["turns"]]
    output.print_table(TURN_COLUMNS, rows, empty=f"nothing was said with {who} {f'on {day}' if day else 'there'}.")
    others = [f"{each['day']} ({each['turns']})" for each in found["days"] if each["day"] != found["day"]]
    if others:
        typer.echo(f"other days: {', '.join(others)}", err=True)


@takes(URL, HOME, JSON)
def search(context: Context, who: Who, query: Annotated[str, typer.Argument(help="words, or a question")]) -> None:
    """Search for somebody: what they see, on the boards that they reach. Needs a running companion.

    Example: engram people search ann "where is the tin?"
    """
    with context.open_companion() as companion:
        found = companion.get(f"/v1/people/{quote(who, safe='')}/search", query=query)
    if context.json:
        output.print_json(found)
    else:
        print_hits(found, query)


def _path(who: str, device: str) -> str:
    return f"/v1/people/{quote(who, safe='')}/boards/{device}"
