"""A turn that a timer begins: the agent answers its text, with no more calls of the model than its day has left."""

from engram.compat import const
from engram.errors import ModelUnavailable

_NO_MODEL = const("no model is set up")
_NO_CALLS = const("its calls of the model for today are used up (timers.calls_a_day)")
_SPENT = const("the timer has no more calls of the model today (timers.calls_a_day).")


class LimitedModel:
    """A model with a budget of calls; repeated attempts count."""

    def __init__(self, model, left: int):
        self.name = model.name
        self.rounds = left - 1
        self._model = model
        self._left = left
        self.spent = 0

    async def stream(self, request, on_text, on_retry=None):
        """As Model.stream; ModelUnavailable instead of a call too many."""

        async def count(problem: str, wait_ms: int) -> None:
            if wait_ms:
                self._count()
            if on_retry:
                await on_retry(problem, wait_ms)

        self._count()
        return await self._model.stream(request, on_text, count)

    def _count(self) -> None:
        if self.spent >= self._left:
            raise ModelUnavailable(_SPENT)
        self.spent += 1


class NoReminders:
    """Stands for the reminders in a turn that nobody said."""

    def due(self, _caller, _content: str) -> list:
        """None is triggered."""
        return []


class Notices:
    """What a timer's turn tells beside its reply: as a channel's sink, kept to go with that."""

    is_patient = True

    def __init__(self):
        self.lines = ""

    async def on_saved(self, turn: str) -> None:
        """The message is on flash."""

    async def text(self, piece: str) -> None:
        """A piece of the reply, which is delivered as a whole."""

    async def notice(self, line: str) -> None:
        """What was changed, or waits for a yes."""
        self.lines += "· " + line + "\n"

    async def recalled(self, shown: list) -> None:
        """What the model is shown of the memory."""


class TimerTurn:
    """Where the message of a timer's turn comes from, and where its reply goes: in place of a journal for what answers it."""

    is_said = False
    """Whether a person has said it: what waits for their yes goes on waiting."""
    forwarded = quoted = mid = ""
    corrects = 0
    """It has the words of the timer's owner."""

    def __init__(self, journal, deliveries, mid: str, known: int, mark, late: str, notices):
        self._journal = journal
        self._deliveries = deliveries
        self._mid = mid
        self._known = known
        self._mark = mark
        self._late = late
        self._notices = notices
        self.seq = 0
        self.reply = 0
        """The seq of the reply, once it is on flash."""

    def keep(self, _journal, caller, content: str, _command: bool) -> int:
        """Mark the timer and put its message into the journal, unless it is there; its seq."""
        seq = self._known or self._journal.next_turn(caller)
        self._mark(seq)
        if not self._known:
            self._journal.add(caller, "user", caller.principal, content, command=True, mid=self._mid)
        self.seq = seq
        return seq

    def add(self, caller, _role, _who, content: str, cut: bool = False, _command=False, answers: int = 0) -> None:
        """Keep the reply for its chat."""
        content = self._notices.lines + self._late + content
        self.reply = self._deliveries.keep(caller, content, cut, answers)

    def current(self, caller) -> str:
        """The session of the caller's room."""
        return self._journal.current(caller)


class Asking:
    """Asks the agent for timers; make_answerer(journal, reminders, model) gives what answers one turn."""

    def __init__(self, config, journal, gate, deliveries, model, jobs, make_answerer):
        self._config = config
        self._journal = journal
        self._gate = gate
        self._deliveries = deliveries
        self._model = model
        self._jobs = jobs
        self._make_answerer = make_answerer

    def left(self, timers, fields: dict, day: int) -> tuple:
        """(how many calls of the model a timer's turn may take, how many of this day are used)."""
        calls = timers.pending.get(fields["id"]) or fields.get("calls") or (day, 0)
        used = calls[1] if calls[0] == day else 0
        most = self._config.get("timers.calls_a_day") - used
        rounds = self._model.rounds if self._model else 0
        return max(0, min(most, rounds + 1)), used

    def refusal(self, left: int) -> str:
        """Why nothing can be asked, "" if it can."""
        if self._model is None:
            return _NO_MODEL
        return "" if left else _NO_CALLS

    async def ask(self, caller, fields: dict, mid: str, known: int, mark, late: str, left: int) -> int:
        """Have a timer's text answered; how many calls of the model that took. The reply is on flash then, and on its way.

        mark(seq) notes on flash that the turn with that seq is the timer's, before it is in the journal.
        """
        model = LimitedModel(self._model, left)
        notices = Notices()
        turn = TimerTurn(self._journal, self._deliveries, mid, known, mark, late, notices)
        answerer = self._make_answerer(turn, NoReminders(), model)
        if self._jobs:
            await self._jobs.preempt()  # as a person's message, it goes first
        outcome = await self._gate.run(True, answerer.answer, caller, fields["what"], notices, turn)
        if not turn.reply:
            problem = "could not answer: %s; %s (%s)" % (fields["what"], outcome.problem, fields["id"])
            turn.add(caller, "", "", problem, answers=turn.seq)
        self._deliveries.send(turn.reply, caller)
        return model.spent
