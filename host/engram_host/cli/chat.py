"""`engram chat`, and a command's conversation with a board through the companion, also across broken connections."""

import contextlib
import json
import secrets
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.boards.terminal import AnswerView, read_line
from engram_host.cli.exit_status import CommandError, CompanionRefused
from engram_host.cli.options import HOME, URL, Context, takes

if TYPE_CHECKING:
    from engram_host.cli.api_client import ApiClient

Answer = dict[str, Any]

_AGAIN_SECONDS = 1.0
_GONE_SECONDS = 30.0
"""Limit of the wait for a companion that went away in the middle of an answer."""


class BoardTalk:
    """A board behind a companion; its answers are events (name, fields)."""

    def __init__(
        self, companion: "ApiClient", device: str, principal: str = "owner", room: str = "", workspace: str = ""
    ):
        self.device = device
        self._companion = companion
        self._speaker = {"principal": principal, "room": room, "workspace": workspace}
        self.mid = ""

    def say(self, content: str, *, is_command: bool) -> Iterator[tuple[str, Answer]]:
        """Say something and yield the events of the answer, `end` last; raises CommandError."""
        self.mid = f"cli:{secrets.token_hex(8)}"
        return self._events({"command" if is_command else "text": content, "id": self.mid, **self._speaker})

    def follow(self, mid: str) -> Iterator[tuple[str, Answer]]:
        """Yield the events of the answer to an earlier message; raises CommandError."""
        self.mid = mid
        return self._events(None)

    def cancel(self) -> str:
        """Cancel the answer to the latest message and return its state; raises CommandError."""
        return self._companion.delete(f"{self._path}/{self.mid}")["state"]

    @property
    def _path(self) -> str:
        return f"/v1/boards/{self.device}/chat"

    def _events(self, message: Answer | None) -> Iterator[tuple[str, Answer]]:
        after, lost_at = 0, 0.0
        while True:
            try:
                for number, name, fields in self._open(message, after):
                    after, lost_at = max(after, number), 0.0
                    yield name, fields
                    if name == "end":
                        return
            except CompanionRefused:
                raise
            except CommandError:
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > _GONE_SECONDS:
                    raise
            time.sleep(_AGAIN_SECONDS)

    def _open(self, message: Answer | None, after: int) -> Iterator[tuple[int, str, Answer]]:
        """Open or resume an answer: a message with a known id is not said twice."""
        if message and not after:
            return self._companion.events("POST", self._path, message)
        return self._companion.events("GET", f"{self._path}/{self.mid}?after={after}")


class LinkConsole:
    def __init__(self, talk: BoardTalk):
        self._talk = talk

    def ask(self, *, say: str = "", command: str = "") -> Iterator[Answer]:
        """Yield the answers to a request; raises CommandError if the board is away: nothing was done."""
        for name, fields in self._talk.say(say or command, is_command=not say):
            if name == "state" and fields["told"]:
                self._give_up(fields["told"])
            if answer := as_console(name, fields):
                yield answer

    def _give_up(self, told: str) -> None:
        state = self._talk.cancel()
        done = "Nothing was done." if state == "cancelled" else "The board may do it yet."
        raise CommandError(f"{told.partition(':')[0]}: it does not answer now. {done}")


def as_console(name: str, fields: Answer) -> Answer | None:
    """Convert an event to a console's answer; None if a console has no such answer."""
    if name in ("text", "notice", "line"):
        return {name: fields["text"]}
    if name == "problem":
        return {"error": fields["text"]}
    if name == "report":
        with contextlib.suppress(ValueError):
            report = json.loads(fields["text"])
            return {"notice": f"{report['working']} ..."} if "working" in report else {"report": report}
    return None


# --- engram chat


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
        talk = BoardTalk(companion, companion.device(board), principal=principal, room=room, workspace=workspace)
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
