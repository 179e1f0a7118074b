"""The commands of any chat, listed by /help; each yields its answer line by line."""

from engram.errors import ArgumentError
from engram.memory import access

_COMMANDS = """\
help [COMMAND] -- list the commands, or explain one
memory [list [PAGE] | tags | show ID | history ID] -- show what is remembered; alone: today's memories
recall QUERY -- search memories and turns by words
forget ID | WORDS -- forget a memory (m12), a turn (t12), or the only memory that has the words
pin [ID [off] | NAME [on | off | 0..100]] -- protect a memory from eviction, or end that; or show or set the board's pins
undo [ID] -- undo the latest change of memory, profile or notes; with an id only if it is of that memory
session [new [TITLE] | list | switch ID | delete ID] -- conversation threads; alone: the current one
profile [FILE [add TEXT | write TEXT | replace OLD => NEW]] -- show or edit user.md, task.md, soul.md, identity.md, agent.md
senses [NAME [DAYS] | limit NAME below|above VALUE | unlimit ID | forget NAME] -- show what the board perceives
timers [list | add TIME TEXT | add when WORDS: TEXT | remove ID] -- list, set or remove what is said or done \
at a time, or when the words are mentioned
mode [full | lightweight | off] -- show or set the memory that the agent uses; off: keep nothing of this conversation
setting [NAME [VALUE]] -- list what is set, or set something: docs/reference/settings.md
note TEXT -- add a line to today's note
distill -- turn waiting notes into memories; /undo takes them back one by one
clear [DAY] -- empty the notes of today, or of a day such as 2026-01-31; memories stay
export [trash] -- all memories, profile and notes as JSON Lines; trash: evicted ones
import OBJECT -- import a memory as a JSON object; files: `engram import FILE` on a computer
compact -- remove forgotten data from the flash
stats -- show the state of the board
pair CODE [NAME] -- let somebody talk through a network who was sent a code
people [list | block WHO | remove WHO | link WHO ID | owner WHO | group ID MODE] -- show or change who may talk \
through a network
workspace [ID | off] -- show, enter or leave a workspace: its members share memories tagged ws:ID"""


def commands():
    """Yield (name, arguments, purpose) of each command."""
    for line in _COMMANDS.split("\n"):
        command, _, purpose = line.partition(" -- ")
        name, _, usage = command.partition(" ")
        yield name, usage, purpose


class Commands:
    def __init__(self, board, load_handlers):
        self._board = board
        self._load_handlers = load_handlers

    def run(self, caller, line: str):
        """Yield an answer's lines, pauses (int, ms) and reports (dict); ArgumentError if unknown."""
        name, _, rest = line[1:].partition(" ")
        rest = rest.strip()
        usages = [usage for known, usage, _ in commands() if known == name]
        if not usages:
            raise ArgumentError("/" + name[:20], "there is no such command; /help lists them.")
        if rest and not usages[0]:
            raise ArgumentError("/" + name, "takes nothing after it.")
        return _help(rest.strip("/")) if name == "help" else self._load_handlers()[name](self._board, caller, rest)


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
