"""One sense in RAM: what is declared of it, and its latest readings."""

from array import array

from engram.senses.values import MINUTE, UNPLACED, value_text


class Sense:
    """A sense; `at` is when its latest reading `last` was taken, 0 if there is none since the start.

    `is_unread` says that it has never had one: config.json names it, and its sensor has not worked yet.
    """

    is_unread = False  # of the class: one more in each sense would make its dict longer

    def __init__(self, number: int, name: str, unit: str, decimals: int, made: int, is_unread: bool = False):
        self.number = number
        self.name = name
        self.config_name = name
        """Its name in config.json, which may have other case and accents."""
        self.unit = unit
        self.decimals = decimals
        self.made = made
        if is_unread:
            self.is_unread = True
        self.at = 0
        self.last = 0
        self.too_fast = 0
        """Readings that were not kept, since one of the same second was."""
        self.minute = None
        """[slot, count, min, max, sum, last] of the minute that is not over, None if it has no reading."""
        self.hour = None
        """Likewise of the hour."""
        self.raw = None
        """Its RawReadings, None as long as there is no reading, or if none are kept."""

    def text(self, value: int) -> str:
        """A value with its unit, as people read it."""
        said = value_text(value, self.decimals)
        return said + " " + self.unit if self.unit else said


class RawReadings:
    """The last readings of a sense."""

    def __init__(self, most: int):
        self._times = array("I", bytes(4 * most))
        self._values = array("i", bytes(4 * most))
        self._count = 0

    def add(self, at: int, value: int) -> None:
        """Add one in place of the oldest."""
        place = self._count % len(self._times)
        self._times[place] = at
        self._values[place] = value
        self._count += 1

    def __iter__(self):
        size = len(self._times)
        for at in range(max(0, self._count - size), self._count):
            yield self._times[at % size], self._values[at % size]

    def place(self, seconds: int) -> None:
        """Give those that waited for the clock their times: later by some seconds."""
        for at, value in enumerate(self._times):
            if 0 < value < UNPLACED:
                self._times[at] = value + seconds


def placed_slot(slot: int, seconds: int) -> int:
    """The minute in which most of a minute since the start fell; one that has its place keeps it."""
    return (slot * MINUTE + MINUTE // 2 + seconds) // MINUTE if slot < UNPLACED // MINUTE else slot
