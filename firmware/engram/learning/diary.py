"""The diary: after midnight, what people said on the last day becomes some lines of that day's note.

A line names the turns that it came from, so a day that has such lines of them is not read again after a power cut, and
a distillation passes these lines over: the messages were read for facts themselves.
"""

from engram import text
from engram.agent.prompt import beginning
from engram.errors import ArgumentError
from engram.learning import operations
from engram.learning.cursor import is_said
from engram.learning.jobs import Job
from engram.learning.operations import fenced
from engram.memory import access
from engram.memory.principal_files import appended
from engram.memory.records import fields
from engram.text.light_words import content_terms
from engram.text.openers import own_words

_FEWEST = const(4)  # messages of a day that are worth a call
_MOST = const(200)  # the last ones of a day
_LEAST_TOKENS = const(20)  # of a message with its number and time
_LINES = const(8)
_LONGEST = const(200)  # characters of one
_REPLY_TOKENS = const(800)


class Diary(Job):
    name = "diary"
    status_lines = Job.refusal_lines

    def __init__(self, prompts, clock, records, journal, notes, cursor, model):
        super().__init__(cursor)
        self._prompts = prompts
        self._clock = clock
        self._records = records
        self._journal = journal
        self._notes = notes
        self._model = model
        self._looked = 0  # the day on which it was looked for messages of a day before
        self._day = 0
        self._waiting = {}  # seqs of that day's messages by notebook, newest first

    def is_due(self) -> bool:
        if not (self.pause.is_over and self._clock.known and self._prompts.config.get("extract.on")):
            return False
        today = self._clock.day_number(self._clock.now())
        if today > self._looked:
            self._look(today)
            self._looked = today
        return bool(self._waiting) and not self._cursor.is_spent(self._prompts.config)

    def _look(self, today: int) -> None:
        """Find the messages of the last day before today, unless they were read."""
        self._day, self._waiting = 0, {}
        for seq in range(self._journal.newest, self._journal.entries.oldest - 1, -1):
            turn = self._journal.live_turn(seq)
            if not turn or "text" not in turn or turn.get("guess"):
                continue
            day = self._clock.day_number(turn["at"])
            if day <= self._cursor.diary or (self._day and day != self._day):
                return
            if not is_said(turn):
                continue
            self._day = day if day < today else 0
            caller = access.turn_principal(turn)
            if self._day and not caller.group and content_terms(turn["text"]):
                self._waiting.setdefault(access.notebook_of(caller), []).append(seq)

    async def _step(self) -> None:
        whose = min(self._waiting)
        room = operations.room(self._prompts, "diary", _REPLY_TOKENS)
        seqs = self._waiting[whose][: min(_MOST, room // _LEAST_TOKENS)]
        if len(seqs) >= _FEWEST and self._notes.people.has_room(whose):
            await self._write(self._notes.named(whose), seqs, room // len(seqs) - _LEAST_TOKENS // 2)
        del self._waiting[whose]
        if not self._waiting:
            self._cursor.diary = self._day
            self._cursor.save()

    async def _write(self, notebook, seqs: list, each: int) -> None:
        turns = [turn for turn in [self._journal.live_turn(seq) for seq in reversed(seqs)] if turn and "text" in turn]
        if not turns:
            return
        name = self._clock.day(turns[0]["at"]) + ".md"
        there = notebook.text(name)
        if any("[t%d]" % seq in there or "[t%d " % seq in there for seq in seqs):
            return  # before a power cut
        reading = DiaryBatch(self._prompts, self._records, self._clock, turns)
        reading.apply(await self._answered(reading.ask(self._model, self._cursor, each), name))
        for problem in reading.refused:
            self._refuse(name, problem)
        for line in reading.lines[:_LINES]:
            there = appended(there, line)
        try:
            if reading.lines:
                notebook.put(name, there)
        except ArgumentError as error:
            self._refuse(name, str(error))


class DiaryBatch(operations.Batch):
    """The messages of one day in one notebook; `lines` are those of its note."""

    def __init__(self, prompts, records, clock, turns: list):
        super().__init__(prompts, records, access.turn_principal(turns[0]), ["t%d" % turn["seq"] for turn in turns])
        self._clock = clock
        self._turns = turns
        self.lines = []

    async def ask(self, model, cursor, each: int) -> list:
        """Return the elements of the model's answer on the first `each` tokens of a message; ArgumentError, ModelError."""
        lines = ["<said>"]
        for number, turn in enumerate(self._turns, 1):
            said = beginning(own_words(turn["text"]), each, "")
            lines.append(fenced("[%d %s] %s" % (number, self._time(turn), said)))
        said = "\n".join(lines + ["</said>"])
        return await self._ask(model, cursor, "diary", said, "line", _REPLY_TOKENS)

    def _time(self, turn: dict) -> str:
        return self._clock.minute(turn["at"])[-5:]

    def _apply(self, element: dict) -> None:
        sources = self._named(element)
        content: str = fields.check("content", element.get("content"), _LONGEST)  # type: ignore
        turns = [self._turns[self._refs.index(ref)] for ref in sources]
        said = text.terms(" ".join([own_words(turn["text"]) for turn in turns]))
        if set(said).isdisjoint(text.terms(content)):
            raise ArgumentError("content", "has no word of what the person said.")
        times = [self._time(turn) for turn in turns]
        first, last = min(times), max(times)
        when = first if first == last else first + "-" + last
        self.lines.append("- %s %s [%s]" % (when, " ".join(content.split()), " ".join(sources)))
