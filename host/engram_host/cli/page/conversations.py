"""`engram sessions` and `engram messages`: what was said to a board, and what it had to do with memories."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import NotFound, WrongUsage
from engram_host.cli.memory import cut_text
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.cli.page.memories import TURN_COLUMNS, turn_row


@takes(DEVICE, URL, HOME, JSON)
def sessions(
    context: Context,
    session: Annotated[str, typer.Argument(help="session such as s12; without it, a list")] = "",
    scope: Annotated[str, typer.Option(help="list the sessions of this scope: user:NAME or all")] = "user:owner",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="maximum number of sessions, or newest turns")] = 50,
) -> None:
    """List the sessions of a board with their titles, or show the turns of one. Needs a running companion.

    Example: engram sessions --device kitchen

    Example: engram sessions s12 --device kitchen
    """
    with context.open_companion() as companion:
        name = companion.device(context.device)
        if session:
            found = companion.get(f"/v1/boards/{name}/sessions/{_checked(session)}", limit=limit)
            _show_turns(context, name, session, found)
        else:
            _show_sessions(context, name, companion.get(f"/v1/boards/{name}/sessions", scope=scope, limit=limit))


@takes(DEVICE, URL, HOME, JSON)
def messages(
    context: Context,
    message: Annotated[str, typer.Argument(help="id of a message, from the list; without it, a list")] = "",
    room: Annotated[str, typer.Option(help="list only those of this room, such as page")] = "",
    before: Annotated[int, typer.Option(min=0, help="continue the list below this number (the first column)")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=500, help="maximum number of messages")] = 20,
) -> None:
    """List messages to a board, or show what was recalled for one, why, and what was remembered. Needs a running companion.

    Example: engram messages --device kitchen

    Example: engram messages page:0123456789abcdef --device kitchen
    """
    with context.open_companion() as companion:
        name = companion.device(context.device)
        path = f"/v1/boards/{name}/chat"
        if message:
            _show_message(context, companion.get(f"{path}/{message}/memory"))
            return
        found = companion.get(path, room=room, before=before or "", limit=limit)
    if context.json:
        output.print_json({"device": name, "messages": found})
        return
    rows = [
        (each["number"], output.format_time(each["at"]), each["id"], each["state"], cut_text(each["text"]))
        for each in found
    ]
    output.print_table(("number", "at", "id", "state", "message"), rows, empty=f"nothing was said to {name} lately.")
    if len(found) == limit:
        typer.echo(f"there may be more: --before {found[-1]['number']} continues.", err=True)


def _checked(session: str) -> str:
    """The id of a session; WrongUsage."""
    if session[:1] != "s" or not (session[1:].isascii() and session[1:].isdigit()):
        raise WrongUsage(f"{session[:20]!r} is no id of a session such as s12.")
    return session


def _show_sessions(context: Context, name: str, listed: list[dict[str, Any]]) -> None:
    if context.json:
        output.print_json({"device": name, "sessions": listed})
        return
    rows = [(each["id"], output.format_time(each["at"]), each["turns"], each["title"]) for each in listed]
    output.print_table(("id", "used last", "turns", "title"), rows, empty=f"{name} has no such session.")


def _show_turns(context: Context, name: str, session: str, found: dict[str, Any]) -> None:
    turns = list(reversed(found["turns"]))
    if not turns:
        raise NotFound(f"{name} has no turn of a session {session}: `engram sessions` lists those that there are.")
    if context.json:
        output.print_json({"device": name, "session": session, "total": found["total"], "turns": turns})
        return
    output.print_table(TURN_COLUMNS, [turn_row(each) for each in turns])
    if len(turns) < found["total"]:
        typer.echo(f"the newest {len(turns)} of {found['total']} turns; --limit shows more.", err=True)


def _show_message(context: Context, found: dict[str, Any]) -> None:
    if context.json:
        output.print_json(found)
        return
    rows = [(name, found[name]) for name in ("turn", "session", "text", "answer") if found[name]]
    output.print_table(("", ""), rows)
    output.print_line("")
    output.print_line("recalled for the answer:")
    recalled = [
        (each["id"], f"{each['percent']} %", ", ".join(each["words"]), cut_text(each["text"]) or "(has gone since)")
        for each in found["recalled"]
    ]
    output.print_table(("id", "sure", "words in common", "text"), recalled, empty="nothing that the board reported.")
    output.print_line("")
    output.print_line("remembered of the message:")
    remembered = [(each["id"], each["state"], cut_text(each["text"])) for each in found["remembered"]]
    output.print_table(("id", "state", "memory"), remembered, empty="nothing that the copy has.")
