"""`engram forget`, `pin` and `undo`: commands of a board, on its console or over the link of a companion."""

from typing import Annotated

import typer

from engram.memory import ALL
from engram_host.cli import output
from engram_host.cli.console_session import (
    BoardConsole,
    answer_lines,
    check_reports,
    exported_memory,
    import_object,
    is_behind_companion,
    open_board,
)
from engram_host.cli.exit_status import CommandError, NotFound, WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, PORT, SIM, URL, Context, takes
from engram_host.cli.page.change_result import follow_change, show_change
from engram_host.transfer.report import import_command

_KINDS = {"m": "memory", "t": "turn"}


@takes(PORT, SIM, DEVICE, URL, HOME, JSON)
def forget(
    context: Context,
    entry: Annotated[str, typer.Argument(help="memory such as m12, or turn such as t34")],
    turns: Annotated[
        bool, typer.Option("--turns/--keep-turns", help="of a memory: also forget the turns that it came from")
    ] = True,
) -> None:
    """Forget a memory or a turn on the board: on a serial port, simulated, or over the link of a companion.

    `engram undo` brings a memory back. With --keep-turns a board of a companion that is away forgets it once it is back;
    `engram changes` shows that, and cancels it.

    Example: engram forget m12 --device kitchen

    Example: engram forget m12 --keep-turns --device kitchen

    Example: engram forget t34 --port /dev/ttyACM0
    """
    _checked(entry, "mt")
    if turns:
        _run(context, f"/forget {entry}")
        return
    if entry[0] != "m":
        raise WrongUsage(f"{entry} is a turn: --keep-turns is for memories.")
    lines = [f"{entry} is forgotten, and the turns that it came from stay."]
    if is_behind_companion(context) and _drop_over_companion(context, entry, lines[0]):
        return
    with open_board(context) as board:
        command = drop_memory(board, entry)
    if context.json:
        output.print_json({"command": command, "lines": lines})
    else:
        output.print_line(lines[0])


def _drop_over_companion(context: Context, entry: str, done: str) -> bool:
    """Ask a board as its page does: while it is away, the change waits. False if the copy does not have the memory."""
    with context.open_companion() as companion:
        name = companion.device(context.device)
        try:
            change = companion.post(f"/v1/boards/{name}/memories/{entry}", {"do": "forget"})
        except NotFound:
            return False  # the board may have it since a moment ago
        change = follow_change(companion, name, change)
    show_change(context, change, done)
    return True


def drop_memory(board: BoardConsole, entry: str) -> str:
    """Forget a memory and none of the turns that it came from; the command that did. CommandError, BoardError."""
    check_reports(board)
    fields = exported_memory(board, entry)
    line = {"origin": fields["origin"], "deleted": True, "scope": fields.get("scope", ALL)}
    outcome, refused = import_object(board, line)
    if refused:
        raise CommandError(f"the board says: {refused[0]['why']}")
    if not outcome["counts"].get("forgotten"):
        raise CommandError(f"{entry} is history: another memory took its place, and only that one can be forgotten.")
    return import_command(line)


@takes(PORT, SIM, DEVICE, URL, HOME, JSON)
def pin(
    context: Context,
    entry: Annotated[str, typer.Argument(help="memory, such as m12")],
    off: Annotated[bool, typer.Option("--off", help="end that protection")] = False,
) -> None:
    """Protect a memory from eviction on the board: on a serial port, simulated, or over the link of a companion.

    Example: engram pin m12 --device kitchen

    Example: engram pin m12 --off --sim ~/.engram/sim
    """
    _run(context, f"/{'unpin' if off else 'pin'} {_checked(entry, 'm')}")


@takes(PORT, SIM, DEVICE, URL, HOME, JSON)
def undo(
    context: Context,
    entry: Annotated[str, typer.Argument(help="memory, such as m12: only if the latest change is of it")] = "",
) -> None:
    """Undo the latest change on the board: on a serial port, simulated, or over the link of a companion.

    Example: engram undo --device kitchen

    Example: engram undo m12 --device kitchen
    """
    _run(context, f"/undo {_checked(entry, 'm')}" if entry else "/undo")


def _checked(entry: str, letters: str) -> str:
    """The id of a memory or a turn; WrongUsage."""
    if entry[:1] not in (*letters,) or not (entry[1:].isascii() and entry[1:].isdigit()):
        kinds = " or ".join(f"{_KINDS[letter]} such as {letter}12" for letter in letters)
        raise WrongUsage(f"{entry[:20]!r} is no id of a {kinds}.")
    return entry


def _run(context: Context, command: str) -> None:
    with open_board(context) as board:
        lines = list(answer_lines(board, command))
    if context.json:
        output.print_json({"command": command, "lines": lines})
        return
    for line in lines:
        output.print_line(line)
