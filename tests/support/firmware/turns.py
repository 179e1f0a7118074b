"""Turns with a scripted model: what the person hears, and what is kept."""

from board import Board, Script
from engram.agent.agent import Sink
from engram.memory.access import OWNER


class Ear(Sink):
    """Keeps what a turn tells."""

    def __init__(self):
        self.heard = ""
        self.notices = []

    async def text(self, piece):
        self.heard += piece

    async def notice(self, line):
        self.notices.append(line)

    line = notice


def scripted(*steps, **settings):
    """A board whose model plays these steps."""
    return Board().serve(Script(*steps), **settings)


async def say(board, content="hello", caller=OWNER):
    """(outcome, ear) of a turn."""
    ear = Ear()
    return await board.agent.turn(caller, content, ear), ear


def kept(board, caller=OWNER):
    """The turns of the caller's session as they are on flash: (role, text, whether it is marked as cut)."""
    seqs = board.journal.window(board.journal.current(caller), 100)
    turns = [board.journal.turn(seq) for seq in seqs]
    return [(turn["role"], turn["text"], turn.get("cut", False)) for turn in turns]
