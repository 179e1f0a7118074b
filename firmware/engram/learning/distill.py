"""Distillation: turns daily notes into memories when many wait, once a day, or on request.

The model reads one principal's notes in batches, as untrusted text; its proposals are checked more strictly
than those of messages, since a note may quote others. Results and the read position enter the log of records
in one flush; undo reverts them one by one. Distilled memories never become notes, so nothing is distilled
twice.
"""

from engram import diag, text
from engram.agent.prompt import beginning
from engram.clock import day_number
from engram.errors import ArgumentError
from engram.learning import operations
from engram.learning.cursor import SPENT
from engram.learning.jobs import Job
from engram.memory.access import notebook_reader
from engram.memory.records import fields

NOTES = 20  # that wait: with as many a call is worth its price before the day is over
CHARS = 12000  # of notes in one call: they are on the heap with the answer
_DAY = const(86400)  # seconds since the last distillation, after which any note is read
_REPLY_TOKENS = 1200  # of the list of facts: what a model that does not stop costs
_FACTS = const(12)  # from one call: notes may hold others' words, which are not to fill the memory
_TAGS = const(100)  # tokens of the tags in use
_KNOWN = const(12)  # records that the notes may touch
_LOOKED_UP = const(24)  # notes for which such records are looked up: each takes a search


class Report:
    """The results of a distillation: counts and ids."""

    def __init__(self):
        self.is_over = False
        self.notes = self.merged = self.dropped = 0
        self.added = []
        self.superseded = []

    def line(self) -> str:
        added, superseded = _counted(self.added), _counted(self.superseded)
        read = "notes read: %d; added: %s; merged into what is known: %d; superseded: %s; notes dropped: %d"
        return read % (self.notes, added, self.merged, superseded, self.dropped)


class Distillation(Job):
    name = "distilling"

    def __init__(self, prompts, clock, records, daily, cursor, model):
        super().__init__(cursor)
        self._prompts = prompts
        self._clock = clock
        self._records = records
        self._daily = daily
        self._model = model
        self._asked = {}  # reports that people wait for, by principal
        self.report = Report()

    # --- when

    def ask(self, principal: str, is_owner: bool) -> Report:
        """Distil the notes of a principal or workspace soon; return the Report. ArgumentError."""
        if not is_owner and self._cursor.is_spent(self._prompts.config):
            # The owner's wish goes before the cap, which is the owner's.
            raise ArgumentError("/distill", SPENT)
        self.pause.end()
        return self._asked.setdefault(principal, Report())

    def is_due(self) -> bool:
        """True if there is something to do now."""
        config = self._prompts.config
        if not self.pause.is_over or config.get("mode") != "full":
            return False
        return bool(self._asked) or (config.get("distill.on") and not self._cursor.is_spent(config) and self._is_time())

    def _is_time(self) -> bool:
        waiting = sum(self._daily.waiting().values())
        return waiting >= NOTES or (waiting > 0 and self._daily.since() >= _DAY)

    # --- one batch

    async def _step(self) -> None:
        """Read the next notes of one principal."""
        daily = self._daily
        waiting = self._asked or daily.waiting()
        if not waiting:
            return  # cleared meanwhile
        principal = min(waiting)
        report = self.report = self._asked.get(principal) or Report()
        room = operations.room(self._prompts, "distill", _REPLY_TOKENS)
        # An answer that was too long, or cut, is shorter for fewer notes.
        batch = daily.batch(principal, CHARS >> self._attempts, room // 2)
        if batch:
            self._records.check_room()
            distilling = DistillBatch(self._prompts, self._records, batch)
            asking = distilling.ask(self._model, self._cursor, room)
            distilling.apply(await self._answered(asking, "%d notes" % len(batch.entries)))
            self._keep(batch, distilling, report)
            diag.info("distilling", report.line())
        if principal not in daily.waiting():
            report.is_over = True
            self._asked.pop(principal, None)
        if not daily.waiting():
            daily.note_over()

    def _keep(self, batch, distilling, report: Report) -> None:
        drafts = distilling.changes
        refs = []
        if drafts:
            told = [("op", "distilled"), ("marks", batch.marks), ("at", self._clock.now())]
            refs = self._records.keep(drafts, (told,))
        self._daily.note_read(batch)
        self._cursor.save()
        report.notes += len(batch.entries)
        report.merged += distilling.merged
        report.dropped += len(batch.entries) - len(distilling.used)
        for problem in distilling.refused:
            self._refuse("notes", problem)
        for draft, ref in zip(drafts, refs):
            if draft.id:
                report.merged += 1
            elif "supersedes" in draft.values:
                report.superseded.append("%s by %s" % (draft.values["supersedes"], ref))
            else:
                report.added.append(ref)

    # --- status

    def status_lines(self):
        waiting = sum(self._daily.waiting().values())
        if waiting:
            yield "notes waiting: %d%s" % (waiting, "; " + self.pause.why if self.pause.why else "")
        if self.report.notes:
            yield self.report.line()
        yield from self.refusal_lines()


def _counted(refs: list) -> str:
    return "%d (%s)" % (len(refs), ", ".join(refs)) if refs else "0"


class DistillBatch(operations.Batch):
    """Notes of one principal, read together; `used` are the ids of those with a result."""

    source = "distilled"
    is_trusted = False

    def __init__(self, prompts, records, batch):
        refs = ["e%d" % (at + 1) for at in range(len(batch.entries))]
        super().__init__(prompts, records, notebook_reader(batch.principal), refs)
        self._entries = batch.entries
        self._of = dict(zip(refs, batch.entries))
        self._left = _FACTS
        self.used = set()

    async def ask(self, model, cursor, room: int) -> list:
        """Return the elements of the model's answer to a message of `room` tokens; ArgumentError, ModelError."""
        message = await self._message(room)
        kinds = "add event" + (" update" if self.known else "")
        return await self._ask(model, cursor, "distill", message, kinds, _REPLY_TOKENS)

    async def _message(self, room: int) -> str:
        notes = [note for _, note in self._entries]
        looked_up = notes[:: (len(notes) + _LOOKED_UP - 1) // _LOOKED_UP]
        lines = ["<notes>"]
        for at, (day, note) in enumerate(self._entries):
            lines.append(operations.fenced("[%d %s] %s" % (at + 1, day, beginning(note, room, ""))))
        shown = "\n".join(lines + ["</notes>"])
        known = await self._show_known(looked_up, 2, _KNOWN, _TAGS, room - text.tokens(shown))
        return "\n".join(known + [shown])

    def _apply(self, element: dict) -> None:
        sources = self._named(element)
        days = [self._of[ref][0] for ref in sources]
        wanted = operations.check(element, sources[0], self.known, self._records.clock, day_number(days[0]))
        if wanted.kind == "note":
            raise ArgumentError("op", "must not be note: a distillation writes none.")
        said = text.terms(" ".join([self._of[ref][1] for ref in sources]))
        if set(said).isdisjoint(text.terms(wanted.values["content"])):
            raise ArgumentError("content", "has no word of the notes that it names.")
        if not self._left:
            raise ArgumentError("answer", "has more facts than a distillation may give.")
        self._left -= self._change(wanted, notes=sorted({day + ".md" for day in days})[-fields.MOST_NOTES :])
        self.used.update(sources)
