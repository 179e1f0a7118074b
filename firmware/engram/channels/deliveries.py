"""Delivers answers and the board's own messages, and keeps them until the person has them.

An answer of a confirming channel is in the outbox from the flush of its message until it is delivered or
given up; outbox.Delivery has its state. A piece that may have arrived is sent once more, with a mark. Answers
of one room keep their order.
"""

import struct
from collections import namedtuple

from engram import diag, files
from engram.agent.agent import Outcome
from engram.channels.message import Message
from engram.clock import duration
from engram.errors import EngramError, StoreError
from engram.interrupt import start_task
from engram.memory.access import Caller, turn_principal

_FILE = const("/outbox.bin")
_MOST = const(13)  # rows of the file: up to 128 bytes littlefs writes it without an erase
_ROW = const("<IBB")
_ROW_BYTES = const(6)

QUEUED = const(0)
"""The next piece was not sent."""
MAYBE_DELIVERED = const(1)
"""The piece may have arrived."""
SENT_AGAIN = const(2)
"""The piece was sent twice and may have arrived."""
FAILED = const(3)
"""Nothing more is sent, as the piece may have arrived twice."""


class Delivery:
    """One answer's delivery: queued, maybe delivered, sent again, then done or failed."""

    def __init__(self, seq: int = 0, arrived: int = 0, state: int = QUEUED, save=None):
        self.seq = seq
        """Seq of its line in the journal, 0 without one."""
        self.arrived = arrived
        self.state = state
        self.pieces: "list | None" = None
        """Pieces left, in the channel's form; None after a restart."""
        self.room = ""
        self.is_in_progress = False
        self._save = save

    async def attempt(self, sink, outcome) -> "bool | None":
        self._set(self.arrived, min(self.state + 1, FAILED))
        if self.state == FAILED:
            return False
        has_arrived = await sink.end(outcome)
        if has_arrived is None and self.state == SENT_AGAIN:
            self._set(self.arrived, FAILED)
        elif has_arrived is False:
            self._set(self.arrived, self.state - 1)
        return has_arrived

    def advance(self) -> None:
        self._set(self.arrived + 1, MAYBE_DELIVERED)

    def restart(self) -> None:
        """Start over with a new answer; some of the old one may have arrived."""
        if self.arrived:
            self._set(0, MAYBE_DELIVERED)
        self.pieces = None

    def _set(self, arrived: int, state: int) -> None:
        self.arrived, self.state = min(arrived, 255), state
        if self._save:
            self._save()


class Outbox:
    def __init__(self, folder: str):
        self._path = folder + _FILE
        data = files.read_packed(self._path, _MOST * _ROW_BYTES)
        rows = [struct.unpack_from(_ROW, data, at) for at in range(0, len(data), _ROW_BYTES)]
        self.deliveries = [Delivery(row[0], row[1], row[2], self._write) for row in rows]

    def find(self, seq: int) -> "Delivery | None":
        """Return the delivery of a turn, None if there is none."""
        return next((each for each in self.deliveries if each.seq == seq), None)

    def add(self, seq: int, room: str) -> Delivery:
        stale = self.find(seq)
        if stale:
            self.deliveries.remove(stale)  # the power failed before its line was there
        elif len(self.deliveries) >= _MOST:
            lost = self.deliveries.pop(0)
            diag.warning("outbox", "dropped undelivered t%d: no room" % lost.seq)
        delivery = Delivery(seq, save=self._write)
        delivery.room = room
        self.deliveries.append(delivery)
        self._write()
        return delivery

    def remove(self, seq: int) -> None:
        delivery = self.find(seq)
        if delivery:
            self.deliveries.remove(delivery)
            self._write()

    def is_behind(self, delivery: Delivery) -> bool:
        """True if an earlier answer of the same room waits."""
        for other in self.deliveries:
            if other is delivery or not delivery.room:
                break
            if other.room == delivery.room and not other.is_in_progress:
                return True
        return False

    def _write(self) -> None:
        rows = [struct.pack(_ROW, each.seq, each.arrived, each.state) for each in self.deliveries]
        try:
            files.write_packed(self._path, b"".join(rows))
        except StoreError as error:
            diag.error("outbox", str(error))  # it still holds until the next restart


