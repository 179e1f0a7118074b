"""Senses on a clock that a test sets, and a plain model of what they keep."""

from engram import log_line  # noqa: F401 first: an import within an import takes more of the stack
from engram.clock import Clock
from engram.senses import rings  # noqa: F401
from engram.senses.sense_config import parse_senses
from engram.senses.senses import Senses
from engram.senses.values import add_to, aggregate_of
from engram.store import table_file  # noqa: F401
from support import folder

NOW = 1790000040  # a minute begins
START = NOW // 60


class Machine:
    """A machine's clock that a test sets, not set at first if it is 0."""

    def __init__(self, now=NOW):
        self.now = now
        self.clock = Clock(60, lambda: self.now)

    def later(self, seconds):
        """Let some time pass."""
        self.now += seconds


class Board:
    """The senses of a board that can be cut off and started again."""

    def __init__(self, now=NOW, most_bytes=131072, write_minutes=60, table=None, pins=None, machine=None):
        self.machine = machine or Machine(now)
        self.folder = folder()
        self._settings = most_bytes, write_minutes
        self.configs = parse_senses(table or {}, pins or {}, ())
        self.is_shared = False
        self.restart()

    def restart(self):
        """Lose what is in RAM, as a power cut does."""
        self.senses = Senses(self.folder, self.machine.clock, *self._settings, self.configs, self.is_shared)
        self.senses.open()
        return self

    def names(self):
        """The names of all senses."""
        return [sense.name for sense in self.senses.all()]

    def observe(self, name, value, unit=""):
        """Take a reading."""
        return self.senses.observe(name, value, unit)

    def work(self):
        """Let the background do all it has."""
        while self.senses.tick():
            pass

    def minutes(self, name, values, every=60):
        """A reading for each value, one every so many seconds."""
        for value in values:
            self.observe(name, value)
            self.machine.later(every)
            self.work()

    def range(self, name, level, first=0, last=1 << 31):
        """What a range of a sense has."""
        return self.senses.range(self.senses.find(name), first, last, level)


def totals(readings, slot_of):
    """The aggregates by slot of readings (seconds, value)."""
    found = {}
    for at, value in readings:
        add_to(found, slot_of(at), (1, value, value, value, value))
    return {slot: aggregate_of(found[slot]) for slot in found}
