"""Messages with their network's id: each is answered once; what is not known is said.

The id stands in the line of the person's turn. So a message that comes again, after a power cut, a reconnect or by another
way, is found: its reply is given again from the journal, or it is answered now if the power went before that. A command that
changes something leaves a line before it runs, and is never run twice. A channel whose sinks are confirming has an answer in
the outbox from the flush of the message until the person has it. A message that its network offers until it has the end of
the answer is known by its id for as long. A message that corrects another one of the last hour is a turn of its own, in whose
flush the other one and its reply are forgotten.
"""

from binascii import crc32
from collections import namedtuple

from engram import diag
from engram.agent.agent import Origin, Outcome
from engram.channels.inbox import MID_LONGEST, TAKEN, Message, tell_errors
from engram.channels.mids import Mids
from engram.channels.outbox import Outbox
from engram.compat import const, sleep_ms
from engram.errors import ArgumentError, EngramError, NotFound
from engram.interrupt import start_task
from engram.memory.access import Caller, is_shown, turn_principal
from engram.text.utf8 import is_printable_ascii

_LOOK_MS = const(50)
_MINUTE = const(60)
_HOUR = const(3600)
_DAY = const(86400)
_MOST_PUSHED = const(8)  # answers in the outbox with which the board says nothing more by itself: it has room for 13

_READS = ("help", "memory", "recall", "export", "stats", "json")
_READS_ALONE = ("telegram", "session", "intents", "timers", "mode", "companion", "workspace", "people")
"""Those that read, and those that do so without an argument or with "list"."""

_NOT_AGAIN = const("this came before and is not carried out again; it may have been: look with /memory or /stats.")
_GONE = const("this came before, and has left the journal: say it again.")
_LATE = const("this answers a message from %s ago")
_DROPPED = const("older answers that could not be delivered and are not kept any more: %d; ask again.")
_NOT_LET_IN = const("%s is not delivered: who was to have it in %s is not let in any more")
_EDITED_COMMAND = const("An edited command is not carried out: send it as a new message.")
_EDITED_UNKNOWN = const("I do not have the message that you edited: send the correction as a new message.")
_EDITED_OLD = const("You edited a message of %s ago, and I correct those of the last hour: send it as a new message.")
_EDITED_ACTED = const("What you asked for there was done already: send what is to change as a new message.")
_BROKEN = const(" … (it broke off here)")

_Kept = namedtuple("_Kept", "turn text age is_cut is_repeat part place")


class Kept(_Kept):
    """A reply that was kept: the id of its turn; its text; its age in words, "" if it is new; whether it broke off; whether the
    person may have it already, as nobody knows; and what the channel noted with Inbox.progress(), else 0.
    """

    def told(self, may_repeat: bool = True) -> str:
        """The text, with what a person has to know of its age, and of a second copy where there `may` be one."""
        words = ["from %s ago" % self.age] if self.age else []
        if self.is_repeat and may_repeat:
            words.append("perhaps for the second time")
        return ("(%s) " % ", ".join(words) if words else "") + self.text + (_BROKEN if self.is_cut else "")


class _New(Origin):
    """The origin of a message that is not in the journal yet; note_taken(seq) is called once it is."""

    def __init__(self, message: Message, note_taken, redacts: tuple):
        super().__init__(message.forwarded, message.quoted, message.mid)
        self._note_taken = note_taken
        self.redacts = redacts
        self.corrects = redacts[0] if redacts else 0

    def keep(self, journal, caller, content: str, command: bool) -> int:
        """Put it into the journal; its seq."""
        seq = super().keep(journal, caller, content, command)
        self._note_taken(seq)
        return seq


class _Known(Origin):
    """The origin of a message that is in the journal already."""

    def __init__(self, message: Message, line: dict):
        super().__init__(message.forwarded, message.quoted, message.mid)
        self._seq = line["seq"]
        self.corrects = line.get("corrects", 0)

    def keep(self, journal, caller, content: str, command: bool) -> int:
        """Its seq."""
        return self._seq