_MINUTE = const(60)
_MOST_PUSHED = const(8)  # deliveries with which the board says nothing by itself: 13 have room

_NOT_LET_IN = const("t%d is not delivered: who was to have it in %s is not let in any more")
_GIVEN_UP = const("given up: the answer to t%d, which may have arrived; the console shows it")
_BROKEN = const(" … (it broke off here)")


class SavedReply(namedtuple("SavedReply", "turn text age is_cut is_repeat")):
    """A reply from the journal: turn id, text, age or "", cut off or not, maybe delivered or not."""

    def with_age(self) -> str:
        words = ["from %s ago" % self.age] if self.age else []
        if self.is_repeat:
            words.append("perhaps for the second time")
        head = "(%s) " % ", ".join(words) if words else ""
        return head + self.text + (_BROKEN if self.is_cut else "")


class Deliveries:
    """A board's deliveries to its channels, saved in `folder`."""

    def __init__(self, handle, journal, clock, folder: str):
        self._handle = handle
        self.channels = {}
        """By name the (open_sink, is_let_in) given to add_channel()."""
        self._journal = journal
        self._clock = clock
        self.outbox = Outbox(folder)

    def add_channel(self, name: str, open_sink, is_let_in=None) -> None:
        """Add a channel: open_sink(address) gives (ChannelSink, room), is_let_in(caller) gives access."""
        # Message ids begin with `name` and a colon, rooms with `name` and a space. The sink is None if the room
        # cannot be reached now; the room is "" if the network itself asks for its answers again.
        self.channels[name] = open_sink, is_let_in

    # --- the answer to a message

    def open(self, seq: int, room: str, sink) -> None:
        """Start to deliver a new answer to the line `seq` by a sink."""
        sink.delivery = self.outbox.add(seq, room) if sink.is_confirming else Delivery(seq)
        sink.delivery.is_in_progress = True

    def reopen(self, seq: int, sink) -> bool:
        """Resume the answer to a line; False if nothing of it is kept."""
        known = self.outbox.find(seq)
        sink.delivery = known or Delivery(seq)
        sink.delivery.is_in_progress = True
        return known is not None

    async def give(self, seq: int, reply: dict, sink):
        """Send a kept reply again unless it is known to be delivered."""
        text = reply.get("text", "")
        outcome = Outcome("t%d" % seq, text, "")
        delivery = self.outbox.find(seq)
        if sink.is_confirming and delivery is None:
            return outcome
        is_repeat = delivery is not None and delivery.state != QUEUED
        age = age_of(reply, self._clock)
        await sink.on_saved_reply(SavedReply(outcome.turn, text, age, "cut" in reply, is_repeat))
        return outcome

    async def finish(self, sink, outcome) -> bool:
        """Let a sink send its answer; True if it is delivered or given up."""
        delivery = sink.delivery
        if not sink.is_confirming:
            has_arrived = await sink.end(outcome)
        elif self.outbox.is_behind(delivery):
            return False
        else:
            has_arrived = await delivery.attempt(sink, outcome)
        if delivery.state == FAILED:
            diag.error("outbox", _GIVEN_UP % delivery.seq)
        elif not has_arrived:
            return False
        self.outbox.remove(delivery.seq)
        return True

    # --- undelivered answers, and messages of the board itself

    def has_undelivered(self, name: str) -> bool:
        """True if something for a channel waits for redeliver(), or may since the last restart."""
        waiting = [each for each in self.outbox.deliveries if not each.is_in_progress]
        return any(channel_of(each.room) in ("", name) for each in waiting)

    async def redeliver(self, name: str) -> int:
        """Send a reconnected channel its undelivered answers; return the number left."""
        open_sink, _ = self.channels[name]
        failed = []  # rooms
        for delivery in list(self.outbox.deliveries):
            seq = delivery.seq
            line = self._journal.entries.line(seq)
            address = line and (line.get("to") or line.get("mid"))
            if not line or not address:
                self.outbox.remove(seq)  # it left the journal; or the power failed before it was there
                continue
            delivery.room = delivery.room or address
            if channel_of(address) == name and not delivery.is_in_progress and self.outbox.find(seq) is delivery:
                sink, room = open_sink(address)
                caller = self._caller(name, room, line)
                delivery.room = room
                if sink and caller and room not in failed:
                    await self._redeliver(line, address, caller, sink)
                    if self.outbox.find(seq):
                        failed.append(room)
        return len(self.outbox.deliveries)

    async def _redeliver(self, line: dict, address: str, caller, sink) -> None:
        if "to" not in line:
            await self._handle(message_of(address, caller, line), sink)
        elif self._journal.turn(line["seq"]) is None:
            self.outbox.remove(line["seq"])  # it was forgotten
        else:
            self.outbox.find(line["seq"]).is_in_progress = True
            await self._push(line, sink)

    def _caller(self, name: str, room: str, line: dict):
        """Return the Caller of a kept line; None, and the line is removed, if nobody may have it."""
        asks = turn_principal(line) if "who" in line else Caller("", "", False, "")
        caller = Caller(asks.principal, room, asks.group, asks.workspace)
        if room and self._is_let_in(name, caller):
            return caller
        self.outbox.remove(line["seq"])
        # Without a room the power failed before its line was there, and this is another.
        if room:
            diag.warning("outbox", _NOT_LET_IN % (line["seq"], room))
        return None

    def _is_let_in(self, name: str, caller) -> bool:
        _, is_let_in = self.channels[name]
        return is_let_in is None or is_let_in(caller)

    def push(self, caller, content: str, mid: str = ""):
        """Send a message by the board itself, once per `mid`; return the delivery task, or None if refused."""
        is_known = channel_of(caller.room) in self.channels and self._is_let_in(channel_of(caller.room), caller)
        if not is_known or (mid and self._journal.seen.find(mid)):
            return None
        return self.send(self.keep(caller, content, mid=mid), caller)

    def may_push(self, caller):
        """True if there is room to push to a caller; False if they may have nothing, None if not now."""
        name = channel_of(caller.room)
        if name not in self.channels or len(self.outbox.deliveries) >= _MOST_PUSHED:
            return None
        return self._is_let_in(name, caller)

    def keep(self, caller, content: str, cut: bool = False, answers: int = 0, mid: str = "") -> int:
        """Save a message by the board itself as the reply to the turn `answers`; return its seq."""
        # In this order: an entry without its line is removed, but nothing would find the line.
        seq = self._journal.next_turn(caller)
        self.outbox.add(seq, caller.room)
        more = {"answers": answers, "to": caller.room, "mid": mid}
        try:
            return self._journal.add(caller, "assistant", "engram", content, cut, **more)
        except (EngramError, MemoryError):
            self.outbox.remove(seq)  # the next line has this seq
            raise

    def send(self, seq: int, caller):
        open_sink, _ = self.channels[channel_of(caller.room)]
        sink, _ = open_sink(caller.room)
        self.outbox.find(seq).is_in_progress = True
        return start_task(self._push, self._journal.entries.line(seq), sink)

    async def _push(self, line: dict, sink) -> bool:
        seq = line["seq"]
        delivery = self.outbox.find(seq)
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
    words = line.get("forwarded", ""), line.get("quoted", ""), ""
    return Message(mid, caller, line.get("text", ""), "op" in line, *words)


def channel_of(address: str) -> str:
    name, colon, _ = address.partition(":")
    return name if colon and " " not in name else address.partition(" ")[0]


def age_of(line: dict, clock) -> str:
    """Return the age of a line in words, "" below a minute."""
    age = clock.now() - line["at"]
    return "" if age < _MINUTE else duration(age)
