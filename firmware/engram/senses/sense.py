"""One sense in RAM: what is declared of it, its latest readings, and the minutes that wait to be written."""

from array import array
from struct import calcsize, pack_into, unpack_from

from engram.compat import const
from engram.senses.values import MINUTE, UNPLACED, value_text

_ONE = const("<BIi")  # a minute of one reading: number with the highest bit set, slot, value
_MANY = const("<BIHiiii")  # number, slot, count, min, max, mean, last
_ONE_SIZE = calcsize("<BIi")
_MANY_SIZE = calcsize("<BIHiiii")
_IS_ONE = const(0x80)
_MOST_COUNT = const(65535)


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


class PendingMinutes:
    """The minutes of all senses that are not on flash yet, in the order in which they ended."""

    def __init__(self, most_bytes: int):
        self._data = bytearray(most_bytes)
        self.end = 0
        """Where the next one goes."""

    def add(self, number: int, slot: int, aggregate: tuple) -> bool:
        """Add the minute of a sense; False if there is no room."""
        count, low, high, mean, last = aggregate
        if self.end + _MANY_SIZE > len(self._data):
            return False
        if count == 1:
            pack_into(_ONE, self._data, self.end, number | _IS_ONE, slot, last)
            self.end += _ONE_SIZE
        else:
            pack_into(_MANY, self._data, self.end, number, slot, min(count, _MOST_COUNT), low, high, mean, last)
            self.end += _MANY_SIZE
        return True

    @property
    def is_nearly_full(self) -> bool:
        """Whether they should be written soon."""
        return self.end >= 3 * len(self._data) // 4

    def slots(self):
        """Yield (slot, number of the sense, where it ends) of all."""
        at = 0
        while at < self.end:
            number, slot = unpack_from("<BI", self._data, at)
            at += _ONE_SIZE if number & _IS_ONE else _MANY_SIZE
            yield slot, number & ~_IS_ONE, at

    def minutes(self, number: int, end: int = -1):
        """Yield (slot, aggregate) of a sense, up to an end."""
        at, data = 0, self._data
        end = self.end if end < 0 else end
        while at < end:
            if data[at] == number:
                fields = unpack_from(_MANY, data, at)
                yield fields[1], fields[2:]
            elif data[at] == number | _IS_ONE:
                _, slot, value = unpack_from(_ONE, data, at)
                yield slot, (1, value, value, value, value)
            at += _ONE_SIZE if data[at] & _IS_ONE else _MANY_SIZE

    def first_block(self, end: int, most: int) -> tuple:
        """(end, lowest slot, highest slot, numbers) of the first ones before an end, at most `most` of each sense."""
        counts, last_end, low, high = {}, 0, 1 << 32, 0
        for slot, number, after in self.slots():
            count = counts.get(number, 0)
            if after > end or count == most:
                break
            counts[number] = count + 1
            last_end, low, high = after, min(low, slot), max(high, slot)
        return last_end, low, high, sorted(counts)

    def drop(self, end: int) -> None:
        """Remove those up to an end that `end` had."""
        rest = self._data[end : self.end]
        self._data[: len(rest)] = rest
        self.end = len(rest)

    def drop_oldest(self) -> int:
        """Remove about half of them; how many."""
        count = end = 0
        for _, _, end in self.slots():
            count += 1
            if end >= self.end // 2:
                break
        self.drop(end)
        return count

    def place(self, seconds: int) -> None:
        """Give those that waited for the clock their slots: each begins later by some seconds."""
        at = 0
        while at < self.end:
            (slot,) = unpack_from("<I", self._data, at + 1)
            pack_into("<I", self._data, at + 1, placed_slot(slot, seconds))
            at += _ONE_SIZE if self._data[at] & _IS_ONE else _MANY_SIZE


def placed_slot(slot: int, seconds: int) -> int:
    """The minute in which most of a minute since the start fell; one that has its place keeps it."""
    return (slot * MINUTE + MINUTE // 2 + seconds) // MINUTE if slot < UNPLACED // MINUTE else slot
