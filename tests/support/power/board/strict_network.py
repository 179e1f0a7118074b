"""A strict network that loses and doubles, on boards whose power is cut, and what outlives the cuts: the file FLASH.net."""

import json
import random

from engram.channels.message import ChannelSink

_BEFORE = 104  # the errors of a link that breaks before the network took something, and after it
_AFTER = 110


class World:
    """What no cut touches: what has happened, and what people have."""

    def __init__(self, path):
        self._path = path + ".net"
        self.events = []
        self.is_faulty = True
        try:
            with open(self._path) as file:
                self.events = [json.loads(line) for line in file]
        except OSError:
            pass

    def note(self, *event):
        """Something has happened."""
        self.events.append(list(event))
        with open(self._path, "a") as file:
            file.write(json.dumps(event) + "\n")

    def of(self, name):
        """What has happened under a name."""
        return [event[1:] for event in self.events if event[0] == name]

    def send(self, *sent):
        """Take a text for people, behind its address if it has one; OSError if the link breaks, before or after that."""
        fault = random.getrandbits(3) if self.is_faulty else 7
        if fault == 0:
            raise OSError(_BEFORE)
        self.note("sent", *sent)
        if fault == 1:
            raise OSError(_AFTER)


class Chat(ChannelSink):
    """What is said there: sent as a whole when it is over."""

    is_confirming = True

    def __init__(self, world, *address):
        self.world = world
        self.address = address
        self.pieces = []

    async def text(self, piece):
        self.pieces.append(piece)

    async def end(self, outcome) -> "bool | None":
        try:
            if self.pieces:
                self.world.send(*(self.address + ("".join(self.pieces),)))
            return True
        except OSError as error:
            # Before the network took it, or nobody knows.
            return False if error.errno == _BEFORE else None
