"""Turns of a conversation, as channels see them: who says what, where the answer goes, and one at a time."""

import asyncio
from collections import namedtuple

from engram.clock import Timeout
from engram.compat import const
from engram.errors import ModelError

_QUIET_MS = const(10_000)  # after a start or an answer: who says something then does so soon
_WAITING = const(4)  # turns under way and waiting: more are refused, so that a flood cannot fill the heap


Outcome = namedtuple("Outcome", "turn reply problem")
"""The id of the person's turn, the reply's text, and a sentence on what went wrong, or ""."""


class Sink:
    """Takes a turn's output; a channel overrides what it shows."""

    may_exceed_queue = False
    """True if the message waits for its turn however many do: for a channel that has one message at a time."""

    async def on_saved(self, turn: str) -> None:
        """The message is on flash as the turn with this id; the model is asked after that."""

    async def text(self, piece: str) -> None:
        """A piece of the reply, as it comes."""

    async def notice(self, line: str) -> None:
        """A line about the turn: what was remembered, that the model is tried again."""

    async def recalled(self, shown: list) -> None:
        """Return what the model is shown of the memory: for each [id, how sure it is an answer, in thousandths]."""


class Origin:
    """Keeps a message in the journal, and knows whose words it has: `forwarded` is who wrote what the person only forwards,
    `quoted` the beginning of what it answers, `mid` its network's id.
    """

    def __init__(self, forwarded: str = "", quoted: str = "", mid: str = ""):
        self.forwarded = forwarded
        self.quoted = quoted
        self.mid = mid
        self.corrects = 0
        """The seq of the turn in whose place it is said."""
        self.redacts = ()
        """The seqs of what is forgotten for it."""
        self.is_said = not forwarded
        """True if the words are the person's own."""

    def keep(self, journal, caller, content: str, command: bool) -> int:
        """Put the message into the journal, unless it is there; its seq."""
        fields = {"command": command, "mid": self.mid, "forwarded": self.forwarded, "quoted": self.quoted}
        fields.update({"corrects": self.corrects, "redacts": self.redacts})
        return journal.add(caller, "user", caller.principal, content, **fields)

    def keep_reply(self, journal, caller, content: str, *, cut: bool, command: bool, answers: int) -> None:
        """Put the reply to the turn with the seq `answers` into the journal."""
        journal.add(caller, "assistant", "engram", content, cut, command, answers=answers)


class Turn:
    """One message, with its number in the journal, while it is answered."""

    def __init__(self, caller, seq: int, said: str = "", forwarded: str = "", command=None):
        self.caller = caller
        self.seq = seq
        self.said = said
        """The person's own words, "" if these are not theirs."""
        self.command = command
        """The text.openers.Command that the message is without a model."""
        self.forwarded = forwarded
        """The author of words that the person only forwards: no tool may change anything for them."""
        self.id = "t%d" % seq
        self.confirmed = None
        """The call to which the message says yes."""
        self.has_changed = False
        """True if a tool has changed something."""
        self.unkept = ""
        """Problem of the last call of a tool that writes memory, "" if there was none."""
        self.has_acted = False
        """True if something was done that no correction of the message takes back: all but to store memories."""

    def act(self) -> None:
        """Note that something was done that no correction takes back."""
        self.has_acted = True


class TurnQueue:
    """Lets one turn be answered at a time; a few wait, more are refused, so that a flood cannot fill the heap."""

    def __init__(self):
        self._lock = asyncio.Lock()
        self._waiting = 0
        self._quiet = Timeout()

    def is_busy(self) -> bool:
        """True if a message is being answered."""
        return self._waiting > 0

    def is_active(self) -> bool:
        """True if a message is being answered or expected: work that can wait leaves it the heap."""
        return self._waiting > 0 or not self._quiet.is_over

    def note_activity(self) -> None:
        """Somebody is likely to say something soon."""
        self._quiet.begin(_QUIET_MS)

    async def run(self, may_exceed_queue: bool, answer, *arguments):
        """Await answer(*arguments) in its turn; ModelError if too many wait and it may not exceed the queue."""
        if self._waiting >= _WAITING and not may_exceed_queue:
            raise ModelError("too many messages are waiting for an answer; send this one again in a moment.")
        self._waiting += 1
        try:
            async with self._lock:
                return await answer(*arguments)
        finally:
            self._waiting -= 1
            self.note_activity()
