"""The types that a channel gives to the inbox: a Message, and a ChannelSink for the answer."""

from collections import namedtuple

from engram.agent.agent import Sink
from engram.compat import const

MID_LONGEST = const(64)
"""Bytes of a network's message id, printable ASCII, which begins with the name of its channel and a colon."""

Message = namedtuple("Message", "mid caller text is_command forwarded quoted edits")
"""A message of a person: its network's id, which no other message has, such as "telegram:CHAT:ID", or ""; the Caller; the text;
whether it is a command. `forwarded` is who wrote what the person only forwards, `quoted` the beginning of the message that it
answers, `edits` the id of the message that it corrects: "" for none."""


class ChannelSink(Sink):
    """The way of one answer to its channel.

    Nothing here may raise for a link that is down, and text() is to keep pieces rather than wait long for the network: other
    turns wait for this one. The answer is over with end().
    """

    is_confirming = False
    """True if end() knows that the person has the answer: until then Deliveries.redeliver() sends it."""

    is_repeated = False
    """True if the network has offered the message before: it may be known though much was said since."""

    delivery = None
    """The outbox.Delivery of the answer, whose seq is 0 while nothing of it is on flash."""

    async def line(self, line: str) -> None:
        """A line of a command's answer."""

    async def report(self, fields: dict) -> None:
        """The outcome of a command, for programs."""

    async def problem(self, problem: str) -> None:
        """Report a problem with the answer."""

    async def refuse(self, problem: str) -> None:
        """Report why the message is not answered."""
        await self.problem(problem)

    async def on_saved_reply(self, reply) -> None:
        """A reply that was kept, to a message that came before, or what the board itself began to
        say: a deliveries.SavedReply.
        """
        await self.text(reply.with_age())

    async def end(self, outcome) -> "bool | None":
        """End the answer, and send it: the Outcome of a turn or None. True if the person has all of it,
        or never can; None if nobody knows, since the link broke before the network said so. Before
        and after each piece but the first and last, a sink calls delivery.advance().
        """
        return True


class BufferedSink(ChannelSink):
    """Collects what the board begins to say; `await send(content, turn)` tells at the end whether it arrived."""

    is_confirming = True

    def __init__(self, send):
        self._send = send
        self._content = self._turn = ""

    async def on_saved_reply(self, reply) -> None:
        self._turn = reply.turn
        self._content += reply.with_age()

    async def end(self, outcome) -> bool:
        return not self._content or await self._send(self._content, self._turn)


def buffered(find_send):
    """The open_sink of Deliveries.add_channel() for a channel that sends a text as a whole: find_send(address) gives (what a
    BufferedSink sends with or None, room).
    """

    def open_sink(address: str) -> tuple:
        send, room = find_send(address)
        return send and BufferedSink(send), room

    return open_sink
