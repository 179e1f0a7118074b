"""The types that a channel gives to the inbox: a Message, and a ChannelSink for the answer."""

from collections import namedtuple

from engram.agent.agent import Sink

MID_LONGEST = const(64)
"""Maximum bytes of a message id: printable ASCII with its channel's name and a colon."""

Message = namedtuple("Message", "mid caller text is_command forwarded quoted edits")
"""A person's message; mid, forwarded, quoted and edits are "" if there is none."""


class ChannelSink(Sink):
    """One answer's way to a channel; nothing here raises for a broken link or waits long."""

    is_confirming = False
    """True if end() knows that the answer arrived; until then Deliveries.redeliver() sends it."""

    is_repeated = False
    """True if the network offered the message before, so that older lines are searched too."""

    delivery = None
    """The outbox.Delivery of the answer; its seq is 0 until some of it is on flash."""

    async def line(self, line: str) -> None:
        """Show a line of a command's answer."""

    async def notice(self, line: str) -> None:
        await self.line("· " + line)

    async def report(self, fields: dict) -> None:
        """Report a command's outcome to programs."""

    async def problem(self, problem: str) -> None:
        """Report a problem with the answer."""
        await self.line("! " + problem)

    async def refuse(self, problem: str) -> None:
        """Say why there is no answer."""
        await self.line(problem)

    async def on_saved_reply(self, reply) -> None:
        """Send a saved reply, or a message by the board itself, as a deliveries.SavedReply."""
        await self.text(reply.with_age())

    async def end(self, outcome) -> "bool | None":
        """Send the answer; True if delivered or undeliverable, None if unknown."""
        # `outcome` is that of a turn, or None. A sink calls delivery.advance() between pieces.
        return True


class BufferedSink(ChannelSink):
    """A sink that collects a text; `await send(content, turn)` is True if it arrived."""

    is_confirming = True

    def __init__(self, send):
        self._send = send
        self._content = self._turn = ""

    async def on_saved_reply(self, reply) -> None:
        self._turn = reply.turn
        self._content += reply.with_age()

    async def end(self, outcome) -> bool:
        return not self._content or await self._send(self._content, self._turn)
