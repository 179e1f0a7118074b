"""`engram merge` and `engram changes`: changes of memories that wait for their board, through a companion, as on its page."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.cli.page.change_result import describe_change, follow_change, show_change
from engram_host.cli.page.memories import MEMORY_COLUMNS, memory_row


@takes(DEVICE, URL, HOME, JSON)
def merge(
    context: Context,
    kept: Annotated[str, typer.Argument(help="memory that stays, such as m12")],
    other: Annotated[
        str, typer.Argument(help="memory that is forgotten then, such as m15; without it, a list of similar ones")
    ] = "",
    text: Annotated[str, typer.Option(help="text of both; required for a merge")] = "",
    find: Annotated[str, typer.Option(help="list the memories that these words find instead of similar ones")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="new tag, replaces all tags; repeatable")] = None,
) -> None:
    """Give one memory the text of two, and forget the other one once the board has it. Needs a running companion.

    `engram changes --undo ID` brings both back as they were.

    Example: engram merge m12 --device kitchen

    Example: engram merge m12 m15 --text "Ann drinks green tea" --device kitchen
    """
    if not other:
        if text or tag:
            raise WrongUsage(
                "a merge needs two memories: name the other one. `engram merge` with one lists similar ones."
            )
        _show_similar(context, kept, find)
        return
    if find:
        raise WrongUsage("--find lists memories to merge with: leave the other memory out.")
    if not text.strip():
        raise WrongUsage("a merge needs the text of both memories: give --text.")
    wanted = {"do": "merge", "other": other, "text": text, **({"tags": tag} if tag else {})}
    with context.open_companion() as companion:
        name = companion.device(context.device)
        change = companion.post(f"/v1/boards/{name}/memories/{kept}", wanted)
        change = follow_change(companion, name, change)
    show_change(context, change)


@takes(DEVICE, URL, HOME, JSON)
def changes(
    context: Context,
    undo: Annotated[str, typer.Option(help="undo the change with this id; a merge as a whole")] = "",
    cancel: Annotated[str, typer.Option(help="cancel the change with this id, which still waits")] = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="maximum number of changes")] = 20,
) -> None:
    """List changes of memories that a board was asked for through the companion. Needs a running companion.

    Example: engram changes --device kitchen

    Example: engram changes --undo memory:merge:m12:0123abcd:m15:15
    """
    if undo and cancel:
        raise WrongUsage("--undo and --cancel name two changes: give one of them.")
    with context.open_companion() as companion:
        name = companion.device(context.device)
        path = f"/v1/boards/{name}/changes"
        if undo:
            before = companion.get(f"{path}/{undo}")
            show_change(context, follow_change(companion, name, companion.post(f"{path}/{undo}/undo", {})))
            if before["behind"]:
                typer.echo(_unchecked(name, before["entry"]), err=True)
        elif cancel:
            show_change(context, companion.delete(f"{path}/{cancel}"))
        else:
            _show_all(context, name, companion.get(path, limit=limit))


def _show_similar(context: Context, kept: str, words: str) -> None:
    with context.open_companion() as companion:
        name = companion.device(context.device)
        found = companion.get(f"/v1/boards/{name}/memories/{kept}/similar", words=words)
    if context.json:
        output.print_json({"device": name, "entry": kept, "similar": found})
        return
    rows = [memory_row(each) for each in found]
    output.print_table(MEMORY_COLUMNS, rows, empty=f"{name} has no memory that {kept} can be merged with.")


def _show_all(context: Context, name: str, found: list[dict[str, Any]]) -> None:
    if context.json:
        output.print_json({"device": name, "changes": found})
        return
    rows = [(output.format_time(each["at"]), each["state"], each["id"], describe_change(each)) for each in found]
    output.print_table(("at", "state", "id", "what"), rows, empty=f"{name} was asked for no change lately.")


def _unchecked(board: str, entry: str) -> str:
    """What an undo could not be compared with."""
    return (
        f"the copy of {board} did not have that change yet: whether the board has changed {entry} itself since could not be "
        f"checked. `engram history {entry}` shows what it has now."
    )
