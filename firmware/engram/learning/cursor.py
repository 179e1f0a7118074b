"""The position up to which the journal was read for facts. A batch of turns keeps all its facts once, or none.

What turns gave is on flash with the seq up to which they were read, in one flush of the records' log. A small file has
that seq too, for turns that gave nothing or had a last look, and what was spent on the day:

    memory/learning.json    {"epoch","until","day","calls","tokens","diary"}

`epoch` is the journal's, so that a journal that was reset is read from its beginning; `diary` is the last day of the diary.
"""

from collections import namedtuple

from engram import diag, files, text
from engram.errors import StoreError

_FILE = const("/learning.json")
_LARGEST = const(1024)  # bytes of the file

SPENT = "the day's calls or tokens are spent (extract.calls_a_day, extract.tokens_a_day)"

Batch = namedtuple("Batch", "turns until")
"""Turns of one session and workspace, and the seq up to which the journal is then read."""


class LearningCursor:
    """The progress and daily budget of learning; `versions` owns the records."""

    def __init__(self, folder: str, versions, records, journal, clock):
        self._path = folder + _FILE
        self._versions = versions
        self._records = records
        self._journal = journal
        self._clock = clock
        self._until = 0
        self._day = self.calls = self.tokens = 0
        self.diary = 0
        """Number of the last day that is in the diary."""

    @property
    def until(self) -> int:
        # An interrupt may have come between the flush of what a batch gave and its end.
        told = self._versions.learned
        return max(self._until, told[1]) if told and told[0] == self._journal.entries.epoch else self._until

    @until.setter
    def until(self, seq: int) -> None:
        self._until = seq

    def open(self) -> None:
        """Read the saved progress; a new board starts with the next message."""
        told = files.read_json(self._path, _LARGEST, _numbers)
        if told:
            epoch, until, self._day, self.calls, self.tokens, self.diary = told
            self._until = until if epoch == self._journal.entries.epoch else 0
        elif not self._versions.learned:
            self._until = self._journal.newest
            self.save()
        self._until = min(self.until, self._journal.newest)

    def save(self) -> None:
        values = {"epoch": self._journal.entries.epoch, "until": self.until, "day": self._day}
        values.update({"calls": self.calls, "tokens": self.tokens, "diary": self.diary})
        try:
            files.write(self._path, text.dumps(values))
        except StoreError as error:
            # Its results are on flash: at worst, turns without any are read again.
            diag.warning("learning", str(error))

    # --- next batch

    @property
    def behind(self) -> int:
        """The number of the journal's lines that were not read."""
        return self._journal.newest - self.until

    def batch(self, most: int, room: int) -> Batch:
        """Return the next messages of one session and workspace, at most `most`, of `room` tokens."""
        turns = []
        until = self.until
        for turn in self._journal.later(self.until):
            if is_said(turn):
                room -= text.tokens(turn["text"])
                if turns and (len(turns) == most or room < 0 or not _is_one_place(turn, turns[0])):
                    return Batch(turns, until)
                turns.append(turn)
            until = turn["seq"]
        # All that follows is no turn.
        return Batch(turns, self._journal.newest)

    def missed(self) -> int:
        """Return the lines that left the journal unread, and skip them."""
        gone = self._journal.entries.oldest - 1 - self.until
        if gone <= 0:
            return 0
        self.until = self._journal.entries.oldest - 1
        return gone

    # --- what came of it

    def spend(self, tokens: int) -> None:
        """Count a model call for today."""
        self._turn_day()
        self.calls += 1
        self.tokens += tokens

    def correct(self, tokens: int) -> None:
        self.tokens += tokens

    def spent(self) -> tuple:
        """Return (calls, tokens) of today."""
        self._turn_day()
        return self.calls, self.tokens

    def is_spent(self, config) -> bool:
        """True if the background calls of today are used up."""
        calls, tokens = self.spent()
        return calls >= config.get("extract.calls_a_day") or tokens >= config.get("extract.tokens_a_day")

    def _turn_day(self) -> None:
        # A clock that is set back, or not set yet, gives no new day's calls.
        today = self._clock.day_number(self._clock.now())
        if self._clock.known and today > self._day:
            self._day, self.calls, self.tokens = today, 0, 0

    def keep(self, drafts, until: int) -> list:
        """Save drafts learned from turns up to a seq; return the records' ids."""
        refs = []
        if drafts:
            told = [
                ("op", "learned"),
                ("journal", self._journal.entries.epoch),
                ("until", until),
                ("at", self._clock.now()),
            ]
            refs = self._records.keep(drafts, (told,))
        self.until = until
        self.save()
        return refs


def is_said(turn: dict) -> bool:
    """True for a person's own words."""
    return turn["role"] == "user" and not ("command" in turn or "forwarded" in turn or "sensed" in turn)


def _is_one_place(one: dict, other: dict) -> bool:
    return one["sid"] == other["sid"] and one.get("workspace") == other.get("workspace")


def _numbers(told) -> list:
    numbers = [int(told[name]) for name in ("epoch", "until", "day", "calls", "tokens")]
    return numbers + [int(told.get("diary", 0))]
