"""Which commands people on a network may use: those about the whole board are the owner's, in private."""

from board import Board, Script
from channel import Network, message
from engram.channels.console.commands import commands
from engram.channels.inbox import changes
from engram.memory.access import Caller

OWNERS = {"model": "", "setting": "llm.retries 4", "compact": "", "pair": "ABCDEFGH", "people": "list", "mode": "full"}
"""The commands that only the owner uses, with what makes them so."""

CONSOLE = {"workspace": "garden"}
"""Those that only the console has."""

ANN = Caller("ann", "net 5", False, "")
GROUP = Caller("ann", "net -7", True, "")
OWNER = Caller("owner", "net 1", False, "")
OWNER_IN_GROUP = Caller("owner", "net -7", True, "")


async def _told(board, line, caller):
    return "\n".join((await Network(board.inbox).offer(message("", line, caller))).told)


async def test_commands_about_the_whole_board_are_the_owners_in_private():
    board = Board().serve(Script())
    for name, _, _ in commands():
        line = "/%s %s" % (name, OWNERS.get(name, ""))
        for caller in (ANN, GROUP, OWNER_IN_GROUP):
            told = await _told(board, line.strip(), caller)
            assert ("only the owner can do that" in told) == (name in OWNERS), (line, caller, told)
        assert "only the owner can do that" not in await _told(board, line.strip(), OWNER)


async def test_what_the_console_alone_sets_is_refused_on_a_network():
    board = Board().serve(Script())
    for name, rest in CONSOLE.items():
        for caller in (ANN, GROUP, OWNER):
            assert "on the console" in await _told(board, "/%s %s" % (name, rest), caller)


def test_each_command_reads_or_changes():
    reads = ("/help", "/memory", "/memory list", "/recall x", "/export", "/stats", "/session", "/people")
    for line in reads + (
        "/session list", "/timers", "/mode", "/workspace", "/profile", "/profile user.md", "/people list",
        '/import {"content":"x"}',
    ):  # fmt: skip
        assert not changes(line), line
    for line in (
        "/note x", "/undo", "/session new", "/mode full", "/profile user.md add x", "/pair X", "/people block x",
        '/import {"origin":"a:1","was":7,"content":"x"}',
    ):  # fmt: skip
        assert changes(line), line
    for line in ("/forget m1", "/pin m1", "/clear", "/compact", "/distill"):
        assert changes(line), line
