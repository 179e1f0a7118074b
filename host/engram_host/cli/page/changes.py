"""`engram merge` and `engram changes`: changes of memories that wait for their board, through a companion, as on its page."""

import time
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.api_client import ApiClient
from engram_host.cli.exit_status import CommandError, WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes

_LOOK_SECONDS = 0.2


@takes(DEVICE, URL, HOME, JSON)
def merge(
    context: Context,
    kept: Annotated[str, typer.Argument(help="memory that stays, such as m12")],
    other: Annotated[str, typer.Argument(help="memory that is forgotten then, such as m15")],
    text: Annotated[str, typer.Option(help="text of both; required")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="new tag, replaces all tags; repeatable")] = None,
) -> None:
    """Give one memory the text of two, and forget the other one once the board has it. Needs a running companion.

    `engram changes --undo ID` brings both back as they were.

    Example: engram merge m12 m15 --text "Ann drinks green tea" --device kitchen
    """
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
            show_change(context, follow_change(companion, name, companion.post(f"{path}/{undo}/undo", {})))
        elif cancel:
            show_change(context, companion.delete(f"{path}/{cancel}"))
        else:
            _show_all(context, name, companion.get(path, limit=limit))


def _show_all(context: Context, name: str, found: list[dict[str, Any]]) -> None:
    if context.json:
        output.print_json({"device": name, "changes": found})
        return
    rows = [(output.format_time(each["at"]), each["state"], each["id"], _sentence(each)) for each in found]
    output.print_table(("at", "state", "id", "what"), rows, empty=f"{name} was asked for no change lately.")


def follow_change(companion: ApiClient, device: str, change: dict[str, Any]) -> dict[str, Any]:
    """The change once the board has answered, or as soon as there is a reason to wait for that elsewhere."""
    while change["state"] == "waiting" and not change["told"]:
        time.sleep(_LOOK_SECONDS)
        change = companion.get(f"/v1/boards/{device}/changes/{change['id']}")
    return change


def show_change(context: Context, change: dict[str, Any]) -> None:
    """Print what became of a change. CommandError if the board did not make it."""
    if change["state"] in ("conflict", "refused"):
        raise CommandError(_sentence(change))
    if context.json:
        output.print_json(change)
    else:
        output.print_line(f"{change['id']}: {change['state']}. {_sentence(change)}".rstrip())


def _sentence(change: dict[str, Any]) -> str:
    """What there is to say of a change."""
    if change["state"] == "conflict":
        return f"the board had changed or forgotten {change['entry']} before: nothing was changed."
    return change["told"] or change["sentence"] or change["text"]
