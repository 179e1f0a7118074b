"""The commands of any chat, as commands.txt lists them; each yields its answer line by line."""

from engram import tables
from engram.errors import ArgumentError
from engram.memory import access

_COMMANDS = list(tables.rows("channels/console/commands"))


def commands():
    """Yield (name, arguments, purpose) of each command."""
    for line in _COMMANDS:
        command, _, purpose = line.partition(" -- ")
        name, _, usage = command.partition(" ")
        yield name, usage, purpose


class Commands:
    def __init__(self, board, load_finder):
        self._board = board
        self._load_finder = load_finder

    def run(self, caller, line: str):
        """Yield an answer's lines, pauses (int, ms), reports (dict) and work; ArgumentError if unknown."""
        # Work is a function that is awaited with the sink; its result is sent back, and another output follows.
        name, _, rest = line[1:].partition(" ")
        rest = rest.strip()
        usages = [usage for known, usage, _ in commands() if known == name]
        if not usages:
            raise ArgumentError("/" + name[:20], "there is no such command; /help lists them.")
        if rest and not usages[0]:
            raise ArgumentError("/" + name, "takes nothing after it.")
        return _help(rest.strip("/")) if name == "help" else self._load_finder()(name)(self._board, caller, rest)


def _help(wanted: str):
    if wanted and wanted not in [name for name, _, _ in commands()]:
        raise ArgumentError("/help", "there is no command /%s; /help alone lists them." % wanted[:20])
    for name, usage, purpose in commands():
        if not wanted or wanted == name:
            yield "/" + name + (" " + usage if usage else "")
            yield "    " + purpose
    if not wanted:
        yield "Everything else is a message to the agent."


def only_owner(caller, command: str) -> None:
    """Raise ArgumentError for anyone but the owner."""
    if not access.is_owner(caller):
        raise ArgumentError(command, "concerns the whole board: only the owner can do that, in private.")


def count_of(count: int, one: str, several: str) -> str:
    return "%d %s" % (count, one if count == 1 else several)
