"""A watch over one made-up sense on a clock that a test sets, and what it says of events."""

from engram.clock import Clock
from engram.memory.access import OWNER
from engram.senses.events.limits import Limits
from engram.senses.events.watch import Watch
from engram.senses.sense import Sense
from support import folder

NOW = 1790000040  # a minute begins


class OneSense:
    """Stands in for the senses of a board: the cellar, in tenths of a degree."""

    def __init__(self):
        self.cellar: Sense | None = Sense(2, "cellar", "°C", 1, NOW)
        self.history = self
        self.past = []
        """(sense, hour, mean) of the hours on flash."""

    def past_hours(self):
        yield from self.past

    def sense(self, number):
        return self.cellar if self.cellar and number == 2 else None

    def find(self, name):
        return self.cellar if self.cellar and name == "cellar" else None


class Noted:
    """Stands in for the events of a board: notes what begins and ends."""

    def __init__(self):
        self.open = {}
        self.lines = []
        self._next = 1

    def begin(self, number, kind, start, value, usual, limit):
        fields = {"id": "e%d" % self._next, "sense": number, "kind": kind, "start": start, "value": value}
        fields["usual"] = usual
        fields["by"] = [limit["id"], limit["who"]] if limit and limit["id"] else None
        self._next += 1
        self.open[fields["id"]] = fields
        self.lines.append("%s at %d" % (kind, value))
        return fields

    def end(self, fields, at):
        del self.open[fields["id"]]
        self.lines.append("%s over, %d" % (fields["kind"], fields["value"]))

    def settle(self):
        pass

    def end_day(self, day):
        pass


class Cellar:
    """A watch over the cellar; readings come once a minute."""

    def __init__(self, declared=None):
        self.now = NOW
        self.folder = folder()
        self.senses = OneSense()
        self.events = Noted()
        self.declared = declared or {}
        self._hour = (0, [])
        self.start()

    def start(self):
        """Start the board: what is not on flash is lost."""
        self.clock = Clock(0, lambda: self.now)
        self.limits = Limits(self.folder + "/limits.jsonl", self.senses, self.declared)
        self.limits.load()
        self.watch = Watch(self.senses, self.clock, self.limits, self.events, self.declared)
        self.watch.open()
        while self.watch.tick():
            pass

    def limit(self, caller=OWNER, **more):
        """Set a limit."""
        return self.limits.add(caller, self.senses.cellar, **more)

    def read(self, *values):
        """A reading for each value, one a minute; None for none. What began and ended, since the last call."""
        for value in values:
            self.now += 60
            if value is not None:
                self.watch.on_minute(2, self.now // 60 - 1, (1, value, value, value, value))
                self._add_to_hour(self.now // 3600, value)
            self.watch.tick()
        found, self.events.lines = self.events.lines, []
        return found

    def _add_to_hour(self, hour, value):
        before, values = self._hour
        if before != hour and values:
            mean = sum(values) // len(values)
            self.watch.on_hour(2, before, (len(values), min(values), max(values), mean, values[-1]))
            self.senses.past.append((2, before, mean))
        self._hour = hour, (values if before == hour else []) + [value]
