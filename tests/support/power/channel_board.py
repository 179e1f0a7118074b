"""Runs on the board: a conversation with two people and a group through a strict network, which loses and doubles, and a cut.

    channel_board.py FLASH CUT     CUT is the number of a change of the flash at which the power fails, 0 for none; above
                                   NETWORK the number of a step of the network, before which it fails if it is even

It goes on from where the flash and the network are: the network's state is the file FLASH.net, which no cut touches. Prints
what the people were sent and what stands in the journal, how many changes there were until it was open, and how many changes
and steps in all.
"""

import asyncio
import json
import random
import sys

import faulty_flash
from cut_board import Echo, mount, tell
from engram.app import App
from engram.channels.message import ChannelSink, Message
from engram.clock import Clock
from engram.errors import ModelError

SETTINGS = {"extract.on": False, "flush.on": False, "log.level": "error", "journal.bytes": 65536}
NETWORK = 100000
SAID = (
    ("5", "", "first"),
    ("5", "", "/note the bike is green"),
    ("6", "", "second"),
    ("6", "-7", "third"),
    ("5", "", "/memory"),
    ("5", "", "fourth"),
    ("5", "", "/session new"),
    ("5", "", "the model fails here"),
    ("6", "-7", "fifth"),
    ("6", "", "/note the door is blue"),
)
"""The sender, the group and the text of each message; its id is its place, from 1 on."""
ROUNDS = 80
FAULTY = 40  # rounds in which the network loses and doubles


class Model(Echo):
    """Fails once."""

    has_failed = False

    def take(self, said):
        if "fails" in said and not self.has_failed:
            self.has_failed = True
            raise ModelError("the model is away.")


class Network:
    """What stands on the other side: it keeps messages until they are confirmed, and what it took for people."""

    def __init__(self, path, cut):
        self.path = path + ".net"
        self.cut = cut
        self.steps = self.confirmed = 0
        self.sent = []
        self.is_faulty = True
        try:
            with open(self.path) as file:
                for line in file:
                    self._apply(json.loads(line))
        except OSError:
            pass

    def _apply(self, event):
        if event[0] == "confirmed":
            self.confirmed = max(self.confirmed, event[1])
        else:
            self.sent.append(event[1:])

    def _step(self, *event):
        """Something happens on the network, before or after the power fails."""
        self.steps += 1
        is_cut = self.steps == self.cut >> 1
        if is_cut and not self.cut & 1:
            faulty_flash.power_off()
        self._apply(event)
        with open(self.path, "a") as file:
            file.write(json.dumps(event) + "\n")
        if is_cut:
            faulty_flash.power_off()

    def poll(self, offset):
        """The messages from a number on, which confirms those before; at times some again that were confirmed."""
        if offset - 1 > self.confirmed:
            self._step("confirmed", offset - 1)
        first = self.confirmed + 1
        if self.is_faulty and random.getrandbits(2) == 0:
            first = max(1, first - 2)
        return list(range(first, min(first + 3, len(SAID) + 1)))

    def send(self, address, said):
        """Take a text for people; OSError if the link breaks, before or after that."""
        fault = random.getrandbits(3) if self.is_faulty else 7
        if fault == 0:
            raise OSError(104)
        self._step("sent", address, said)
        if fault == 1:
            raise OSError(110)


class Chat(ChannelSink):
    """The answer to one message: sent as a whole when it is over."""

    is_confirming = True

    def __init__(self, network, address):
        self.network = network
        self.address = address
        self.pieces = []
        self.was_taken = False
        self.is_delivered = None

    async def on_saved(self, turn):
        self.was_taken = True

    async def text(self, piece):
        self.pieces.append(piece)

    async def notice(self, line):
        self.pieces.append("[notice: %s]" % line)

    async def line(self, line):
        self.pieces.append(line)

    async def problem(self, problem):
        self.pieces.append("[problem: %s]" % problem)

    async def end(self, outcome) -> "bool | None":
        self.is_delivered = False
        try:
            if self.pieces:
                self.network.send(self.address, "".join(self.pieces))
            self.is_delivered = True
        except OSError as error:
            # Before the network took it, or nobody knows.
            self.is_delivered = False if error.errno == 104 else None
        return self.is_delivered


def chat_of(number):
    """The chat of a message."""
    sender, group, _ = SAID[number - 1]
    return group or sender


async def converse(board, network):
    """Poll, answer, confirm, and deliver what is left, until nothing is."""
    people = board.find_people()
    if not people.groups:
        people.approve("net:5", "ann")
        people.approve("net:6", "bo")
        people.set_group("net:-7", "mention")

    def open_sink(address):
        chat = address.replace(":", " ").split(" ")[1]
        return Chat(network, address), "net " + chat

    board.inbox.deliveries.add_channel("net", open_sink)
    offset, left = network.confirmed + 1, 1
    for number in range(ROUNDS):
        network.is_faulty = number < FAULTY
        left = await board.inbox.deliveries.redeliver("net")
        numbers = network.poll(offset)
        if not numbers and not left and not network.is_faulty:
            break
        if number == 6:
            await board.inbox.deliveries.push(people.admit("net", "5", "direct").caller, "the paint has come")
        for at in numbers:
            sender, group, said = SAID[at - 1]
            kind = "group" if group else "direct"
            admitted = people.admit("net", sender, kind, group)
            sink = Chat(network, "net:%s:%d" % (chat_of(at), at))
            await board.inbox.handle(Message(sink.address, admitted.caller, said, said[0] == "/", "", "", ""), sink)
            if not (sink.was_taken or sink.is_delivered):
                break  # it is offered again
            offset = max(offset, at + 1)
    return left


def journal_of(board):
    """The lines of the journal that have to do with messages, the oldest first."""
    names = ("seq", "op", "mid", "role", "prev", "re", "to", "sid", "n", "text")
    lines = [{name: line[name] for name in names if name in line} for line in board.journal.entries.lines_backwards()]
    return lines[::-1]


def main(path, cut):
    """Do what is to be done."""
    random.seed(3)
    is_network = cut > NETWORK
    device = mount(path, 0 if is_network else cut)
    app = App("/flash", dict(SETTINGS, **{"people.rate": 1000}), clock=Clock(0, lambda: 1790000000), model=Model())
    board = app.board
    network = Network(path, cut - NETWORK if is_network else 0)
    tell("opened", device.changes)
    left = asyncio.run(converse(board, network))
    tell("left", left, network.confirmed)
    for sent in network.sent:
        tell("sent", *sent)
    for line in journal_of(board):
        tell("line", line)
    today = [board.notes.for_caller(board.find_people().admit("net", who, "direct").caller) for who in ("5", "6")]
    tell("notes", [notes.text(notes.today()) for notes in today])
    tell("changes", device.changes)
    tell("steps", network.steps)


main(sys.argv[1], int(sys.argv[2]))
