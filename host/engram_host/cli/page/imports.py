"""`engram imports`: the imports that a companion has looked at, or sends to a board in the background."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes


@takes(DEVICE, URL, HOME, JSON)
def imports(
    context: Context,
    import_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="id of an import, from the list; without it, a list")
    ] = "",
    start: Annotated[
        bool, typer.Option("--start", help="send its lines to the board, also again after a failure")
    ] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="end it if it runs, else remove it")] = False,
) -> None:
    """List imports that a companion sends to a board, or show, start or cancel one. Needs a running companion.

    Example: engram imports --device kitchen

    Example: engram imports 0123456789abcdef --cancel --device kitchen
    """
    if start and cancel:
        raise WrongUsage("--start and --cancel are two things: give one of them.")
    if (start or cancel) and not import_id:
        raise WrongUsage("name the import: `engram imports` lists those that there are.")
    with context.open_companion() as companion:
        name = companion.device(context.device)
        path = f"/v1/boards/{name}/imports"
        if not import_id:
            _show_all(context, name, companion.get(path))
            return
        found = companion.get(f"{path}/{import_id}")
        if start:
            found = companion.post(f"{path}/{import_id}", {"action": "start"})
        elif cancel:
            companion.delete(f"{path}/{import_id}")
            # What runs is ended and kept; anything else is removed.
            found = (
                companion.get(f"{path}/{import_id}") if found["state"] == "running" else found | {"state": "removed"}
            )
    _show(context, found)


def _show_all(context: Context, name: str, found: list[dict[str, Any]]) -> None:
    if context.json:
        output.print_json({"device": name, "imports": found})
        return
    rows = [
        (
            output.format_time(each["made"]),
            each["state"],
            each["id"],
            f"{each['sent']} of {each['total']}",
            each["file"],
        )
        for each in found
    ]
    output.print_table(("at", "state", "id", "lines", "file"), rows, empty=f"nothing was imported to {name} lately.")


def _show(context: Context, found: dict[str, Any]) -> None:
    if context.json:
        output.print_json(found)
        return
    counts = ", ".join(f"{count} {outcome}" for outcome, count in found["counts"].items())
    done = f"{found['sent']} of {found['total']} lines of {found['file']} are sent"
    output.print_line(f"{found['state']}: {done}{': ' if counts else ''}{counts}.")
    for problem in found["problems"]:
        output.print_line(f"line {problem['line']}: {problem['why']}")
    for line in (*found["notes"], *([found["told"]] if found["told"] else [])):
        output.print_line(line)
