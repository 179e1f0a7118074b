"""`engram list`: memories of a board by the filters of the page, or its turns."""

import time
from enum import StrEnum
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, WrongUsage
from engram_host.cli.memory import Since, Until, cut_text, to_seconds
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.wording import counted


class Sort(StrEnum):
    """By what memories are sorted."""

    CHANGED = "changed"
    CREATED = "created"
    IMPORTANCE = "importance"


MEMORY_COLUMNS = ("id", "day", "state", "tags", "memory")
TURN_COLUMNS = ("id", "at", "session", "who", "text")

_STATES = ("live", "superseded", "expired", "archived", "all", "trash")
_LOOK_SECONDS = 0.2


@takes(DEVICE, URL, HOME, JSON)
def list_entries(
    context: Context,
    turns: Annotated[bool, typer.Option("--turns", help="list conversation turns instead of memories")] = False,
    tag: Annotated[str, typer.Option(help="only memories with this tag")] = "",
    type: Annotated[str, typer.Option(help="only memories of this type, such as fact")] = "",
    scope: Annotated[str, typer.Option(help="only memories of this scope: all, user:NAME or ws:ID")] = "",
    state: Annotated[
        str, typer.Option(help="only memories in this state: live, superseded, expired, archived, all or trash")
    ] = "live",
    source: Annotated[str, typer.Option(help="only memories that came so, such as auto_llm or import")] = "",
    keyword: Annotated[str, typer.Option(help="only memories with this keyword: a person, place or thing")] = "",
    words: Annotated[str, typer.Option(help="only memories with these words, all of them")] = "",
    pinned: Annotated[bool, typer.Option("--pinned", help="only pinned memories")] = False,
    sort: Annotated[Sort, typer.Option(help="by what memories are sorted, the highest first")] = Sort.CHANGED,
    reverse: Annotated[bool, typer.Option("--reverse", help="the other way round")] = False,
    offset: Annotated[int, typer.Option(min=0, help="skip this many memories")] = 0,
    session: Annotated[str, typer.Option(help="only turns of this session")] = "",
    speaker: Annotated[str, typer.Option(help="only turns of this speaker")] = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="maximum number of entries")] = 50,
) -> None:
    """List a board's memories or turns, newest first. Needs a running companion.

    Example: engram list --device kitchen --tag shopping

    Example: engram list --words "blue tin" --sort importance

    Example: engram list --turns --speaker ann --since 2026-01-01
    """
    if state not in _STATES:
        raise WrongUsage(f"--state takes one of {', '.join(_STATES)}.")
    if state == "trash":
        filters = tag, type, scope, source, keyword, words, session, speaker, since, until
        if turns or pinned or reverse or sort != Sort.CHANGED or any(filters):
            raise WrongUsage("--state trash lists all that the board has there: leave the filters out.")
        _list_trash(context, offset, limit)
        return
    asked: dict[str, Any] = {"tag": tag, "type": type, "scope": scope, "state": state, "limit": limit}
    asked |= {"since": to_seconds("--since", since), "until": to_seconds("--until", until)}
    of_memories = {"source": source, "keyword": keyword, "words": words, "pinned": pinned or "", "offset": offset}
    if turns and (any(of_memories.values()) or reverse or sort != Sort.CHANGED):
        raise WrongUsage("--source, --keyword, --words, --pinned, --sort, --reverse and --offset are for memories.")
    if not turns and (session or speaker):
        raise WrongUsage("--session and --speaker are for turns: add --turns.")
    path = "/v1/devices/{}/entries" if turns else "/v1/boards/{}/memories"
    asked |= {"log": "journal", "session": session, "speaker": speaker} if turns else of_memories
    asked |= {} if turns else {"sort": ("" if reverse else "-") + sort}
    with context.open_companion() as companion:
        name = companion.device(context.device)
        found = companion.get(path.format(name), **asked)
    if context.json:
        output.print_json({"device": name, **found})
        return
    rows = [turn_row(each) if turns else memory_row(each) for each in found["entries"]]
    columns = TURN_COLUMNS if turns else MEMORY_COLUMNS
    output.print_table(columns, rows, empty=f"no matching entry on {name}.")
    if offset + len(rows) < found["total"]:
        what = f"the newest {len(rows)}" if not offset and sort == Sort.CHANGED and not reverse else str(len(rows))
        typer.echo(f"{what} of {found['total']}; --limit shows more.", err=True)
    if found["archived"]:
        more = counted(
            found["archived"],
            "more is in the archive; --state archived shows it.",
            "more are in the archive; --state archived shows them.",
        )
        typer.echo(more, err=True)


def _list_trash(context: Context, offset: int, limit: int) -> None:
    """Ask the board for its trash, unless it has a question about it already, and list what it answers."""
    with context.open_companion() as companion:
        name = companion.device(context.device)
        path = f"/v1/boards/{name}/trash"
        found = companion.get(path)
        if not found["waiting"]:
            found = companion.post(path, {})
        while found["waiting"] and not found["told"]:
            time.sleep(_LOOK_SECONDS)
            found = companion.get(path)
    if found["waiting"]:
        raise CommandError(f"{found['told'].rstrip('.')}. It is asked once it is back: run this again then.")
    if found["problem"]:
        raise CommandError(f"the board says: {found['problem']}")
    records = found["records"][offset : offset + limit]
    entries = [{"id": str(line.get("id", "")), "state": "trash", "line": line} for line in records]
    if context.json:
        output.print_json({"device": name, "at": found["at"], "total": len(found["records"]), "entries": entries})
        return
    output.print_table(
        MEMORY_COLUMNS, [memory_row(each) for each in entries], empty=f"{name} has nothing in its trash."
    )
    if offset + len(entries) < len(found["records"]):
        typer.echo(f"{len(entries)} of {len(found['records'])}; --limit shows more.", err=True)


def memory_row(entry: dict[str, Any]) -> tuple[str, ...]:
    """A memory as a list has it, see MEMORY_COLUMNS."""
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
    """A turn as a list has it, see TURN_COLUMNS."""
    line = entry["line"]
    return (
        entry["id"],
        output.format_time(line.get("at")),
        line.get("sid", ""),
        line.get("who", ""),
        cut_text(line["text"]),
    )
