"""`engram edit`: changes a memory on a board. The board's own export gives it, its own import takes the changed one.

An import knows a memory by its origin, gives it what the line says, and keeps the version before as history.
"""

import json
import time
from typing import Annotated, Any

import typer

from engram.transfer.jsonl import TextParts
from engram_host.boards.json_lines import JsonConsole
from engram_host.cli import output
from engram_host.cli.console_session import answer_lines, check_reports, import_object, open_board
from engram_host.cli.exit_status import CommandError, NotFound, WrongUsage
from engram_host.cli.options import JSON, PORT, SIM, Context, takes

_NOT_SENT = ("id", "turns", "supersedes", "superseded", "uses", "used")
"""What an edit leaves as it is: an import of one line would only say that it cannot look after it."""


@takes(PORT, SIM, JSON)
def edit(
    context: Context,
    entry: Annotated[str, typer.Argument(help="memory, such as m12")],
    text: Annotated[str | None, typer.Option(help="new text")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="new tag, replaces all tags; repeatable")] = None,
) -> None:
    """Change a memory's text or tags on the board. Needs no companion.

    The board must be on a serial port or simulated. The companion updates its copy when the board connects.

    Example: engram edit m12 --text "Ann drinks tea" --port /dev/ttyACM0

    Example: engram edit m12 --tag drinks --tag ann --sim ~/.engram/sim
    """
    if text is None and not tag:
        raise WrongUsage("nothing to change is named: give --text or --tag.")
    with open_board(context.board) as board:
        before, after = change_memory(board, entry, text, tag)
    if context.json:
        output.print_json({"id": entry, "before": before, "after": after})
    else:
        output.print_line(f"{entry} was: {before['content']} (#{' #'.join(before['tags'])})")
        output.print_line(f"{entry} is:  {after['content']} (#{' #'.join(after['tags'])})")


def change_memory(
    board: JsonConsole, entry: str, text: str | None, tags: list[str] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Change a live memory; (the memory before, after) as the board exports it. CommandError, BoardError."""
    if entry[:1] != "m" or not (entry[1:].isascii() and entry[1:].isdigit()):
        raise WrongUsage(f"{entry[:20]!r} is no memory's id: it is such as m12, and a turn cannot be changed.")
    check_reports(board)
    before = _memory(board, entry)
    if before.get("superseded"):
        raise CommandError(f"{entry} is history: another memory took its place, and only that one can be changed.")
    after = {name: value for name, value in before.items() if name not in _NOT_SENT}
    if text is not None:
        after["content"] = text
    if tags:
        after["tags"] = tags
    after["updated"] = max(int(time.time()), before.get("updated", before["created"]) + 1)
    outcome, refused = import_object(board, after)
    if refused:
        raise CommandError(f"the board says: {refused[0]['why']}")
    if entry not in outcome["ids"]:
        raise CommandError(f"{entry} says that already.")
    return before, _memory(board, entry)


def _memory(board: JsonConsole, entry: str) -> dict[str, Any]:
    parts = TextParts()
    found: dict[str, Any] | None = None
    for line in answer_lines(board, "/export"):
        fields = json.loads(line)
        if not parts.take(fields) and fields.get("id") == entry:
            found = fields  # and the rest is read: the board answers one command after the other
    if found is None:
        raise NotFound(f"the board has no memory {entry}: `/memory list` on it shows what there is.")
    return found
