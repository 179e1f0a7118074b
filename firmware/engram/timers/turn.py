"""A turn that a timer begins: the agent answers its text, with no more calls of the model than its day has left."""

from engram.agent.agent import Origin, Sink
from engram.compat import const

_NO_CALLS = const("its calls of the model for today are used up (timers.calls_a_day)")


class LimitedModel:
    """A model with a budget of calls, and a count of them."""

    def __init__(self, model, left: int):
        self.name = model.name
        self.rounds = left - 1
        self._model = model
        self.spent = 0

    async def stream(self, request, on_text, on_retry=None):
        """As Model.stream."""
        self.spent += 1
        return await self._model.stream(request, on_text, on_retry)


class _Notices(Sink):
    """Keeps what a timer's turn says beside its reply, which is delivered as a whole."""

    may_exceed_queue = True

    def __init__(self):
        self.lines = ""

    async def notice(self, line: str) -> None:
        self.lines += "· " + line + "\n"


class TimerOrigin(Origin):
    """The origin of a timer's turn; its reply is said with the id `mid`, which the journal keeps once."""

    def __init__(self, mid: str, head: str, left: int, timers, deliveries):
        super().__init__()
        self.is_said = False
        self.notices = _Notices()
        self.model = None
        self.reply = 0
        """The seq of the reply, once it is on flash."""
        self._id = mid
        self._head = head
        self._left = left
        self._timers = timers
        self._deliveries = deliveries

    def keep(self, journal, caller, content: str, command: bool) -> int:
        # From here on: before, the turn waits for that of a person, who may set timers.
        self._timers.is_in_turn = True
        return journal.add(caller, "user", caller.principal, content, command=True, mid=self._id + ":turn")

    def limit(self, model):
        self.model = LimitedModel(model, self._left)
        return self.model

    def keep_reply(self, journal, caller, content: str, *, cut: bool, command: bool, answers: int) -> None:
        content = self.notices.lines + self._head + content
        self.reply = self._deliveries.keep(caller, content, cut, answers, self._id)


class TimerTurns:
    """Asks the agent for a board's timers."""

    def __init__(self, board):
        self._board = board

    def budget(self, row: dict, day: int) -> tuple:
        """(number of model calls that a timer's turn may take, number of those used on this day)."""
        calls = row.get("calls", (day, 0))
        used = calls[1] if calls[0] == day else 0
        rounds = self._board.model.rounds if self._board.model else 0
        most = self._board.config.get("timers.calls_a_day") - used
        return max(0, min(most, rounds + 1)), used

    def refusal(self, left: int) -> str:
        """Say why nothing can be asked, "" if it can."""
        if self._board.model is None:
            return "no model is set up"
        return "" if left else _NO_CALLS

    async def run(self, caller, content: str, mid: str, head: str, left: int) -> tuple:
        """Have a timer's text answered, below a `head`: (seq of the reply, 0 if none is on flash; the problem; calls spent)."""
        board, timers = self._board, self._board.timers
        deliveries = board.inbox.deliveries
        origin = TimerOrigin(mid, head, left, timers, deliveries)
        try:
            outcome = await board.agent.turn(caller, content, origin.notices, origin)
        finally:
            timers.is_in_turn = False
        if origin.reply:
            deliveries.send(origin.reply, caller)
        return origin.reply, outcome.problem, origin.model.spent if origin.model else 0
