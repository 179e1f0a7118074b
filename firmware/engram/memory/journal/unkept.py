"""Conversations that the board does not keep: their turns are in RAM, until the mode ends or the board restarts."""

from engram import text
from engram.errors import ArgumentError
from engram.memory.journal.schema import fitting_text, room_of

_ROOMS = const(16)
_TURN_BYTES = const(4500)  # of one turn: a prompt shows 1,500 characters
_BYTES = const(16384)  # of all turns together: the oldest leave

BEGUN = (
    "From now on the board keeps nothing of this conversation; /session new ends that, and so does a restart. "
    "Your chat program may keep its own copy."
)
_ENDED = "; what is said here from now on is kept again"
NOTICE = "nothing of this conversation is kept (/session new ends that)"


class UnkeptTurns:
    """The rooms whose conversations are not kept, and their turns, with seqs below 0."""

    def __init__(self, clock):
        self._clock = clock
        self._rooms = []
        self._turns = []
        self._last = 0

    def is_on(self, caller) -> bool:
        return room_of(caller) in self._rooms

    def begin(self, caller) -> None:
        if self.is_on(caller):
            return
        if len(self._rooms) >= _ROOMS:
            raise ArgumentError("/mode", "is off in %d conversations: end it in one of them first." % _ROOMS)
        self._rooms.append(room_of(caller))

    def end(self, caller) -> str:
        """End it, if it is on, and return what the answer to a command then adds, else ""."""
        room, was_on = room_of(caller), self.is_on(caller)
        self._rooms = [each for each in self._rooms if each != room]
        self._turns = [turn for turn in self._turns if turn["room"] != room]
        return _ENDED if was_on else ""

    def add(self, caller, role: str, who: str, content: str, mid: str = "") -> int:
        """Add a turn and return its seq, below 0; a reply has the id of its message."""
        kept = text.cut_bytes(fitting_text(content, role), _TURN_BYTES)
        self._last -= 1
        turn = {"seq": self._last, "room": room_of(caller), "role": role, "who": who, "text": kept}
        turn["at"], turn["mid"] = self._clock.now(), mid
        if self.is_on(caller):
            self._turns.append(turn)
        while sum([len(text.encode(each["text"])) for each in self._turns]) > _BYTES:
            self._turns.pop(0)
        return self._last

    def seqs(self, caller) -> list:
        """Return the seqs of the caller's conversation, oldest first."""
        room = room_of(caller)
        return [turn["seq"] for turn in self._turns if turn["room"] == room]

    def reply_to(self, mid: str, caller):
        """Return the reply to the caller's message with an id, None if it is gone."""
        room = room_of(caller)
        return next((turn for turn in self._turns if turn["mid"] == mid and turn["room"] == room), None)

    def turn(self, seq: int):
        """Return a turn as a dict, None if it is gone."""
        return next((turn for turn in self._turns if turn["seq"] == seq), None)
