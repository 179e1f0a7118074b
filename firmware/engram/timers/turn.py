"""A turn begun by a timer: the agent answers its text, and the reply is delivered like a timer's text."""

from engram.agent.agent import Origin, Sink


class _Notices(Sink):
    """A timer turn's notices, delivered with its reply."""

    may_exceed_queue = True

    def __init__(self):
        self.lines = ""

    async def notice(self, line: str) -> None:
        self.lines += "· " + line + "\n"


class TimerOrigin(Origin):
    """The origin of a timer's turn, whose reply is saved once by `mid`."""

    def __init__(self, mid: str, head: str, deliveries):
        super().__init__()
        self.is_said = False
        self.notices = _Notices()
        self.reply = 0
        self._id = mid
        self._head = head
        self._deliveries = deliveries

    def keep(self, journal, caller, content: str, command: bool) -> int:
        return journal.add(caller, "user", caller.principal, content, command=True, mid=self._id + ":turn")

    def keep_reply(self, journal, caller, content: str, *, cut: bool, command: bool, answers: int) -> None:
        content = self.notices.lines + self._head + content
        self.reply = self._deliveries.keep(caller, content, cut, answers, self._id)


async def run_turn(board, caller, content: str, mid: str, head: str) -> tuple:
    """Run a timer's text under a `head`; return (reply seq or 0, problem)."""
    if board.model is None:
        return 0, "no model is set up"
    deliveries = board.inbox.deliveries
    origin = TimerOrigin(mid, head, deliveries)
    outcome = await board.agent.turn(caller, content, origin.notices, origin)
    if origin.reply:
        deliveries.send(origin.reply, caller)
    return origin.reply, outcome.problem
