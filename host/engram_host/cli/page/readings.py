"""`engram senses` and `engram readings`: what boards perceive, in a terminal or as a file."""

import itertools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, WrongUsage
from engram_host.cli.memory import to_seconds
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes

if TYPE_CHECKING:
    from engram_host.cli.api_client import ApiClient

FORMATS = ("jsonl", "parquet")
LEVELS = ("minute", "hour", "day")
_DAY_SECONDS = 86400


@takes(DEVICE, URL, HOME, JSON)
def senses(context: Context) -> None:
    """List the senses of a board with their latest readings. Needs a running companion.

    Example: engram senses --device kitchen
    """
    with context.open_companion() as companion:
        name = companion.device(context.device)
        found = companion.get(f"/v1/boards/{name}/senses")
    if context.json:
        output.print_json({"device": name, "senses": found})
        return
    rows = [
        (each["name"], _value(each["value"], each), output.format_time(each["at"]) if each["at"] else "")
        for each in found
    ]
    output.print_table(
        ("sense", "latest", "at"), rows, empty="the board perceives nothing, or has not reported it yet."
    )


@takes(DEVICE, URL, HOME, JSON)
def readings(
    context: Context,
    sense: Annotated[str, typer.Argument(help="name of a sense; `engram senses` lists them")],
    since: Annotated[
        str, typer.Option(help="from a day such as 2026-01-31, or Unix seconds; a day ago without it")
    ] = "",
    until: Annotated[str, typer.Option(help="up to such a time; now without it")] = "",
    level: Annotated[str, typer.Option(help="minute, hour or day; without it, by how long the time is")] = "",
    points: Annotated[int, typer.Option(min=1, max=2000, help="rows to show at most")] = 48,
    export: Annotated[
        Path | None, typer.Option("--export", "--out", help="file for all of them, by minute without --level")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="of that file: jsonl, or parquet, which needs an extra at the companion")
    ] = "jsonl",
) -> None:
    """Show what a sense of a board read, or export it. Needs a running companion.

    Example: engram readings cellar --device kitchen --since 2026-01-31

    Example: engram readings cellar --device kitchen --level hour --export cellar.jsonl

    Example: engram readings cellar --device kitchen --format parquet --out cellar.parquet
    """
    if form not in FORMATS:
        raise WrongUsage(f"--format takes {', '.join(FORMATS)}.")
    if form != FORMATS[0] and export is None:
        raise WrongUsage(f"--format {form} needs --out FILE.")
    if level and level not in LEVELS:
        raise WrongUsage(f"--level takes {', '.join(LEVELS)}.")
    begin, end = to_seconds("--since", since), to_seconds("--until", until)
    with context.open_companion() as companion:
        name = companion.device(context.device)
        path = f"/v1/boards/{name}/senses/{quote(sense, safe='')}"
        if export is not None:
            asked: dict[str, Any] = {"since": begin, "until": end, "level": level or "minute", "format": form}
            shown: dict[str, Any] = {"device": name, "file": str(export)} | _write(
                export, companion, f"{path}/export", asked
            )
        else:
            # A row is seldom of use that is of less than a minute.
            asked = {"since": begin or (end or int(time.time())) - _DAY_SECONDS, "until": end, "points": points}
            shown = companion.get(f"{path}/readings", **asked, level=level)
    if context.json:
        output.print_json(shown if export is not None else {"device": name, **shown})
    elif export is not None:
        held = f"{shown['lines']} lines are" if form == "jsonl" else f"{output.format_size(shown['bytes'])} are"
        output.print_line(f"{held} in {export}.")
    else:
        _show(shown)


def _write(path: Path, companion: "ApiClient", route: str, asked: dict[str, Any]) -> dict[str, int]:
    """Write an export to a file; how much there is. A companion that refuses leaves the file as it was."""
    count = size = 0
    try:
        if asked["format"] == "jsonl":
            lines = companion.lines(route, **asked)
            first = next(lines, None)
            with path.open("w", encoding="utf-8") as file:
                for line in itertools.chain([] if first is None else [first], lines):
                    file.write(line + "\n")
                    count += 1
            return {"lines": count}
        pieces = companion.pieces(route, **asked)
        begun = next(pieces, b"")
        with path.open("wb") as file:
            for piece in itertools.chain([begun], pieces):
                size += file.write(piece)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
    return {"bytes": size}


def _show(found: dict[str, Any]) -> None:
    sense = found["sense"]
    rows = [
        (output.format_time(each["at"]), each["count"], *(_value(each[name], sense) for name in ("min", "mean", "max")))
        for each in found["points"]
    ]
    output.print_table(("at", "readings", "min", "mean", "max"), rows, empty="nothing was read in this time.")
    for event in found["events"]:
        lasted = f"until {output.format_time(event['end'])}" if event["end"] else "and lasts"
        shown = "" if event["value"] is None else f", {_value(event['value'], sense)}"
        output.print_line(f"{event['kind']} from {output.format_time(event['start'])} {lasted}{shown} ({event['id']})")


def _value(value: float | None, sense: dict[str, Any]) -> str:
    if value is None:
        return ""
    return f"{value:.{sense['decimals']}f} {sense['unit']}".rstrip()
