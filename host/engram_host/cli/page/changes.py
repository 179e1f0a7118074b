"""`engram changes`: changes of memories that wait for their board, through a companion, as on its page."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.cli.page.change_result import describe_change, follow_change, show_change


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
