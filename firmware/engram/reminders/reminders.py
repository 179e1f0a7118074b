"""Standing intents: "when X comes up, remind me of Y", found in what people say without a model.

An intent fires in a message of those who may see it that has all the terms of its X, once in a cool-down. All that a message
is held against is packed and in RAM, so that one that triggers none reads no flash:

    heads   of each intent 18 bytes: number, owner (the crc32 of who may see it), moment of its last firing, end of its
            life, which of these times were guessed, how many terms it has
    terms   the crc32 of each of these terms, 4 bytes each, intent by intent

The rest is in memory/intents.jsonl (see reminder_file.py). Until the clock is known
nothing expires; times that were guessed count from the moment at which it is.
"""

from struct import calcsize, pack_into, unpack_from

from engram import text
from engram.compat import const
from engram.reminders import reminder_file
from engram.reminders.form import GUESSED_LIFE, HEAD, belongs_to, scope_of_caller, term_of

_HEAD_BYTES = calcsize(HEAD)
_LAST_AT = const(8)  # where the moment of the last firing stands in a head
_GUESSED_AT = const(16)
_TERM_BYTES = const(4)
_HOUR = const(3600)


class Reminders:
    """A board's intents, in a file in `folder`."""

    days = 90
    """How long one lives if nobody says for how long: what nobody needs leaves room."""
    cool_down = 24 * _HOUR
    """Seconds for which one that fired is silent: a topic that stays is not followed by it all day."""
    a_turn = 3
    """How many fire in one turn: more would bury the answer."""

    def __init__(self, folder: str, clock, is_on=True):
        self.table = reminder_file.make_table(folder + "/intents.jsonl")
        self.clock = clock
        self.is_on = is_on
        self._heads = bytearray()
        self._terms = b""
        self._may_settle = True

    @property
    def damaged(self) -> int:
        """Pieces of damage that were found since the start."""
        return self.table.damaged

    def open(self) -> None:
        """Read the file, if there is one; damaged lines are set aside."""
        self.table.open()
        reminder_file.load(self)

    def hold(self, heads: bytearray, terms: bytes) -> None:
        """Keep the packed intents."""
        self._heads = heads
        self._terms = terms

    # --- on every message

    def due(self, caller, content: str) -> list:
        """The numbers of the caller's intents that a message triggers, those first that have not fired for longest."""
        live = self.numbers(caller) if self.is_on else ()
        if not live:
            return []
        self._settle()
        seen = self._matches(content)
        now = self.clock.now()
        found = []
        first = 0
        for at in range(0, len(self._heads), _HEAD_BYTES):
            number, _, last, _, _, terms = unpack_from(HEAD, self._heads, at)
            if number in live and min(seen[first : first + terms]) and self._may_fire(last, now):
                found.append((last, number))
            first += terms
        found.sort()
        return [number for _, number in found[: self.a_turn]]

    def _matches(self, content: str) -> bytearray:
        """For each term that is held, whether it stands in a text."""
        held = self._terms
        seen = bytearray(len(held) // _TERM_BYTES)
        for term in text.index_terms(content):
            packed = term_of(term)
            at = held.find(packed)
            while at >= 0:
                if at % _TERM_BYTES == 0:
                    seen[at // _TERM_BYTES] = 1
                at = held.find(packed, at + 1)
        return seen

    def _may_fire(self, last: int, now: int) -> bool:
        # A moment far ahead comes from a clock that was wrong: it would keep the intent silent until then.
        return not last or not -self.cool_down < now - last < self.cool_down

    def is_over(self, ends: int, guessed: int) -> bool:
        """Whether an intent has had its time."""
        return self.clock.known and not guessed & GUESSED_LIFE and ends <= self.clock.now()

    def _settle(self) -> None:
        """Once the clock is known, times that were guessed are counted from now."""
        guessed = any(self._heads[at] for at in range(_GUESSED_AT, len(self._heads), _HEAD_BYTES))
        if guessed and self.clock.known and self._may_settle:
            # Not again at each message, should the flash refuse.
            self._may_settle = reminder_file.settle(self)

    # --- when one fires

    def note_fired(self, numbers: list) -> None:
        """The person has been reminded: these are silent for a while. If the flash refuses, only until a restart."""
        now = self.clock.now()
        for at in range(0, len(self._heads), _HEAD_BYTES):
            if unpack_from(HEAD, self._heads, at)[0] in numbers:
                pack_into("<I", self._heads, at + _LAST_AT, now)
        reminder_file.note_fired(self, numbers, now)

    # --- when people ask

    def add(self, caller, when: str, remind: str, days: int = 0) -> dict:
        """Keep an intent for `days`; its fields. ArgumentError if it is none, or the same is there already."""
        return reminder_file.add(self, caller, when, remind, days or self.days)

    def remove(self, caller, ref: str) -> dict:
        """Let an intent go; its fields. NotFound if this caller has none of that id."""
        return reminder_file.remove(self, caller, ref)

    def numbers(self, caller) -> list:
        """The numbers of the caller's live intents, oldest first."""
        asked = scope_of_caller(caller)
        found = []
        for at in range(0, len(self._heads), _HEAD_BYTES):
            number, whose, _, ends, guessed, _ = unpack_from(HEAD, self._heads, at)
            if whose == asked and not self.is_over(ends, guessed):
                found.append(number)
        return found

    def owned_by(self, caller, numbers=None):
        """Yield the fields of the caller's live intents, or of those with some numbers: id, when, remind, created, expires,
        last, fired.
        """
        for number in self.numbers(caller) if numbers is None else numbers:
            fields = reminder_file.one(self, number)
            if fields and belongs_to(caller, fields):
                yield fields
