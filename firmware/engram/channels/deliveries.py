"""Delivers answers, and what the board begins to say, and keeps them until the person has them.

An answer of a channel whose sinks are confirming is in the outbox from the flush of its message, or
of what the board says, until it is delivered or given up; outbox.Delivery has its state. A piece
that may have arrived is sent once more, with a mark. Answers of one room keep their order.
"""

from collections import namedtuple

from engram import diag
from engram.agent.agent import Outcome
from engram.channels.message import Message
from engram.channels.outbox import FAILED, QUEUED, Delivery, Outbox
from engram.clock import duration
from engram.compat import const
from engram.errors import EngramError
from engram.interrupt import start_task
from engram.memory.access import Caller, turn_principal

_MINUTE = const(60)
_MOST_PUSHED = const(8)  # deliveries with which the board says nothing by itself: 13 have room

_DROPPED = const("older answers that could not be delivered and are not kept any more: %d; ask again.")
_NOT_LET_IN = const("%s is not delivered: who was to have it in %s is not let in any more")
_GIVEN_UP = const("the answer to t%d, which may have arrived; the console shows it")
_BROKEN = const(" … (it broke off here)")

_SavedReply = namedtuple("_SavedReply", "turn text age is_cut is_repeat")


class SavedReply(_SavedReply):
    """A reply from the journal: the id of its turn; its text; its age in words, "" if it is new;
    whether it broke off; and whether the person may have it already.
    """

    def with_age(self) -> str:
        """The text, with what a person has to know of its age and of a second copy."""
        words = ["from %s ago" % self.age] if self.age else []
        if self.is_repeat:
            words.append("perhaps for the second time")
        head = "(%s) " % ", ".join(words) if words else ""
        return head + self.text + (_BROKEN if self.is_cut else "")


