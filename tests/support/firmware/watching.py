"""A watch over one sense on a clock that a test sets, and what it says of events."""

from engram.memory.access import OWNER
from engram.senses.limits import Limits
from engram.senses.watch import Watch
from sensing import Board


class Noted:
    """Stands in for the events of a board: notes what begins and ends."""

    def __init__(self):
        self.lasting = []
        self.lines = []

    def find(self, sense, kind, limit=""):
        for row in self.lasting:
            if (row["kind"], row["limit"]) == (kind, limit):
                return row
        return None

    def begin(self, sense, kind, start, value, limit=None, usual=None):
        row = {"sense": sense.number, "kind": kind, "value": value, "usual": usual}
        row["limit"] = limit["id"] if limit else ""
        self.lasting.append(row)
        self.lines.append("%s at %d" % (kind, value))

    def end(self, row, at):
        self.lasting.remove(row)
        self.lines.append("%s over, %d" % (row["kind"], row["value"]))

    def settle(self):
        pass


class Cellar:
    """A watch over the cellar, in tenths of a degree; readings come once a minute."""

    def __init__(self, **fields):
        entry = {"kind": "code", "unit": "°C"}
        entry.update(fields)
        self.board = Board(table={"cellar": entry}, most_bytes=262144)
        self.folder = self.board.folder
        self.events = Noted()
        self.start()

    def start(self):
        """Start the board: what is not on flash is lost."""
        self.senses = self.board.restart().senses
        self.limits = Limits(self.folder + "/senses")
        self.limits.open()
        self.watch = Watch(self.senses, self.board.machine.clock, self.limits, self.events, 5, True)
        self.watch.open()
        while self.watch.tick():
            pass

    @property
    def cellar(self):
        return self.senses.find("cellar")

    def limit(self, caller=OWNER, **more):
        """Set a limit."""
        return self.limits.add(caller, self.cellar, **more)

    def read(self, *values):
        """A reading for each value, one a minute. What began and ended, since the last call."""
        for value in values:
            self.senses.observe("cellar", value / 10)
            self.board.machine.later(60)
            self.board.work()
            self.watch.tick()
        found, self.events.lines = self.events.lines, []
        return found
