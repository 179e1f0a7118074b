"""The types that a channel gives to the inbox: a Message, and a ChannelSink for the answer."""

from collections import namedtuple

from engram.agent.agent import Sink
from engram.compat import const

MID_LONGEST = const(64)
"""Bytes of a network's message id, printable ASCII, which begins with the name of its channel and a colon."""

Message = namedtuple("Message", "mid caller text is_command file forwarded quoted edits")
"""A message of a person: its network's id, which no other message has, such as "telegram:CHAT:ID", or ""; the Caller; the text;
whether it is a command; and None or (name, size, open), a file that came with it, where `await open()` gives something
with `async read()`, b"" at the end, and `async close()`. `forwarded` is who wrote what the person only forwards, `quoted`
the beginning of the message that it answers, `edits` the id of the message that it corrects: "" for none."""


class ChannelSink(Sink):
    """The way of one answer to its channel.

    Nothing here may raise for a link that is down, and text() is to keep pieces rather than wait long for the network: other
    turns wait for this one. The answer is over with end().
    """

    is_confirming = False
    """True if end() knows that the person has the answer: until then Inbox.redeliver() sends it."""

    is_idempotent = False
    """True if the person has one copy however often end() sends it."""

    delivery = None
    """The outbox.Delivery of the answer, whose seq is 0 while nothing of it is on flash."""

    is_offered_again = False
    """True if the network offers the message until end() gave true: its id is known for as long."""

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

    def give_up(self, words: str) -> None:
        """An answer may have arrived twice, and is sent no more; `words` name it."""

    async def end(self, outcome) -> "bool | None":
        """End the answer, and send it: the Outcome of a turn or None. True if the person has all of it,
        or never can; None if nobody knows, since the link broke before the network said so. Before
        and after each piece but the first and last, a sink calls delivery.advance().
        """
        return True
