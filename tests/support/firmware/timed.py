"""A board with timers, whose time a test moves; and the network where they are told."""

from board import Board, Script
from channel import Network
from engram.memory.access import Caller
from engram.text.times import Moment, Repeat, Span
from engram.timers.timer_store import TimerSpec
from support import let_others_run

CHAT = Caller("owner", "net 1", False, "")
ANN = Caller("ann", "net 2", False, "")
GROUP = Caller("ann", "net 3", True, "")
OTHER_GROUP = Caller("ann", "net 4", True, "")
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MINUTE = 60
HOUR = 3600
DAY = 86400
EIGHT = 1790064000  # 2026-09-22 08:00 in Greenwich, a Tuesday; it is 2026-09-21 14:13


def spec(kind, what, at=0, after=0, minute=0, days=0, every=0, words=""):
    """What somebody wants of a timer: one of at, after, days, every and words is given."""
    time = words if words else Moment(at) if at else Span(after) if after else Repeat(minute, days, every)
    return TimerSpec(kind, what, time)


class Timed:
    """A Board with timers and a Network, whose clock a test moves."""

    toolbox: "Any"
    """What stands for the board's toolbox, if something does."""

    def __init__(self, model=None, **settings):
        self.settings = settings
        self.model = model
        self.toolbox = None
        self.board = Board()
        self.sent = []
        self._serve()

    def _serve(self):
        board = self.board
        board.serve(self.model, **self.settings)
        board.toolbox = board.timers.runner.toolbox = self.toolbox or board.toolbox
        self.network = Network(board.inbox)
        self.timers = board.timers

    def restart(self):
        """As after a power cut."""
        self.collect()
        self.board.restart()
        self._serve()

    def add(self, caller=CHAT, kind="say", what="water the plants", **when):
        """Add a timer; its fields."""
        return self.timers.add(caller, spec(kind, what, **when))

    async def pass_time(self, seconds, step=30):
        """Let time go on, a step at a time; what was told meanwhile, as (room, text)."""
        self.collect()
        self.sent.clear()
        while seconds > 0:
            self.board.now += min(step, seconds)
            seconds -= step
            await self.look()
        return self.told()

    async def look(self):
        """Let what is due be told."""
        await self.timers.run_due()
        await let_others_run()
        self.collect()

    def collect(self):
        """Take what the network was told."""
        left = []
        for address, chat in self.network.chats:
            if "end" not in chat.told:
                left.append((address, chat))
            elif self.network.is_up:
                self.sent.append((address, "".join(chat.told[1:-1])))
        self.network.chats[:] = left

    def told(self):
        """(room, text) of what was told since the last time that passed."""
        self.collect()
        sent, self.sent = self.sent, []
        return sent


def script(*steps):
    """A model that plays these steps."""
    return Script(*steps)