class Deliveries:
    """Delivers what a board's journal has, through the channels of an Inbox; `folder` has the rest."""

    def __init__(self, inbox, journal, clock, folder: str):
        self._inbox = inbox
        self._journal = journal
        self._clock = clock
        self._outbox = Outbox(folder)

    # --- the answer to a message

    def open(self, seq: int, room: str, sink) -> None:
        """Have a new answer to the line with that seq delivered by a sink."""
        sink.delivery = self._outbox.add(seq, room) if sink.is_confirming else Delivery(seq)
        sink.delivery.is_in_progress = True

    def reopen(self, seq: int, sink) -> bool:
        """Go on with the answer to a line; False if nothing of it is kept."""
        known = self._outbox.find(seq)
        sink.delivery = known or Delivery(seq)
        sink.delivery.is_in_progress = True
        return known is not None

    def remove(self, seq: int) -> None:
        """Deliver no answer to the line with that seq."""
        self._outbox.remove(seq)

    async def give(self, seq: int, reply: dict, sink):
        """Give the reply to a turn again, unless it is known to be delivered."""
        text = reply.get("text", "")
        outcome = Outcome("t%d" % seq, text, "")
        delivery = self._outbox.find(seq)
        if sink.is_confirming and delivery is None:
            return outcome
        if self._outbox.dropped and sink.is_confirming:
            await sink.notice(_DROPPED % self._outbox.dropped)
            self._outbox.clear_dropped()
        is_repeat = delivery is not None and delivery.state != QUEUED
        age = age_of(reply, self._clock)
        await sink.on_saved_reply(SavedReply(outcome.turn, text, age, "cut" in reply, is_repeat))
        return outcome

    async def finish(self, sink, outcome) -> bool:
        """Let a sink send its answer; True if that is delivered, or given up."""
        delivery = sink.delivery
        if not sink.is_confirming or sink.is_idempotent:
            has_arrived = await sink.end(outcome)
        elif self._outbox.is_behind(delivery):
            return False
        else:
            has_arrived = await delivery.attempt(sink, outcome)
        if delivery.state == FAILED:
            words = _GIVEN_UP % delivery.seq
            diag.error("outbox", "given up: " + words)
            sink.give_up(words)
        elif not has_arrived:
            return False
        self._outbox.remove(delivery.seq)
        return True

    # --- what was not delivered, and what the board begins

    def has_undelivered(self, name: str) -> bool:
        """See Inbox.has_undelivered()."""
        for delivery in self._outbox.deliveries:
            if channel_of(delivery.room) == name and not delivery.is_in_progress:
                return True
        return False

    async def redeliver(self, name: str) -> int:
        """See Inbox.redeliver()."""
        open_sink, _ = self._inbox.channels[name]
        failed = []  # rooms
        for delivery in list(self._outbox.deliveries):
            seq = delivery.seq
            line = self._journal.entries.line(seq)
            address = line and (line.get("to") or line.get("mid"))
            if not line or not address:
                # It left the journal; or the power failed before it was there.
                self._outbox.remove(seq, line is None and seq <= self._journal.newest)
            elif channel_of(address) == name and self._is_waiting(delivery):
                sink, room = open_sink(address)
                caller = self._caller(name, room, line)
                delivery.room = room
                if sink and caller and room not in failed:
                    await self._redeliver(line, address, caller, sink)
                    if self._outbox.find(seq):
                        failed.append(room)
        return len(self._outbox.deliveries)

    def _is_waiting(self, delivery: Delivery) -> bool:
        """True if a delivery is kept, and nobody is at it."""
        return not delivery.is_in_progress and self._outbox.find(delivery.seq) is delivery

    async def _redeliver(self, line: dict, address: str, caller, sink) -> None:
        if "to" not in line:
            await self._inbox.handle(message_of(address, caller, line), sink)
        elif self._journal.turn(line["seq"]) is None:
            self._outbox.remove(line["seq"])  # it was forgotten
        else:
            self._outbox.find(line["seq"]).is_in_progress = True
            await self._push(line, sink)

    def _caller(self, name: str, room: str, line: dict):
        """Return the Caller to whom a kept line goes in a room; None if nobody may have it: it is removed."""
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
        """True if who was let in when something was kept for them still is."""
        _, is_let_in = self._inbox.channels[name]
        return is_let_in is None or is_let_in(caller)

    def push(self, caller, content: str, mid: str):
        """See Inbox.push()."""
        name = channel_of(caller.room)
        if name not in self._inbox.channels or (mid and self._journal.seen.find(mid)):
            return None
        if not self._is_let_in(name, caller):
            diag.warning("outbox", _NOT_LET_IN % ("a reminder", caller.room))
            return None
        return self.send(self.keep(caller, content, mid=mid), caller)

    def may_push(self, caller):
        """True if push() would take something for a caller; None if not now: their channel is away,
        or much waits.
        """
        name = channel_of(caller.room)
        if name not in self._inbox.channels or len(self._outbox.deliveries) >= _MOST_PUSHED:
            return None
        return self._is_let_in(name, caller)

    def keep(self, caller, content: str, cut: bool = False, answers: int = 0, mid: str = "") -> int:
        """Put what the board says to a caller by itself on flash, as the reply to the turn with the
        seq `answers` if there is one; its seq.
        """
        # In this order: an entry without its line is removed, but nothing would find the line.
        seq = self._journal.next_turn(caller)
        self._outbox.add(seq, caller.room)
        more = {"answers": answers, "to": caller.room, "mid": mid}
        try:
            return self._journal.add(caller, "assistant", "engram", content, cut, **more)
        except (EngramError, MemoryError):
            self._outbox.remove(seq)  # the next line has this seq
            raise

    def send(self, seq: int, caller):
        """Deliver what was kept for a caller: the task."""
        open_sink, _ = self._inbox.channels[channel_of(caller.room)]
        sink, _ = open_sink(caller.room)
        self._outbox.find(seq).is_in_progress = True
        return start_task(self._push, self._journal.entries.line(seq), sink)

    async def _push(self, line: dict, sink) -> bool:
        seq = line["seq"]
        delivery = self._outbox.find(seq)
        try:
            if sink is None:
                return False  # nothing can go there for a while
            sink.delivery = delivery
            await self.give(seq, line, sink)
            return await self.finish(sink, None)
        except (EngramError, MemoryError) as error:
            diag.error("outbox", "t%d is delivered later: %s" % (seq, error))
            return False
        finally:
            delivery.is_in_progress = False


def message_of(mid: str, caller, line: dict) -> Message:
    """The message that a line of the journal is of."""
    words = line.get("forwarded", ""), line.get("quoted", ""), ""
    return Message(mid, caller, line.get("text", ""), "op" in line, None, *words)


def channel_of(address: str) -> str:
    """The name of the channel that a message's id or a room belongs to."""
    name, colon, _ = address.partition(":")
    return name if colon and " " not in name else address.partition(" ")[0]


def age_of(line: dict, clock) -> str:
    """Return the age of a line in words, "" below a minute."""
    age = clock.now() - line["at"]
    return "" if age < _MINUTE else duration(age)
