"""A network that a test holds in its hand: what a channel's sinks are told, and whether it is delivered."""

import json

from board import Script
from engram.channels.message import ChannelSink, Message
from engram.errors import NetError
from engram.link.conversation import Conversation
from engram.memory.access import OWNER


def message(mid, text, caller=OWNER, forwarded="", quoted="", edits=""):
    """A message, or a command if it begins with a slash."""
    return Message(mid, caller, text, text[:1] == "/", forwarded, quoted, edits)


class PowerFailure(Exception):
    """The error that ends a test's board in the middle."""


def cut(_request):
    """A model's step in which the power fails."""
    raise PowerFailure


def restarted(board, *steps):
    """The board after a restart."""
    board.restart()
    return board.serve(Script(*steps))


async def push(inbox, caller, content):
    """Push something that is said for the first time; True if it was delivered."""
    task = inbox.deliveries.push(caller, content)
    assert task is not None
    return await task


class Chat(ChannelSink):
    """The answer to one message, as it was told."""

    def __init__(self, network):
        self.network = network
        self.is_confirming = network.is_confirming
        self.told = []

    async def on_saved(self, turn):
        self.told.append("taken " + turn)

    async def text(self, piece):
        self.told.append(piece)

    async def notice(self, line):
        self.told.append("notice " + line)

    async def line(self, line):
        self.told.append("line " + line)

    async def problem(self, problem):
        self.told.append("problem " + problem)

    async def refuse(self, problem):
        self.told.append("refused " + problem)

    async def on_saved_reply(self, reply):
        self.told.append("kept")
        self.reply = reply
        await super().on_saved_reply(reply)

    async def end(self, outcome) -> "bool | None":
        self.told.append("end")
        return self.network.is_up


class Network:
    """A channel called "net" of an Inbox; while it is not `is_up` nothing is delivered."""

    def __init__(self, inbox, is_confirming=True):
        self.inbox = inbox
        self.is_confirming = is_confirming
        self.is_up = True
        self.is_full = []
        """Rooms where nothing can go for a while."""
        self.chats = []
        """(address, Chat) of what was delivered by the board's own doing."""
        inbox.deliveries.add_channel("net", self.open_sink)

    def open_sink(self, address):
        room = "net " + address.replace(":", " ").split(" ")[1]
        if room in self.is_full:
            return None, room
        chat = Chat(self)
        self.chats.append((address, chat))
        return chat, room

    async def offer(self, message):
        """Let the board answer a message; the Chat."""
        chat = Chat(self)
        await self.inbox.handle(message, chat)
        return chat


class LinkNetwork:
    """The link of a companion, over which each message goes with the fields that it has there."""

    is_confirming = False

    def __init__(self, inbox):
        self.inbox = inbox
        self.is_up = True
        self.told = []
        self.offers = 0

    async def ask(self, op, body, **fields):
        """Take a reply, as Replication.ask() does."""
        if not self.is_up:
            raise NetError("it is down")
        self.told.extend([content for _, content in json.loads(b"".join(body.pieces()))])
        return {"cancel": False}

    async def offer(self, message):
        """Let the board answer a message; what has `told`."""
        self.told = []
        self.offers += 1
        caller = message.caller
        head = {"mid": message.mid or "none", "offer": self.offers, "room": caller.room, "principal": caller.principal}
        head.update({"group": caller.group, "workspace": caller.workspace, "command": message.is_command})
        head.update({"forwarded": message.forwarded, "quoted": message.quoted, "edits": message.edits})

        async def take(mid, caller, content, is_command, origin, sink):
            await self.inbox.handle(Message(mid, caller, content, is_command, *origin), sink)

        await Conversation(self, head).run(take, message.text, "others")
        return self
