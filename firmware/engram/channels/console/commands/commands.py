"""The commands that people type in any chat: /help lists them. Each yields its answer line by line."""

import sys

from engram.errors import ArgumentError
from engram.lazy import lazy
from engram.memory import access

_PACKAGE = "channels.console.commands"

COMMANDS = {
    "board": "help stats companion mode compact json",
    "care": "pin unpin note distill clear dedupe",
    "conversation": "session profile intents workspace",
    "memory": "memory",
    "recall": "recall forget undo",
    "transfer": "export import",
}
"""The commands by the module with their functions, NAME_command."""

_ALONE = " undo distill dedupe compact companion stats "
"""Those that take nothing after their name."""


class Commands:
    """Runs commands over one board."""

    def __init__(self, board):
        self._board = board

    def run(self, caller, line: str):
        """Yield the answer's lines to a line that begins with a slash; ArgumentError if it is no command.

        A number among them is a pause of so many milliseconds, in which others may run.
        """
        name, _, rest = line[1:].partition(" ")
        rest = rest.strip()
        for module, names in COMMANDS.items():
            if name in names.split():
                if rest and " %s " % name in _ALONE:
                    raise ArgumentError("/" + name, "takes nothing after it.")
                return self._run(module, name, caller, rest)
        raise ArgumentError("/" + name[:20], "there is no such command; /help lists them.")

    def _run(self, module: str, name: str, caller, rest: str):
        with lazy(_PACKAGE):
            path = "engram.%s.%s" % (_PACKAGE, module)
            __import__(path)
            yield from getattr(sys.modules[path], name + "_command")(self._board, caller, rest)


def only_owner(caller, command: str) -> None:
    """ArgumentError for all but the owner: a command that concerns what others have, too."""
    if not access.is_owner(caller):
        raise ArgumentError(command, "concerns the whole board: only the owner can do that, on the console.")


def count_of(count: int, one: str, several: str) -> str:
    """A number with its noun."""
    return "%d %s" % (count, one if count == 1 else several)
