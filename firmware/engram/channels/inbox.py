"""Answers the messages and commands of all channels.

A channel makes a Message, whose caller people.py admits, and a ChannelSink, and awaits Inbox.handle(). A
message with a network's id is answered once, as the line of its turn has the id: a repeated one gets the
reply from the journal, or is answered now if the power failed before. A changing command leaves a line before
it runs and never runs twice. A correction of a message of the last hour is a turn of its own, which redacts
the other one and its reply in the same flush.
"""

import gc

from engram import tables
from engram.agent.agent import Origin, UnkeptOrigin
from engram.channels.deliveries import Deliveries, Delivery, age_of, message_of
from engram.channels.message import MID_LONGEST, ChannelSink, Message
from engram.compat import sleep_ms
from engram.errors import ArgumentError, EngramError, NotFound
from engram.memory.access import is_shown
from engram.text.utf8 import is_printable_ascii

_LOOK_MS = const(50)
_HOUR = const(3600)

# Commands that read; and those that do so without an argument, or with "list".
_READS = ("help", "memory", "recall", "export", "stats", "model")
_READS_ALONE = ("session", "timers", "mode", "workspace", "people")

_NO_MEMORY, _NOT_AGAIN, _LATE, _EDITED_COMMAND, _EDITED_UNKNOWN, _EDITED_OLD, _EDITED_ACTED = tables.rows(
    "channels/inbox"
)


class MessageOrigin(Origin):
    """The origin of a message with an id; `line` is its earlier line, else on_saved(seq) follows."""

    is_new = False

    def __init__(self, message: Message, line, redacts: tuple = (), on_saved=None):
        corrects = line.get("corrects", 0) if line else redacts[0] if redacts else 0
        super().__init__(message.forwarded, message.quoted, message.mid, corrects)
        self._line = line
        self._on_saved = on_saved
        self.redacts = redacts

    def keep(self, journal, caller, content: str, command: bool) -> int:
        if self._line:
            return self._line["seq"]
        seq = super().keep(journal, caller, content, command)
        self._on_saved(seq)
        return seq


