"""Turns of a conversation as channels see them: origin, sink, and a queue of one turn at a time."""

import asyncio
from collections import namedtuple

from engram.clock import Timeout
from engram.errors import ModelError
from engram.memory.line_meaning import with_origin

_QUIET_MS = const(10_000)  # after a start or an answer: who says something then does so soon
_WAITING = const(4)  # turns under way and waiting: more are refused, so that a flood cannot fill the heap


Outcome = namedtuple("Outcome", "turn reply problem")
"""The id of the person's turn, the reply's text, and a sentence on what went wrong, or ""."""


class Sink:
    """A receiver of a turn's output; channels override what they show."""

    may_exceed_queue = False
    """True if the message may wait in a full queue, for a channel with one message at a time."""

    async def on_saved(self, turn: str) -> None:
        """Handle the turn's id: the message is on flash, and the model is asked next."""

    async def text(self, piece: str) -> None:
        """Show a piece of the reply as it arrives."""

    async def notice(self, line: str) -> None:
        """Show a line about the turn, such as a new memory or another try of the model."""

    async def working(self, sign: str, is_first: bool) -> None:
        """Show what the silent model does, see Model.work; it comes again and again."""

    async def recalled(self, shown: list) -> None:
        """Handle the memories shown to the model: [id, confidence in thousandths] of each."""


class Origin:
    """The source of a message, with its network's id, author if forwarded, and quoted beginning."""

    is_new = True
    """True if Agent.turn() decides whether the message is kept."""

    def __init__(self, forwarded: str = "", quoted: str = "", mid: str = "", corrects: int = 0):
        self.forwarded = forwarded
        self.quoted = quoted
        self.mid = mid
        self.corrects = corrects
        """Seq of the turn that this message replaces."""
        self.redacts = ()
        """Seqs of the turns that are forgotten with it."""
        self.is_said = not forwarded

    def keep(self, journal, caller, content: str, command: bool) -> int:
        fields = {"command": command, "mid": self.mid, "forwarded": self.forwarded, "quoted": self.quoted}
        fields.update({"corrects": self.corrects, "redacts": self.redacts})
        return journal.add(caller, "user", caller.principal, content, **fields)

    def keep_reply(self, journal, caller, content: str, *, cut: bool, command: bool, answers: int) -> None:
        journal.add(caller, "assistant", "engram", content, cut, command, answers=answers)


class UnkeptOrigin(Origin):
    """The origin of a message of a conversation that is not kept."""

    is_new = False

    def keep(self, journal, caller, content: str, command: bool) -> int:
        content = with_origin(content, self.forwarded, self.quoted)
        return journal.unkept.add(caller, "user", caller.principal, content)

    def keep_reply(self, journal, caller, content: str, *, cut: bool, command: bool, answers: int) -> None:
        journal.unkept.add(caller, "assistant", "engram", content, self.mid)


class Turn:
    """One message while it is answered, with its seq in the journal, below 0 if it is not kept."""

    def __init__(self, caller, seq: int, said: str = "", forwarded: str = "", command=None):
        self.caller = caller
        self.seq = seq
        self.said = said
        """The person's own words, "" if these are not theirs."""
        self.command = command
        """The text.openers.Command of the message, if it is one."""
        self.forwarded = forwarded
        """Author of forwarded words, for which tools may change nothing."""
        self.is_kept = seq > 0
        self.id = "t%d" % seq if seq > 0 else ""
        self.confirmed = None
        """The call that the message confirms."""
        self.only = ()
        """Names of the only tools that the model may call, () for all."""
        self.has_called = False
        """True if the model called a tool."""
        self.has_obeyed = False
        """True if a call changed something, waits for a yes, or found that what is to be kept is there."""
        self.unkept = ""
        """Problem of the latest call of a tool that writes memory, or ""."""
        self.has_acted = False
        """True if something was done that a correction cannot take back; stored memories do not count."""

    def act(self) -> None:
        self.has_acted = True


class TurnQueue:
    """A queue of turns: one runs, a few wait, and more are refused to protect the heap."""

    def __init__(self):
        self._lock = asyncio.Lock()
        self._waiting = 0
        self._quiet = Timeout()

    def is_busy(self) -> bool:
        return self._waiting > 0

    def is_active(self) -> bool:
        """True if a message is being answered or expected; background work then leaves it the heap."""
        return self._waiting > 0 or not self._quiet.is_over

    def note_activity(self) -> None:
        self._quiet.begin(_QUIET_MS)

    async def run(self, may_exceed_queue: bool, answer, *arguments):
        """Await answer(*arguments) in its turn; ModelError if the queue is full."""
        if self._waiting >= _WAITING and not may_exceed_queue:
            raise ModelError("too many messages are waiting for an answer; send this one again in a moment.")
        self._waiting += 1
        try:
            async with self._lock:
                return await answer(*arguments)
        finally:
            self._waiting -= 1
            self.note_activity()
