"""The commands that people type in any chat: /help lists them. Each yields its answer line by line."""

import sys

from engram.errors import ArgumentError
from engram.lazy import lazy
from engram.memory import access

_PACKAGE = "channels.console.commands"

COMMANDS = (
    ("help", "[COMMAND]", "what there is to type"),
    ("memory", "[list [PAGE] | tags | show ID | history ID]", "what is remembered; alone: today's and the counts"),
    ("recall", "[--explain] QUERY", "find memories and turns by words; --explain: what each score is made of"),
    ("forget", "ID | QUERY", "forget a memory (m12) or a turn (t12); a query lists candidates"),
    ("pin", "ID", "keep a memory whatever happens: it never leaves for want of room"),
    ("unpin", "ID", "let it leave again as others do"),
    ("undo", "", "take the latest change of memory, profile or notes back"),
    ("session", "[new [TITLE] | list | switch ID | delete ID]", "threads of conversation; alone: the present one"),
    ("profile", "[FILE [add TEXT | write TEXT | replace OLD => NEW]]", "show or edit user.md, soul.md, identity.md"),
    ("intents", "[list | remove ID]", "what comes up and what you are then reminded of"),
    ("mode", "[full | lightweight]", "which memory the agent uses; the other one is kept"),
    ("note", "TEXT", "add a line to today's note"),
    ("distill", "", "turn the notes that wait into memories; /undo takes all of it back"),
    ("clear", "[DAY]", "empty the notes of today, or of a day such as 2026-01-31; memories stay"),
    ("dedupe", "", "look for memories that say the same, and let the lesser one go"),
    (
        "export",
        "[md | trash]",
        "all memories, profile and notes as JSON Lines; md: memories as Markdown; trash: what left",
    ),
    ("import", "FILE | OBJECT", "take memories from a .jsonl file of the board or a JSON object"),
    ("compact", "", "take what was forgotten off the flash"),
    ("companion", "", "the link to the companion: whether there is one, and what it has of the board's logs"),
    ("stats", "", "how the board is doing"),
    ("workspace", "[ID | off]", "the workspace of this conversation: who is in it shares what is tagged ws:ID"),
    ("json", "on | off", "on the serial line: one JSON object a line, for programs"),
)


class Commands:
    """Runs commands over one board.

    find_handlers() gives for each command but help the module with its function, NAME_command, and the arguments that come
    before who asks and what stands behind the name.
    """

    def __init__(self, find_handlers):
        self._find_handlers = find_handlers

    def run(self, caller, line: str):
        """Yield the answer's lines to a line that begins with a slash; ArgumentError if it is no command.

        A number among them is a pause in milliseconds, in which others may run; a dict is a report for programs.
        """
        name, _, rest = line[1:].partition(" ")
        for known, usage, _ in COMMANDS:
            if known == name:
                return self._checked(name, rest.strip(), usage, caller)
        raise ArgumentError("/" + name[:20], "there is no such command; /help lists them.")

    def _checked(self, name: str, rest: str, usage: str, caller):
        if rest and not usage:
            raise ArgumentError("/" + name, "takes nothing after it.")
        return self._help(rest) if name == "help" else self._handle(name, caller, rest)

    def _handle(self, name: str, caller, rest: str):
        with lazy(_PACKAGE, "memory", "store"):
            module, needs = self._find_handlers()[name]
            path = "engram.%s.%s" % (_PACKAGE, module)
            __import__(path)
            yield from getattr(sys.modules[path], name + "_command")(*needs, caller, rest)

    def _help(self, rest: str):
        wanted = rest.strip("/")
        if wanted and wanted not in [name for name, _, _ in COMMANDS]:
            raise ArgumentError("/help", "there is no command /%s; /help alone lists them." % wanted[:20])
        for name, usage, purpose in COMMANDS:
            if not wanted or wanted == name:
                yield "/" + name + (" " + usage if usage else "")
                yield "    " + purpose
        if not wanted:
            yield "All else is a message to the agent."


def only_owner(caller, command: str) -> None:
    """ArgumentError for all but the owner: a command that concerns what others have, too."""
    if not access.is_owner(caller):
        raise ArgumentError(command, "concerns the whole board: only the owner can do that, on the console.")


def count_of(count: int, one: str, several: str) -> str:
    """A number with its noun."""
    return "%d %s" % (count, one if count == 1 else several)