class Deliveries:
    """Answers messages with an id for an Inbox, from a board's journal, and keeps in a folder what is not delivered."""

    def __init__(self, inbox, journal, clock, folder: str):
        self._inbox = inbox
        self._journal = journal
        self._clock = clock
        self._mids = Mids(journal)
        self._outbox = Outbox(folder)
        self._taken = Outbox(folder, TAKEN)
        # After a restart nobody knows which of these the network has.
        self._unsure = [entry[0] for entry in self._outbox.entries]
        self._busy = []  # the ids of messages, and the seqs of what the board begins to say

    async def take(self, message: Message, sink):
        """See Inbox.take()."""
        mid = message.mid
        while mid in self._busy or message.edits in self._busy:
            await sleep_ms(_LOOK_MS)
        self._busy.append(mid)
        try:
            seqs = []
            outcome = await tell_errors(self._answer(message, sink, seqs), sink)
            is_delivered = await sink.end(outcome)
            for seq in seqs:
                self._end(seq, is_delivered)
            return outcome
        finally:
            self._busy.remove(mid)

    async def _answer(self, message: Message, sink, seqs: list):
        mid = message.mid
        if not 0 < len(mid) <= MID_LONGEST or not is_printable_ascii(mid):
            raise ArgumentError("mid", "must have 1 to %d printable ASCII characters." % MID_LONGEST)

        def note_taken(seq: int) -> None:
            self._mids.note(mid, seq)
            seqs.append(seq)
            if sink.is_offered_again:
                self._taken.note(seq, 0, crc32(mid.encode()))
            self._begin(seq, sink)

        line = self._find(mid, seqs)
        if line is not None:
            return await self._answer_again(message, sink, seqs, line)
        redacts = ()
        if message.edits:
            redacts = self._corrected(message)
            if not redacts:
                return None  # its words are the same
        elif message.is_command and not message.forwarded:
            if changes(message.text):
                # In this order: a command whose line is not in the outbox any more has been answered.
                seq = self._journal.newest + 1
                note_taken(seq)
                try:
                    self._journal.note_command(mid)
                except (EngramError, MemoryError):
                    self._forget(seq, seqs)
                    raise
                await sink.taken("t%d" % seq)
            return await self._inbox.answer(message, sink)
        return await self._inbox.answer(message, sink, _New(message, note_taken, redacts))

    def _corrected(self, message: Message) -> tuple:
        """The seqs of the turn that a message corrects and of its reply, none if its words are the same; EngramError says why
        it cannot be corrected.
        """
        if message.is_command:
            raise EngramError(_EDITED_COMMAND)
        line, has_acted = self._mids.newest_of(message.edits)
        if line is None or ("op" not in line and not self._is_theirs(message, line)):
            raise EngramError(_EDITED_UNKNOWN)
        if line.get("text") == message.text:
            return ()
        if self._clock.now() - line["at"] > _HOUR:
            raise EngramError(_EDITED_OLD % self._age(line))
        if "op" in line or has_acted:
            raise EngramError(_EDITED_ACTED)
        reply = self._mids.reply_to(line["seq"])
        return (line["seq"], reply["seq"]) if reply else (line["seq"],)

    def _is_theirs(self, message: Message, line: dict) -> bool:
        """True if a line of the journal is a turn in which the sender of a message has said something."""
        is_said = line.get("who") == message.caller.principal and line.get("role") == "user"
        return is_said and is_shown(message.caller, line) and self._journal.turn(line["seq"]) is not None

    def _forget(self, seq: int, seqs: list) -> None:
        """A line could not be written: the next one has its seq."""
        seqs.remove(seq)
        self._outbox.remove(seq)
        self._taken.remove(seq)

    def _find(self, mid: str, seqs: list):
        """The line that a message made before, None if it is new."""
        journal, mark = self._journal, crc32(mid.encode())
        for seq, _, place in self._taken.entries:
            if place == mark:
                line = journal.entries.line(seq)
                if line is not None and line.get("mid") == mid:
                    return line
                if line is None and seq <= journal.newest:
                    seqs.append(seq)
                    raise NotFound("turn", "t%d" % seq, _GONE)
                # The power failed before the line was there.
                self._taken.remove(seq)
                break
        return self._mids.find(mid)

    def _begin(self, seq: int, sink) -> None:
        if seq in self._unsure:
            self._unsure.remove(seq)  # there was no answer yet
        if sink.is_confirming and self._outbox.find(seq) is None:
            self._outbox.note(seq)

    def _end(self, seq: int, is_delivered) -> None:
        """What an answer's sink said at its end: see ChannelSink.end()."""
        if is_delivered:
            self._outbox.remove(seq)
            self._taken.remove(seq)
        elif is_delivered is None and seq not in self._unsure:
            self._unsure.append(seq)

    async def _answer_again(self, message: Message, sink, seqs: list, line: dict):
        """Answer a message that made a line before."""
        seq = line["seq"]
        if "op" not in line and not is_shown(message.caller, line):
            raise ArgumentError("mid", "is that of somebody else's message.")
        seqs.append(seq)
        await sink.taken("t%d" % seq)
        if "op" in line:
            return self._refuse_again(message, sink, seq)
        newest, _ = self._mids.newest_of(message.mid)
        if newest and newest["seq"] != seq:
            return None  # it was corrected: the answer to that stands in its place
        reply = self._mids.reply_to(seq)
        for turn in (seq,) if reply is None else (seq, reply["seq"]):
            if self._journal.turn(turn) is None:
                raise NotFound("turn", "t%d" % turn, "it was forgotten.")
        if reply is not None:
            return await self._give(seq, reply, sink)
        if line.get("command"):
            raise ArgumentError("t%d" % seq, _NOT_AGAIN)
        entry = self._outbox.find(seq)
        self._begin(seq, sink)
        if entry is not None:
            # A part of an answer may have been shown before the power failed: what is made now goes on there.
            await sink.begun(entry[1], entry[2])
        age = self._age(line)
        if age:
            await sink.notice(_LATE % age)
        late = _message(message.mid, message.caller, line)
        return await self._inbox.answer(late, sink, _Known(late, line))

    def _refuse_again(self, message: Message, sink, seq: int) -> None:
        """Tell that a command is not run again, unless its outcome was delivered."""
        if not sink.is_confirming or self._outbox.find(seq) is not None:
            raise ArgumentError(message.text.partition(" ")[0] or "command", _NOT_AGAIN)

    async def _give(self, seq: int, reply: dict, sink):
        """Give the reply to a turn again, unless it is known to be delivered."""
        entry = self._outbox.find(seq)
        text = reply.get("text", "")
        outcome = Outcome("t%d" % seq, text, "")
        if sink.is_confirming and entry is None:
            return outcome
        if self._outbox.dropped and sink.is_confirming:
            await sink.notice(_DROPPED % self._outbox.dropped)
            self._outbox.clear_dropped()
        part, place = entry[1:] if entry else (0, 0)
        is_repeat = seq in self._unsure and not place
        await sink.kept(Kept(outcome.turn, text, self._age(reply), "cut" in reply, is_repeat, part, place))
        return outcome

    def _age(self, line: dict) -> str:
        """How long ago a line was written, "" if less than a minute."""
        age = self._clock.now() - line["at"]
        if age < _MINUTE:
            return ""
        if age < _HOUR:
            return "%d min" % (age // _MINUTE)
        return "%d h" % (age // _HOUR) if age < 2 * _DAY else "%d days" % (age // _DAY)

    # --- what was not delivered, and what the board begins

    async def redeliver(self, name: str) -> int:
        """See Inbox.redeliver()."""
        open_sink, _ = self._inbox.channels[name]
        for seq, _, _ in list(self._outbox.entries):
            line = self._journal.entries.line(seq)
            address = line and (line.get("mid") or line.get("to"))
            if not line or not address:
                # It has left the journal; or the power failed before it was there, and its place is free or another's.
                self._outbox.remove(seq, line is None and seq <= self._journal.newest)
                continue
            if channel_of(address) != name or self._outbox.find(seq) is None:
                continue
            if address in self._busy or seq in self._busy:
                continue  # it is under way
            sink, room = open_sink(address)
            caller = self._caller(name, room, line)
            if sink is None or caller is None:
                continue
            if "to" in line:
                if self._journal.turn(seq) is None:
                    self._outbox.remove(seq)  # it was forgotten
                    continue
                self._busy.append(seq)
                await self._push(line, sink)
            else:
                await self.take(_message(address, caller, line), sink)
            if self._outbox.find(seq) is not None:
                break  # the link is down again
        return len(self._outbox.entries)

    def _caller(self, name: str, room: str, line: dict):
        """Who gets in a room what is kept with a line; None if nobody does: it is not kept any more."""
        asks = turn_principal(line) if "who" in line else Caller("", "", False, "")
        caller = Caller(asks.principal, room, asks.group, asks.workspace)
        if room and self._is_let_in(name, caller):
            return caller
        self._outbox.remove(line["seq"])
        # Without a room the power failed before its line was there, and this is another.
        if room:
            diag.warning("outbox", _NOT_LET_IN % ("t%d" % line["seq"], room))
        return None

    def _is_let_in(self, name: str, caller) -> bool:
        """Whether a caller who was let in when something was kept for them still is."""
        _, is_let_in = self._inbox.channels[name]
        return is_let_in is None or is_let_in(caller)

    def push(self, caller, content: str):
        """See Inbox.push()."""
        name = channel_of(caller.room)
        if name not in self._inbox.channels:
            return None
        if not self._is_let_in(name, caller):
            diag.warning("outbox", _NOT_LET_IN % ("a reminder", caller.room))
            return None
        return self.send(self.keep(caller, content), caller)

    def may_push(self, caller):
        """Whether push() would take something for a caller; None if not now: their channel is away, or much waits."""
        name = channel_of(caller.room)
        if name not in self._inbox.channels or len(self._outbox.entries) >= _MOST_PUSHED:
            return None
        return self._is_let_in(name, caller)

    def keep(self, caller, content: str, cut: bool = False, answers: int = 0) -> int:
        """Put what the board says to a caller by itself on flash, as the reply to the turn with the seq `answers` if there is
        one; its seq.
        """
        # In this order: an entry whose line is not there is removed, but nothing would find the line.
        seq = self._journal.next_turn(caller)
        self._outbox.note(seq)
        if seq in self._unsure:
            self._unsure.remove(seq)  # the power failed before its line was there
        try:
            return self._journal.add(caller, "assistant", "engram", content, cut, answers=answers, to=caller.room)
        except (EngramError, MemoryError):
            self._outbox.remove(seq)  # the next line has this seq
            raise

    def send(self, seq: int, caller):
        """Deliver what was kept for a caller: the task."""
        open_sink, _ = self._inbox.channels[channel_of(caller.room)]
        sink, _ = open_sink(caller.room)
        self._busy.append(seq)
        return start_task(self._push, self._journal.entries.line(seq), sink)

    async def _push(self, line: dict, sink) -> bool:
        seq = line["seq"]
        try:
            if sink is None:
                return False  # nothing can go there for a while
            try:
                await self._give(seq, line, sink)
            finally:
                is_delivered = await sink.end(None)  # in any case: it may have begun to show something
            self._end(seq, is_delivered)
            return bool(is_delivered)
        except (EngramError, MemoryError) as error:
            diag.error("outbox", "t%d is delivered later: %s" % (seq, error))
            return False
        finally:
            self._busy.remove(seq)

    def delivered(self, turn: str) -> None:
        """See Inbox.delivered()."""
        self._outbox.remove(int(turn[1:]))

    def progress(self, turn: str, part: int, place: int) -> None:
        """See Inbox.progress()."""
        seq = int(turn[1:])
        if self._outbox.find(seq) is not None:
            self._outbox.note(seq, part, place)


def _message(mid: str, caller, line: dict) -> Message:
    """The message that a line of the journal is of."""
    words = line.get("text", ""), "op" in line, None, line.get("forwarded", ""), line.get("quoted", ""), ""
    return Message(mid, caller, *words)


def channel_of(address: str) -> str:
    """The name of the channel that a message's id or a room belongs to."""
    name, colon, _ = address.partition(":")
    return name if colon and " " not in name else address.partition(" ")[0]


def changes(line: str) -> bool:
    """Whether a command may not run again, as far as its words tell: it changes something, each time it runs."""
    name, _, rest = line[1:].partition(" ")
    rest = rest.strip()
    if name in _READS:
        return False
    if name == "import" and rest[:1] == "{":
        return '"was"' in rest  # without a version, it finds what it has stored: "there already"
    return bool(rest) and rest != "list" if name in _READS_ALONE else name != "profile" or " " in rest
