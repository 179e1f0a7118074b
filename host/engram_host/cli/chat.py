"""`engram chat`: a conversation with a board through the companion."""

import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from engram_host.boards.terminal import AnswerView, read_line
from engram_host.cli.conversation import Answer, BoardTalk, Speaker, as_console
from engram_host.cli.exit_status import CommandError
from engram_host.cli.options import HOME, URL, Context, takes


@takes(URL, HOME)
def chat(
    context: Context,
    board: Annotated[str, typer.Argument(help="board name; optional if only one is known")] = "",
    principal: Annotated[str, typer.Option(help="who speaks; the board has to allow that the owner does")] = "owner",
    room: Annotated[str, typer.Option(help="the chat, which has a session of its own on the board")] = "",
    workspace: Annotated[str, typer.Option(help="workspace of the conversation")] = "",
    follow: Annotated[str, typer.Option(help="show the answer to an earlier message with this id, and end")] = "",
) -> None:
    """Chat with a board through the companion; Ctrl-C cancels an answer, Ctrl-D ends. Needs a running companion.

    A message to a board that is away is kept, and answered when the board is back.

    Example: engram chat kitchen

    Example: echo "what is on the list?" | engram chat kitchen --principal ann
    """
    with context.open_companion() as companion:
        talk = BoardTalk(companion, companion.device(board), Speaker(principal, room, workspace))
        if follow:
            _show(talk, talk.follow(follow))
            return
        while (message := read_line()) is not None:
            if message:
                _converse(talk, message)


def _converse(talk: BoardTalk, message: str) -> None:
    try:
        _show(talk, talk.say(message, is_command=message.startswith("/")))
    except KeyboardInterrupt:
        state = talk.cancel()
        AnswerView().aside("cancelled" if state == "cancelled" else "the board is told to stop")
        if not sys.stdin.isatty():
            raise


def _show(talk: BoardTalk, events: Iterator[tuple[str, Answer]]) -> None:
    """Show an answer; programs do not wait for a board that is away. Raises CommandError."""
    view = AnswerView()
    try:
        for name, fields in events:
            if name == "state" and fields["told"]:
                if not sys.stdin.isatty():
                    raise CommandError(
                        f"{fields['told']} `engram chat {talk.device} --follow {talk.mid}` shows it then."
                    )
                view.aside(fields["told"])
            elif name == "again":
                view.aside("the answer starts again")
            elif answer := as_console(name, fields):
                view.show(answer)
    finally:
        view.end()
