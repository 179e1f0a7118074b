"""The commands about the board as a whole: /mode, /setting, /workspace and /compact."""

from engram.channels.console.commands import only_owner
from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.access import OWNER


def senses_command(board, caller, rest: str):
    if board.sense_view is None:
        raise ArgumentError("/senses", "there are none yet: docs/guides/senses.md says how a board gets some.")
    return board.sense_view.command(caller, rest)


def mode_command(board, caller, rest: str):
    if rest:
        only_owner(caller, "/mode")
        board.config.save("mode", rest)
    yield "%s mode%s" % (board.config.get("mode"), "; nothing of the other mode is lost" if rest else "")


def setting_command(board, caller, rest: str):
    only_owner(caller, "/setting")
    name, _, value = rest.partition(" ")
    if value:
        if name == "companion.chat" and caller.room != OWNER.room:
            # People on the link must not extend its rights.
            raise ArgumentError(name, "is set on the console only.")
        board.config.change(name, value.strip())
        yield name + " is set; it holds from the board's next start at the latest"
        return
    count = 0
    for line in board.config.lines():
        count += 1
        if line.startswith(name):
            yield line
    yield "%d of all settings are set, the others have their defaults" % count


def workspace_command(board, caller, rest: str):
    present = caller.workspace
    if rest:
        if (caller.principal, caller.room) != OWNER[:2]:
            raise ArgumentError("/workspace", "is set by the channel here: only the owner changes it, on the console.")
        present = "" if rest == "off" else access.check_workspace("/workspace", rest)
        board.config.save("console.workspace", present)
    if present:
        yield "in the workspace %s: a memory tagged ws:%s is for all who are in it" % (present, present)
    else:
        yield "in no workspace"


def compact_command(board, caller, _rest: str):
    only_owner(caller, "/compact")
    saved = 0
    for log in (board.records, board.journal):
        before = log.entries.bytes
        work = log.compacting()
        try:
            for _ in work:
                yield 0
        finally:
            # MicroPython ends no generator by itself that is dropped half-way: no other compaction would begin.
            work.close()
        saved += before - log.entries.bytes
    yield "freed %d bytes" % saved if saved > 0 else "nothing to free"
