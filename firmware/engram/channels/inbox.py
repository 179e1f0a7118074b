"""Answers the messages and commands of all channels.

A channel makes a Message, whose caller the people of the board admit (people.py), and a ChannelSink, and awaits
Inbox.handle(). A message that has its network's id is answered once, whatever the network repeats:
message_handler.py.
"""

from engram.agent.agent import Origin
from engram.channels.attachments import receive
from engram.channels.deliveries import Deliveries
from engram.channels.message import ChannelSink, Message
from engram.channels.message_handler import MessageHandler, tell_errors
from engram.compat import sleep_ms


class Inbox:
    """Answers the messages of all channels, on a board in a folder."""

    def __init__(self, folder: str, commands, agent, journal, clock):
        self._folder = folder
        self._commands = commands
        self._agent = agent
        self.deliveries = Deliveries(self, journal, clock, folder + "/memory")
        self._handler = MessageHandler(self, journal, clock, folder + "/memory", self.deliveries)
        self.channels = {}
        """(open_sink, is_let_in) of the channels that deliver by themselves, by name: see add_channel()."""

    async def handle(self, message: Message, sink: ChannelSink):
        """Answer a message, once if it has an id; the Outcome of a turn, or None. The sink gets the errors."""
        if message.mid:
            return await self._handler.handle(message, sink)
        outcome = await tell_errors(self.answer(message, sink), sink)
        await sink.end(outcome)
        return outcome

    def add_channel(self, name: str, open_sink, is_let_in=None) -> None:
        """Let a channel deliver what the board keeps for it, or begins to say.

        Its messages' ids begin with `name` and a colon, its rooms with `name` and a space. open_sink(address) gives
        (ChannelSink, room) for such an id or room; None in place of the sink if nothing can go there for a while, and "" in
        place of the room if nothing ever does: the channel's network asks for its answers again.
        is_let_in(caller) tells whether what is kept for a caller may still go to their room; None if that is always so.
        """
        self.channels[name] = open_sink, is_let_in

    async def redeliver(self, name: str) -> int:
        """Give a channel whose link is there (again) what it has not delivered yet; how many are left."""
        return await self.deliveries.redeliver(name)

    def push(self, caller, content: str, mid: str = ""):
        """Say something to a caller by the board's own initiative, in their room: a turn of its session, on flash then.

        What has an id, such as timer:w3:1790000000, is said once, however often it is pushed: also after a power cut.
        Returns the task that delivers it, which gives whether that succeeded: what fails is kept. None if it was said before,
        no channel has such rooms, or they are not let in there any more.
        """
        return self.deliveries.push(caller, content, mid)

    def has_undelivered(self, name: str) -> bool:
        """True if something for a channel waits for redeliver(), which was called before."""
        return self.deliveries.has_undelivered(name)

    async def answer(self, message: Message, sink: ChannelSink, origin=None):
        """Answer a message as if it came for the first time; the Outcome of a turn, or None."""
        if message.file:
            await receive(self._folder, message, sink)
            if not message.text.strip():
                return None
        if message.is_command and not message.forwarded:
            return await self._run(message, sink)
        origin = origin or Origin(message.forwarded, message.quoted)
        outcome = await self._agent.turn(message.caller, message.text, sink, origin)
        if outcome.problem:
            await sink.problem(outcome.problem)
        return outcome

    async def _run(self, message: Message, sink: ChannelSink) -> None:
        outputs = self._commands.run(message.caller, message.text)
        try:
            for output in outputs:
                if isinstance(output, int):
                    await sleep_ms(output)
                elif isinstance(output, str):
                    await sink.line(output)
                    # A serial line is slow: between two lines others have their turn.
                    await sleep_ms(0)
                else:
                    await sink.report(output)
        finally:
            # What Ctrl-C stops, such as a compaction, must tidy up after itself.
            outputs.close()
