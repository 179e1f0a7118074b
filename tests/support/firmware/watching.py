"""A watch over one sense on a clock that a test sets, and what it says of events."""

from engram.memory.access import OWNER
from engram.senses.limits import Limits
from engram.senses.watch import Watch
from sensing import Board


class _Records:
    """Stands in for the records of a board."""

    def store(self, content, tags, **more):
        pass


class Cellar:
    """A watch over the cellar, in tenths of a degree; readings come once a minute."""

    def __init__(self):
        self.board = Board(table={"cellar": {"kind": "code", "unit": "°C"}}, most_bytes=262144)
        self.told = []
        self.start()

    def start(self):
        """Start the board: what is not on flash is lost."""
        self.senses, clock = self.board.restart().senses, self.board.machine.clock
        folder = self.board.folder + "/senses"
        self.limits = Limits(folder, self.senses, clock, _Records(), self._push, "net 1")
        self.watch = Watch(self.senses, clock, self.limits, 5, True)
        while self.watch.tick():
            pass

    def _push(self, mid, caller, said):
        self.told.append(said)
        return True

    @property
    def cellar(self):
        """The sense, which has a reading."""
        if self.senses.find("cellar") is None:
            self.read(200)
        return self.senses.find("cellar")

    def limit(self, caller=OWNER, **more):
        """Set a limit."""
        return self.limits.add(caller, self.cellar, **more)

    def read(self, *values, minutes=1):
        """A reading for each value, `minutes` apart. The kinds and values of the events that last then, oldest first."""
        for value in values:
            self.senses.observe("cellar", value / 10)
            self.board.machine.later(60 * minutes)
            self.board.work()
            self.watch.tick()
        return [(row["kind"], row["value"]) for row in self.limits.lasting]
