"""Facts by themselves: what people said is read by a model, after the reply, and what it finds is kept.

What is to be read waits in the journal; how far it was read is on flash with what it gave (see cursor.py), so a turn
waits through a link that is down and a power cut, and is read once. A model's answer is no more than a proposal: each
operation is checked, compared with what is known, and refused with a reason if it does not hold.
"""

from engram import diag, text
from engram.compat import const
from engram.errors import ArgumentError, EngramError, ModelGarbled, ModelRefused
from engram.learning.cursor import MANY, SPENT
from engram.learning.extract_batch import ExtractBatch
from engram.learning.jobs import Pause, Rejections

_TURNS = const(6)  # messages read in one call: they share its instructions, and fit its window
_ATTEMPTS = const(3)  # with which a model may give no answer that can be read, before the messages are passed over
_UNREADABLE = const((400, 413, 422))  # the service refuses these messages, not us

_SMALL_TALK = const(
    "hi hello hey thanks thank you ok okay bye goodbye good morning evening night cool nice great lol haha please "
    "你好 您好 谢谢 多谢 再见 早上 上好 早安 晚安 好的"
)


class Extraction:
    """Reads what people said for facts."""

    name = "learning"

    def __init__(self, config, clock, records, journal, notes, cursor, model):
        self._config = config
        self._clock = clock
        self._records = records
        self._journal = journal
        self._notes = notes
        self._cursor = cursor
        self._model = model
        self._pause = Pause("learning")
        self._attempts = 0
        self._begun = 0  # readings of the next messages that did not come to an end
        self._is_proved = False  # the model has answered somebody since the last failure
        self.stored = 0
        self.read = 0
        self.lost = 0  # messages that were not read
        self._refusals = Rejections()

    # --- when

    def is_due(self) -> bool:
        """Whether there is something to read now."""
        return self._cursor.is_behind and self._pause.is_over and not self._stopped_by()

    def can_read(self) -> bool:
        """Whether what waits will be read before long."""
        return not (self._stopped_by() or self._pause.why)

    def _stopped_by(self) -> str:
        """Why nothing is read for now, "" if it may be."""
        if self._config.get("mode") != "full":
            return "the mode is lightweight"
        if not self._config.get("extract.on"):
            return "extract.on is false"
        return SPENT if self._cursor.is_spent(self._config) else ""

    def on_model_ok(self) -> None:
        """The model has answered somebody: what waited for it waits no longer."""
        self._is_proved = True
        if not self._attempts and self._pause.is_for_link:
            self._pause.end()

    # --- one batch

    async def step(self) -> None:
        """Read the next messages of one session."""
        is_over = False
        try:
            await self._step()
            is_over = True
            self._pause.end()
            self._attempts = self._begun = 0
        except EngramError as error:
            self._pause.fail(error)
            self._is_proved = False
            self._begun = 0
        finally:
            if not is_over:
                self._cursor.save()  # what the call has cost

    async def _step(self) -> None:
        cursor = self._cursor
        gone = cursor.missed()
        if gone:
            self.lost += gone
            diag.warning("learning", "%d lines of the journal left before they were read for facts" % gone)
        # One alone after a failure: it may be the only one that the model cannot take.
        batch = cursor.batch(1 if self._attempts else _TURNS)
        small_talk = set(_SMALL_TALK.split())  # a greeting or thanks, and nothing else
        turns = [turn for turn in batch.turns if not small_talk.issuperset(text.words(turn["text"]))]
        if not turns:
            cursor.until = batch.until  # seen again after a restart: that needs no write
            return
        self._records.check_room()
        if self._begun == _ATTEMPTS:
            # Each time something ended the reading that nobody had foreseen, such as a heap that was too small.
            self._pass_over(turns, "%d readings of it did not come to an end" % _ATTEMPTS, batch.until)
            return
        self._begun += 1
        reading = ExtractBatch(self._config, self._clock, self._records, self._journal, self._notes, turns)
        try:
            elements = await reading.ask(self._model, cursor)
        except (ArgumentError, ModelGarbled, ModelRefused) as error:
            if isinstance(error, ModelRefused) and error.status not in _UNREADABLE:
                raise
            self._note(turns, str(error))
            # What no model said may be a gateway's fault: it counts if the same link has brought a reply since.
            if isinstance(error, ArgumentError) or self._is_proved:
                self._attempts += 1
            if self._attempts < _ATTEMPTS:
                raise
            self._pass_over(turns, "no answer that could be read in %d attempts" % _ATTEMPTS, batch.until)
            return
        reading.apply(elements)
        for problem in reading.refused:
            self._note(turns, problem)
        reading.write_notes()
        self.stored += len(cursor.keep(reading.changes, batch.until))
        self.read += len(turns)

    def _pass_over(self, turns: list, why: str, until: int) -> None:
        self.lost += len(turns)
        diag.warning("learning", "%s: %s; passed over" % (_named(turns), why))
        self._cursor.keep((), until)

    # --- reports

    def _note(self, turns: list, problem: str) -> None:
        """Keep why something was refused; it has no word of what people said."""
        problem = "%s: %s" % (_named(turns), problem)
        self._refusals.add(problem)
        diag.info("learning", "refused: " + problem)

    def status_lines(self):
        """Yield lines on how it goes, for /stats."""
        today = self._cursor.spent()
        yield "%d facts from %d messages since the start; today %d calls, %d tokens" % (
            (self.stored, self.read) + today
        )
        waiting = self._cursor.waiting()
        if waiting:
            reason = self._stopped_by() or self._pause.why
            count = waiting if waiting < MANY else "%d or more" % MANY
            yield "%s messages wait%s" % (count, ": " + reason if reason else "")
        if self.lost:
            yield "%d messages were not read" % self.lost
        yield from self._refusals.status_lines()


def _named(turns: list) -> str:
    first, last = turns[0]["seq"], turns[-1]["seq"]
    return "t%d" % first if first == last else "t%d to t%d" % (first, last)
