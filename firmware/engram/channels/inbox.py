"""Where a message or a command of any channel is answered.

A channel makes a Message, whose caller the people of the board admit (people.py), and a ChannelSink, and awaits
Inbox.handle(). A message that has its network's id is answered once, whatever the network repeats:
message_handler.py.
"""

import gc
from collections import namedtuple

from engram import files
from engram.agent.agent import Origin, Sink
from engram.channels.attachments import receive
from engram.compat import const, sleep_ms
from engram.errors import EngramError

MID_LONGEST = const(64)
"""Bytes of a network's message id, printable ASCII, which begins with the name of its channel and a colon."""

OUTBOX = const("/outbox.bin")
"""The file of answers that may not have been delivered, beside a board's memories: see outbox.py."""

OFFERED = const("/taken.bin")
"""The file of messages that their network offers until it has the end of the answer: see outbox.py."""

OUTBOX_EMPTY = const(5)
"""Bytes of it when nothing waits in it."""

_MEMORY = const("/memory")
_NO_MEMORY = const("the board has not enough free memory for this: say it in shorter parts, or begin a /session new.")

Message = namedtuple("Message", "mid caller text is_command file forwarded quoted edits")
"""What somebody says: its network's id, which no other message has, such as "telegram:CHAT:ID", or ""; the Caller; the text;
whether it is a command; and None or (name, size, open), a file that came with it, where `await open()` gives something
with `async read()`, b"" at the end, and `async close()`. `forwarded` is who wrote what the person only forwards, `quoted`
the beginning of the message that it answers, `edits` the id of the message that it corrects: "" for none."""


class ChannelSink(Sink):
    """Where a channel sends the answer to one message.

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
        """What went wrong with the answer."""

    async def refuse(self, problem: str) -> None:
        """Why the message is not answered."""
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


class Inbox:
    """Answers the messages of all channels, on a board in a folder. make_deliveries(inbox) gives the
    Deliveries and the MessageHandler, for messages with an id.
    """

    def __init__(self, folder: str, commands, agent, make_deliveries):
        self._folder = folder
        self._commands = commands
        self._agent = agent
        self._make_deliveries = make_deliveries
        self._deliveries = self._handler = None
        self.channels = {}
        """(open_sink, is_let_in) of the channels that deliver by themselves, by name: see add_channel()."""

    async def handle(self, message: Message, sink: ChannelSink):
        """Answer a message, once if it has an id; the Outcome of a turn, or None. The sink gets the errors."""
        if message.mid:
            self.deliveries()
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
        if self._deliveries is None and files.size(self._folder + _MEMORY + OUTBOX) <= OUTBOX_EMPTY:
            return 0  # nothing waits: what would deliver it is not loaded for that
        return await self.deliveries().redeliver(name)

    def push(self, caller, content: str, mid: str = ""):
        """Say something to a caller by the board's own initiative, in their room: a turn of its session, on flash then.

        What has an id, such as timer:w3:1790000000, is said once, however often it is pushed: also after a power cut.
        Returns the task that delivers it, which gives whether that succeeded: what fails is kept. None if it was said before,
        no channel has such rooms, or they are not let in there any more.
        """
        return self.deliveries().push(caller, content, mid)

    def has_undelivered(self, name: str) -> bool:
        """True if something for a channel waits for redeliver(), which was called before."""
        return self._deliveries is not None and self._deliveries.has_undelivered(name)

    def deliveries(self):
        """Return the Deliveries, made when they are first needed: they read the newest lines of the journal."""
        if self._deliveries is None:
            self._deliveries, self._handler = self._make_deliveries(self)
        return self._deliveries

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


async def tell_errors(work, sink: ChannelSink):
    """Await an answer; what it gives, None if an error ended it, which the sink gets."""
    try:
        return await work
    except EngramError as error:
        await sink.refuse(str(error))
    except MemoryError:
        gc.collect()
        await sink.problem(_NO_MEMORY)
    return None
