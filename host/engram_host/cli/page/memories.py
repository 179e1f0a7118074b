"""`engram list`: memories of a board, or its turns."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.memory import Since, Until, cut_text, to_seconds
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.wording import counted

MEMORY_COLUMNS = ("id", "day", "state", "tags", "memory")
TURN_COLUMNS = ("id", "at", "session", "who", "text")


@takes(DEVICE, URL, HOME, JSON)
def list_entries(
    context: Context,
    turns: Annotated[bool, typer.Option("--turns", help="list conversation turns instead of memories")] = False,
    tag: Annotated[str, typer.Option(help="only memories with this tag")] = "",
    words: Annotated[str, typer.Option(help="only memories with these words, all of them")] = "",
    state: Annotated[
        str, typer.Option(help="only entries in this state: live, superseded, expired, archived or all")
    ] = "live",
    speaker: Annotated[str, typer.Option(help="only turns of this speaker")] = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="maximum number of entries")] = 50,
) -> None:
    """List a board's memories or turns, newest first. Needs a running companion.

    Example: engram list --device kitchen --tag shopping

    Example: engram list --words "blue tin"

    Example: engram list --turns --speaker ann --since 2026-01-01
    """
    if turns and (tag or words):
        raise WrongUsage("--tag and --words are for memories: leave --turns out.")
    if speaker and not turns:
        raise WrongUsage("--speaker is for turns: add --turns.")
    path = "/v1/devices/{}/entries" if turns else "/v1/boards/{}/memories"
    asked: dict[str, Any] = {"log": "journal", "speaker": speaker} if turns else {"tag": tag, "words": words}
    asked |= {"state": state, "since": to_seconds("--since", since), "until": to_seconds("--until", until)}
    with context.open_companion() as companion:
        name = companion.device(context.device)
        found = companion.get(path.format(name), **asked, limit=limit)
    if context.json:
        output.print_json({"device": name, **found})
        return
    rows = [turn_row(each) if turns else memory_row(each) for each in found["entries"]]
    columns = TURN_COLUMNS if turns else MEMORY_COLUMNS
    output.print_table(columns, rows, empty=f"no matching entry on {name}.")
    if limit < found["total"]:
        typer.echo(f"the newest {limit} of {found['total']}; --limit shows more.", err=True)
    if found["archived"]:
        more = counted(
            found["archived"],
            "more is in the archive; --state archived shows it.",
            "more are in the archive; --state archived shows them.",
        )
        typer.echo(more, err=True)


def memory_row(entry: dict[str, Any]) -> tuple[str, ...]:
    line = entry["line"]
    state = entry["state"] + (", pinned" if line.get("pinned") else "")
    return (
        entry["id"],
        output.format_time(line.get("created"))[:10],
        state,
        ", ".join(line.get("tags", ())),
        cut_text(line["content"]),
    )


def turn_row(entry: dict[str, Any]) -> tuple[str, ...]:
    line = entry["line"]
    return (
        entry["id"],
        output.format_time(line.get("at")),
        line.get("sid", ""),
        line.get("who", ""),
        cut_text(line["text"]),
    )
