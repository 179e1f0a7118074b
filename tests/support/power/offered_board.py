"""Runs on the board: a companion offers messages one after the other, each until it has the end of the answer, and a cut.

    offered_board.py FLASH CUT     CUT is the number of a change of the flash at which the power fails, 0 for none

It goes on from where the flash and the companion are: the companion's state is the file FLASH.net, which no cut touches.
Prints what the companion has of each answer, what stands in the journal and in the notes, and how many changes there were
until it was open and in all.
"""

import asyncio
import json
import random
import sys

from cut_board import Echo, mount, tell
from engram.app import App
from engram.channels.message import Message
from engram.clock import Clock
from engram.errors import NetError
from engram.link.conversation import Conversation
from engram.memory.access import OWNER, Caller

SETTINGS = {"extract.on": False, "flush.on": False, "log.level": "error", "journal.bytes": 65536}
SAID = ("first", "/note the bike is green", "second", "/session new", "third", "/note the door is blue", "fourth")
ROUNDS = 60
FAULTY = 30  # rounds in which the link breaks


class Companion:
    """What offers messages, takes answers, and outlives the power; `is_faulty` breaks the link before or after that."""

    def __init__(self, path):
        self.path = path + ".net"
        self.answers = []
        self.items = []
        self.is_faulty = True
        try:
            with open(self.path) as file:
                self.answers = [json.loads(line) for line in file]
        except OSError:
            pass

    async def ask(self, op, body, **fields):
        """Take a part of an answer, as Replication.ask() does."""
        fault = random.getrandbits(3) if self.is_faulty else 7
        if fault == 0:
            raise NetError("it broke before")
        (data,) = body.pieces()
        self.items.extend(json.loads(data))
        if self.items[-1][0] == "end":
            self.answers.append([content for _, content in self.items[:-1]])
            with open(self.path, "a") as file:
                file.write(json.dumps(self.answers[-1]) + "\n")
        if fault == 1:
            raise NetError("it broke after")
        return {"cancel": False}


async def converse(board, companion):
    """Offer each message until the end of its answer is there."""

    async def take(mid, caller, content, is_command, origin, sink):
        await board.inbox.handle(Message(mid, caller, content, is_command, *origin), sink)

    for number in range(ROUNDS):
        at = len(companion.answers)
        if at == len(SAID):
            break
        companion.is_faulty = number < FAULTY
        companion.items = []
        head = {"mid": "m%d" % at, "offer": number + 1, "room": "phone", "principal": "ann", "group": False}
        head.update({"workspace": "", "command": SAID[at][0] == "/"})
        head.update({"forwarded": "", "quoted": "", "edits": ""})
        await Conversation(companion, head).run(take, SAID[at], "others")
        board.journal.add(OWNER, "user", "owner", "something else")


def main(path, cut):
    """Do what is to be done."""
    random.seed(5)
    device = mount(path, cut)
    app = App("/flash", SETTINGS, clock=Clock(0, lambda: 1790000000), model=Echo())
    board = app.board
    tell("opened", device.changes)
    companion = Companion(path)
    asyncio.run(converse(board, companion))
    for answer in companion.answers:
        tell("answer", answer)
    for line in board.journal.entries.lines_backwards():
        tell("line", {name: line[name] for name in ("seq", "op", "mid", "role", "re", "prev", "text") if name in line})
    notes = board.notes.for_caller(Caller("ann", "link phone", False, ""))
    tell("notes", notes.text(notes.today()))
    tell("changes", device.changes)


main(sys.argv[1], int(sys.argv[2]))
