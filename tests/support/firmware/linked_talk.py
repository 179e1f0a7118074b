"""A board that listens to a companion in the same process, for tests of conversations over the link."""

from engram.channels.message import Message
from engram.link.inbound_messages import InboundMessages
from linked import Linked

HEAD = {
    "mid": "a", "offer": 1, "room": "phone", "principal": "ann", "group": False, "workspace": "", "command": False,
    "forwarded": "", "quoted": "", "edits": "",
}  # fmt: skip


def head_of(**fields):
    """The fields of a message that somebody says."""
    head = dict(HEAD)
    head.update(fields)
    return head


class Talking(Linked):
    """A board with a companion that passes messages on."""

    def __init__(self, board, numbers=None, mode="owner"):
        self.mode = mode
        super().__init__(board, numbers=numbers)

    def connect(self):
        super().connect()
        self.sync.is_greeted = True
        self.inbound = InboundMessages(self.exchange, self.sync, (self.answer, self.redeliver), lambda: self.mode)

    async def answer(self, mid, caller, content, is_command, origin, sink):
        await self.board.inbox.handle(Message(mid, caller, content, is_command, *origin), sink)

    async def redeliver(self):
        pass