class Inbox:
    """The inbox of all channels of a board; `folder` has the deliveries."""

    def __init__(self, folder: str, commands, agent, journal, clock):
        self._commands = commands
        self._agent = agent
        self._journal = journal
        self._clock = clock
        self.deliveries = Deliveries(self.handle, journal, clock, folder)
        self._in_progress = []  # the ids of messages

    async def handle(self, message: Message, sink: ChannelSink):
        """Answer a message, once if it has an id; return the turn's Outcome or None."""
        if message.mid:
            return await self._answer_once(message, sink)
        outcome = await _tell_errors(self._answer(message, sink), sink)
        await sink.end(outcome)
        return outcome

    async def _answer(self, message: Message, sink: ChannelSink, origin=None):
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
                while callable(output):
                    output = outputs.send(await output(sink))  # type: ignore
                if isinstance(output, int):
                    await sleep_ms(output)
                elif isinstance(output, str):
                    await sink.line(output)
                    # A serial line is slow: between two lines others have their turn.
                    await sleep_ms(0)
                else:
                    await sink.report(output)
        finally:
            # Work stopped by Ctrl-C, such as a compaction, must tidy up after itself.
            outputs.close()

    # --- messages with an id

    async def _answer_once(self, message: Message, sink):
        mid = message.mid
        while mid in self._in_progress or message.edits in self._in_progress:
            await sleep_ms(_LOOK_MS)
        self._in_progress.append(mid)
        sink.delivery = Delivery()
        try:
            outcome = await _tell_errors(self._find_answer(message, sink), sink)
            await self.deliveries.finish(sink, outcome)
            return outcome
        finally:
            self._in_progress.remove(mid)
            sink.delivery.is_in_progress = False

    async def _find_answer(self, message: Message, sink):
        mid = message.mid
        if not 0 < len(mid) <= MID_LONGEST or not is_printable_ascii(mid):
            raise ArgumentError("mid", "must have 1 to %d printable ASCII characters." % MID_LONGEST)
        line = self._journal.seen.find(mid, sink.is_repeated)
        if line is not None:
            return await self._answer_again(message, sink, line)
        redacts = ()
        is_command = message.is_command and not message.forwarded
        is_unkept = not is_command and self._agent.begin_unkept(message.caller, message.text, not message.forwarded)
        if message.edits and (not is_unkept or self._is_there(message.edits)):
            redacts = self._corrected(message)
            if not redacts:
                return None  # its words are the same
        if is_unkept:
            return await self._answer_unkept(message, sink, redacts)
        if is_command:
            if changes(message.text):
                await self._save_command(message, sink)
            return await self._answer(message, sink)
        room = message.caller.room
        origin = MessageOrigin(message, None, redacts, lambda seq: self.deliveries.open(seq, room, sink))
        return await self._answer(message, sink, origin)

    async def _answer_unkept(self, message: Message, sink, redacts: tuple):
        """Answer a message and keep its id alone: after a restart it is not to be taken for a new one."""
        for seq in redacts:
            self._journal.redact("t%d" % seq, message.caller)
        await self._save_command(message, sink)
        origin = UnkeptOrigin(message.forwarded, message.quoted, message.mid, *redacts[:1])
        return await self._answer(message, sink, origin)

    async def _save_command(self, message: Message, sink) -> None:
        # In this order: a command whose line is not in the outbox any more has been answered.
        seq = self._journal.newest + 1
        self.deliveries.open(seq, message.caller.room, sink)
        try:
            self._journal.note_command(message.mid)
        except (EngramError, MemoryError):
            self.deliveries.outbox.remove(seq)  # the next line has this seq
            sink.delivery = Delivery()
            raise
        await sink.on_saved("t%d" % seq)

    def _corrected(self, message: Message) -> tuple:
        """Return the seqs of the corrected turn and its reply, none if unchanged; EngramError."""
        if message.is_command:
            raise EngramError(_EDITED_COMMAND)
        line, has_acted = self._journal.seen.newest_of(message.edits)
        if line is None or ("op" not in line and not self._is_theirs(message, line)):
            raise EngramError(_EDITED_UNKNOWN)
        if line.get("text") == message.text:
            return ()
        if self._clock.now() - line["at"] > _HOUR:
            raise EngramError(_EDITED_OLD % age_of(line, self._clock))
        if "op" in line or has_acted:
            raise EngramError(_EDITED_ACTED)
        reply = self._journal.seen.reply_to(line["seq"])
        return (line["seq"], reply["seq"]) if reply else (line["seq"],)

    def _is_there(self, mid: str) -> bool:
        """True if the journal has what a message, or its latest correction, said."""
        line, _ = self._journal.seen.newest_of(mid)
        return line is not None and "op" not in line and self._journal.turn(line["seq"]) is not None

    def _is_theirs(self, message: Message, line: dict) -> bool:
        is_said = line.get("who") == message.caller.principal and line.get("role") == "user"
        return is_said and is_shown(message.caller, line) and self._journal.turn(line["seq"]) is not None

    async def _answer_again(self, message: Message, sink, line: dict):
        seq = line["seq"]
        if "op" not in line and not is_shown(message.caller, line):
            raise ArgumentError("mid", "is that of somebody else's message.")
        is_open = self.deliveries.reopen(seq, sink)
        await sink.on_saved("t%d" % seq)
        if "op" in line:
            if sink.delivery.pieces is None and (is_open or not sink.is_confirming):
                return await self._repeat_unkept(message, sink, seq)
            return None
        newest, _ = self._journal.seen.newest_of(message.mid)
        if newest and newest["seq"] != seq:
            return None  # it was corrected: the correction has the answer
        reply = self._journal.seen.reply_to(seq)
        for turn in (seq,) if reply is None else (seq, reply["seq"]):
            if self._journal.turn(turn) is None:
                raise NotFound("turn", "t%d" % turn, "it was forgotten.")
        if reply is not None:
            return await self.deliveries.give(seq, reply, sink)
        if line.get("command"):
            raise ArgumentError("t%d" % seq, _NOT_AGAIN)
        if not is_open:
            self.deliveries.open(seq, message.caller.room, sink)
        return await self._answer_late(message, sink, line)

    async def _repeat_unkept(self, message: Message, sink, seq: int):
        """Give the reply to a message that has only its id kept; EngramError for a command, or if it is gone."""
        if message.is_command:
            raise ArgumentError(message.text.partition(" ")[0] or "command", _NOT_AGAIN)
        reply = self._journal.unkept.reply_to(message.mid, message.caller)
        if reply is None:
            raise EngramError("nothing of that conversation was kept: say it again.")
        return await self.deliveries.give(seq, reply, sink)

    async def _answer_late(self, message: Message, sink, line: dict):
        sink.delivery.restart()
        age = age_of(line, self._clock)
        if age:
            await sink.notice(_LATE % age)
        late = message_of(message.mid, message.caller, line)
        return await self._answer(late, sink, MessageOrigin(late, line))


def changes(line: str) -> bool:
    """True if a command changes something, so that it may not run again."""
    name, _, rest = line[1:].partition(" ")
    rest = rest.strip()
    if name in _READS:
        return False
    if name == "import":
        return '"was"' in rest  # without a version, it finds what it has stored: "there already"
    return bool(rest) and rest != "list" if name in _READS_ALONE else name != "profile" or " " in rest


async def _tell_errors(work, sink: ChannelSink):
    """Await and return an answer; an error goes to the sink and gives None."""
    try:
        return await work
    except EngramError as error:
        await sink.refuse(str(error))
    except MemoryError:
        gc.collect()
        await sink.problem(_NO_MEMORY)
    return None
